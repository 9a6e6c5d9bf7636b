package task

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/tts"
	"parley/api/wire"
	"parley/billing"
	"parley/inference/enginetest"
	"parley/store"
	"parley/store/blob"
	"parley/store/jobs"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

const usd = billing.USD

// harness is a world whose accounts A and B have the keys sk_a and sk_b, and nodes on it.
type harness struct {
	*apitest.World
	keys    ring
	storage blob.Store // of all nodes; nil: each has its own
}

// files are where a node with a directory keeps results.
func (h *harness) files(dir string) blob.Store {
	if h.storage != nil {
		return h.storage
	}
	return blob.NewFolder(func() string { return dir })
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
	t.Cleanup(func() { w.Verified() })
	return &harness{World: w, keys: ring{"sk_a": w.A.Account, "sk_b": w.B.Account}}
}

// held is what the account's tasks hold, and paid what it has left of its credit.
func (h *harness) money() (held, left billing.Money) {
	h.T.Helper()
	a, err := h.Ledger.Account(h.T.Context(), h.A.Account)
	h.OK(err)
	return a.Pots.Held, a.Balance()
}

// costs is the price of a text of so many characters.
func costs(chars int64) billing.Money {
	tariff, _ := billing.DefaultRateCard().Tariff(billing.Terms{Kind: billing.TTS})
	bill, _ := tariff.Price(billing.Usage{billing.TTSChars: chars})
	return bill.Total()
}

// node is one life of a server with background synthesis.
type node struct {
	*harness
	*Service
	engine *enginetest.FakeTTS
	door   http.Handler
	counts chan string
	stop   func() // in good order
}

// quick is an engine that speaks at once: half a second a sentence.
func quick() *enginetest.FakeTTS {
	e := enginetest.NewFakeTTS()
	e.FirstAudio, e.Sentence = 0, time.Second/2
	return e
}

// node begins a life of the node that all of a test's are, with its results in dir.
func (h *harness) node(engine *enginetest.FakeTTS, dir string) *node {
	h.T.Helper()
	life, _, err := h.Ledger.RegisterNode(h.T.Context(), "node", "")
	h.OK(err)
	n := &node{harness: h, engine: engine, counts: make(chan string, 100)}
	queue := jobs.New(slog.New(slog.DiscardHandler))
	n.Service = New(Config{Store: h.DB, Queue: queue, Node: life, Card: billing.DefaultRateCard, Speaker: tts.New(engine), Dir: func() string { return dir }, Files: h.files(dir), Shared: h.storage != nil,
		Count: func(status string) { n.counts <- status }, Log: slog.New(slog.DiscardHandler), Pace: 1_000_000})
	h.OK(queue.Open(h.T.Context(), h.Database))
	a := api.New(h.keys)
	Mount(a, n.Service)
	n.door = apitest.Judged(h.T, a, a.Handler(api.Options{}))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := n.Run(ctx); err != nil {
			h.T.Error(err)
		}
	})
	running.Go(func() {
		if err := queue.Run(ctx); err != nil {
			h.T.Error(err)
		}
	})
	n.stop = sync.OnceFunc(func() { cancel(); running.Wait(); queue.Close() })
	h.T.Cleanup(n.stop)
	return n
}

// until waits for a count.
func (n *node) until(status string) {
	n.T.Helper()
	for {
		select {
		case got := <-n.counts:
			if got == status {
				return
			}
		case <-time.After(time.Minute):
			n.T.Fatalf("no task was %s", status)
		}
	}
}

// reply is what a route has answered.
type reply struct {
	status int
	header http.Header
	body   []byte
	View   wire.Task
	api.Problem
}

func (n *node) ask(method, path, key, body string) reply {
	n.T.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	n.door.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header()}
	out.body, _ = io.ReadAll(w.Body)
	if w.Header().Get("Content-Type") == "application/json" && w.Code < 400 {
		n.OK(json.Unmarshal(out.body, &out.View))
	} else if w.Code >= 400 {
		n.OK(json.Unmarshal(out.body, &out.Problem))
	}
	return out
}

// submitted submits a text, to be spoken at the voice's own pace, as the usual account and returns the task's path.
func (n *node) submitted(text, format string) string {
	n.T.Helper()
	body, err := json.Marshal(map[string]any{"text": text, "language": "en", "output_format": format, "speed": 1})
	n.OK(err)
	r := n.ask("POST", "/api/tts/F1/async", "sk_a", string(body))
	if r.status != http.StatusAccepted {
		n.T.Fatalf("submitted: %d %s", r.status, r.body)
	}
	return "/api/tts/tasks/" + r.View.TaskID
}

func (n *node) get(path string) reply { n.T.Helper(); return n.ask("GET", path, "sk_a", "") }

// waitBusy returns when the engine has so many texts in progress.
func waitBusy(e *enginetest.FakeTTS, n int) {
	for e.Busy() != n {
		time.Sleep(time.Millisecond) // it tells nobody
	}
}
