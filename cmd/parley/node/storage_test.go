package node

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"parley/cmd/parley/config"
	"parley/store"
	"parley/store/blob"
	"parley/store/blob/blobtest"
	"parley/store/storetest"
)

// pair is two nodes with one store of files: the desk, which has calls, and another without a telephone.
type pair struct {
	*window
	url   string
	files blob.Store // of recordings
	other *Node
	door  *httptest.Server // of the other
}

// runs runs a part of a node until stop is called.
func (d *desk) runs(part func(context.Context) error) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	return func() { cancel(); d.ok(<-done) }
}

func newPair(t *testing.T, location string) *pair {
	settings := []string{"PARLEY_STORAGE_URL=" + location}
	access := blob.Access{}
	if strings.HasPrefix(location, "s3:") {
		access = blob.Access{Key: blobtest.Key, Secret: blobtest.Secret}
		settings = append(settings, "PARLEY_STORAGE_ACCESS_KEY="+access.Key, "PARLEY_STORAGE_SECRET_KEY="+access.Secret)
	}
	p := &pair{url: storetest.URL(t)}
	p.window = windowOf(t, deskWith(t, p.url, func(*config.Config) {}, settings...))
	p.node.DataDir = t.TempDir()
	where, err := blob.Parse(location)
	p.ok(err)
	p.files, err = where.Open(access, "recordings")
	p.ok(err)

	cfg, _, err := config.Load(config.Sources{Env: append(settings, "PARLEY_NODE=other", "PARLEY_SIP_ADDR=off", "PARLEY_DATABASE_URL="+p.url)})
	p.ok(err)
	p.other, err = Open(t.Context(), cfg, p.url, "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	p.ok(err)
	t.Cleanup(func() { _ = p.other.Close() })
	p.other.DataDir = t.TempDir()
	p.door = httptest.NewServer(p.other.Handler())
	t.Cleanup(p.door.Close)

	agent, err := p.node.db.CreateAgent(t.Context(), p.who.Account, store.Agent{Name: "Ana", Voice: "F1", Language: "en", FirstMessage: "Hello.", Settings: json.RawMessage(`{"record":true}`)})
	p.ok(err)
	p.agent = agent.ID
	return p
}

// played asks the other node for the recording of a call until it is there.
func (p *pair) played(id string) (seconds float64) {
	p.Helper()
	var body []byte
	eventually(p.T, "the other node plays the recording", func() bool {
		req, err := http.NewRequestWithContext(p.Context(), http.MethodGet, p.door.URL+"/v1/calls/"+id+"/recording?format=wav", nil)
		p.ok(err)
		req.Header.Set("Authorization", "Bearer "+p.key)
		res, err := p.door.Client().Do(req)
		p.ok(err)
		defer res.Body.Close()
		body, err = io.ReadAll(res.Body)
		p.ok(err)
		return res.StatusCode == http.StatusOK
	})
	return float64(len(body)-44) / 4 / float64(binary.LittleEndian.Uint32(body[24:]))
}

// TestRecordingsOfTwoNodes: what one node records another encodes and plays, also of a call in which the node dies.
func TestRecordingsOfTwoNodes(t *testing.T) {
	t.Parallel()
	for name, location := range map[string]string{"bucket": blobtest.Start(t).URL("parley"), "folder": "file://" + t.TempDir() + "/shared"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, location)
			defer p.runs(p.other.jobs.Run)() // the desk encodes nothing
			id := p.lasting()
			over := p.connected(id)
			p.hangUp(id)
			<-over
			if seconds := p.played(id); seconds <= 0 {
				t.Errorf("%.2f s are played", seconds)
			}
			if keys := blobtest.Keys(t, p.files, id); len(keys) != 1 {
				t.Errorf("%q", keys)
			}
			if left, _ := os.ReadDir(p.node.DataDir + "/recordings"); len(left) != 0 {
				t.Errorf("on the desk's disk are %v", left)
			}

			lost := p.lasting()
			over = p.connected(lost)
			eventually(t, "15 s of the call are in the store", func() bool { return len(blobtest.Keys(t, p.files, "raw/"+lost+"/")) > 0 })
			p.deskDies()
			<-over
			defer p.runs(p.other.records.Run)()
			if seconds := p.played(lost); seconds < 14 || seconds > 16 {
				t.Errorf("%.2f s are played of what a dead node has recorded", seconds)
			}
		})
	}
}

// deskDies has the desk write no more of its recordings, and the other node find it dead and close its calls.
func (p *pair) deskDies() {
	p.Helper()
	p.node.records.Close()
	sql, err := pgx.Connect(p.Context(), p.url)
	p.ok(err)
	defer sql.Close(p.Context())
	_, err = sql.Exec(p.Context(), `update nodes set steady_since = now() - interval '1 hour', heartbeat_at = case node_id when 'desk' then now() - interval '1 hour' else now() end`)
	p.ok(err)
	stopBeats, stopReaper := p.runs(p.other.manager.Heartbeats), p.runs(p.other.cluster.Reap)
	defer stopBeats()
	defer stopReaper()
	eventually(p.T, "the call of the desk is closed", func() bool {
		n, err := store.Value[int](p.Context(), p.node.db, "count", "select count(*) from sessions where ended_at is null")
		p.ok(err)
		return n == 0
	})
}
