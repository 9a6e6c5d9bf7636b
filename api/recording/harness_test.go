package recording

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/billing"
	"parley/media"
	"parley/media/mediatest"
	"parley/store"
	"parley/store/blob"
	"parley/store/blob/blobtest"
	"parley/store/history"
	"parley/store/jobs"
	"parley/store/ledger"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// harness is a world whose accounts A and B have the keys sk_a and sk_b, the directories of a
// node, and one life of it after the other.
type harness struct {
	*apitest.World
	keys    ring
	dir     string
	node    store.Node
	storage blob.Store // of all nodes
	shared  bool       // they know that
	most    int64      // that may wait for it; 0: the usual
}

// ring is the keys of a test.
type ring map[string]string

func (k ring) Authenticate(_ context.Context, secret string) (api.Principal, error) {
	account, ok := k[secret]
	if !ok {
		return api.Principal{}, store.ErrUnauthorized
	}
	return api.Principal{Account: account, Key: "key"}, nil
}

func setup(t *testing.T) *harness {
	w := apitest.Open(t, apitest.Options{})
	node, _, err := w.Ledger.RegisterNode(t.Context(), "node", "127.0.0.1:1")
	w.OK(err)
	h := &harness{World: w, keys: ring{"sk_a": w.A.Account, "sk_b": w.B.Account}, dir: t.TempDir(), node: node}
	h.storage = blob.NewFolder(h.files)
	return h
}

// bucket has the nodes of a test keep recordings in a bucket.
func (h *harness) bucket() *blobtest.Server {
	h.Helper()
	server := blobtest.Start(h.T)
	l, err := blob.Parse(server.URL("parley"))
	h.OK(err)
	h.storage, err = l.Open(blob.Access{Key: blobtest.Key, Secret: blobtest.Secret}, "recordings")
	h.OK(err)
	h.shared = true
	return server
}

// left are the keys of all that the store has.
func (h *harness) left() []string { h.Helper(); return blobtest.Keys(h.T, h.storage, "") }

// files is the directory that the nodes of a test share.
func (h *harness) files() string { return filepath.Join(h.dir, "recordings") }

// call is a new call of the account of sk_a.
func (h *harness) call() string { h.Helper(); return h.session().ID }

func (h *harness) session() *ledger.Session {
	h.Helper()
	s, err := h.Ledger.StartSession(h.Context(), ledger.Start{Node: h.node, Account: h.A.Account, Terms: billing.Terms{Kind: billing.Web},
		Card: billing.DefaultRateCard()})
	h.OK(err)
	return s
}

// life is one life of the node.
type life struct {
	*Service
	*harness
	server       *httptest.Server
	ready, fails atomic.Int32
	stop         func()
}

// live begins a life of a node with that name. It stops with the test, or before.
func (h *harness) live(name string) *life {
	h.Helper()
	queue := jobs.New(slog.New(slog.DiscardHandler))
	l := &life{harness: h}
	l.Service = New(Config{Store: h.DB, Queue: queue, Node: name, Log: slog.New(slog.DiscardHandler), Dropped: func(uint64) {},
		Files: h.storage, Shared: h.shared, MostUnsent: h.most, Raw: func() string { return filepath.Join(h.dir, "raw-"+name) },
		Count: func(outcome string) {
			if outcome == "ready" {
				l.ready.Add(1)
			} else {
				l.fails.Add(1)
			}
		}})
	h.OK(queue.Open(h.Context(), h.Database))
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{l.Run, queue.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				h.Error(err)
			}
		})
	}
	a := api.New(h.keys)
	Mount(a, l.Service)
	l.server = httptest.NewServer(apitest.Judged(h.T, a, a.Handler(api.Options{})))
	l.stop = sync.OnceFunc(func() { cancel(); running.Wait(); l.Close(); queue.Close(); l.server.Close() })
	h.Cleanup(l.stop)
	return l
}

// answer is what a client gets.
type answer struct {
	status int
	kind   string
	body   string
	header http.Header
}

func (l *life) ask(method, call, query, key string, header ...string) answer {
	l.Helper()
	return l.request(method, call+"/recording"+query, key, header...)
}

// forget deletes what was said in a call.
func (l *life) forget(call, key string) answer { l.Helper(); return l.request("DELETE", call, key) }

func (l *life) request(method, path, key string, header ...string) answer {
	l.Helper()
	r, err := http.NewRequestWithContext(l.Context(), method, l.server.URL+"/v1/calls/"+path, nil)
	l.OK(err)
	r.Header.Set("Authorization", "Bearer "+key)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := l.server.Client().Do(r)
	l.OK(err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	l.OK(err)
	return answer{res.StatusCode, res.Header.Get("Content-Type"), string(body), res.Header}
}

// until waits for the state of a recording.
func (l *life) until(call string, want history.RecordingState) *history.Recording {
	l.Helper()
	var last *history.Recording
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		r, err := history.New(l.DB).Recording(l.Context(), l.A.Account, call)
		if err == nil && r.State == want {
			return r
		}
		last = r
	}
	l.Fatalf("the recording is %+v, and should be %s", last, want)
	return nil
}

var telephone = media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true}

// talk records a second: a tone of the caller's, silence of the agent's.
func (l *life) talk(call string) (hangUp func()) {
	r := l.Recorder(call)
	r.Begin(telephone)
	tone, silence := mediatest.Tone(1000, media.Rate8k, 160, 0.3), make([]int16, 160)
	now := time.Now()
	for n := range 50 {
		now = now.Add(media.FrameDuration)
		r.Heard(media.Frame{Samples: tone, Rate: media.Rate8k, At: media.Time(n) * media.FrameTime}, now)
		r.Spoke(media.Frame{Samples: silence, Rate: media.Rate8k}, now, 0)
	}
	return r.Close
}
