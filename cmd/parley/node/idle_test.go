package node

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/cmd/parley/config"
	"parley/store/storetest"
)

// TestAnIdleNodeLeavesTheDatabaseAlone: nodes without calls ask it below once a second each, beside their heartbeats; what one of them
// does for all is counted. Which one that is may change meanwhile. The books, which are verified once a night, have been.
func TestAnIdleNodeLeavesTheDatabaseAlone(t *testing.T) {
	t.Parallel()
	const settle, watched = 15 * time.Second, 50 * time.Second // what is done each minute is done once at most
	url := storetest.URL(t)
	_, err := storetest.Open(t, url).Pool().Exec(t.Context(), `insert into verifications (began_at, ended_at, whole, accounts, sessions, transfers, violations)
		values (now(), now(), true, 0, 0, 0, 0)`)
	if err != nil {
		t.Fatal(err)
	}
	var counters []*storetest.Counter
	for _, name := range []string{"first", "second"} {
		address, counter := storetest.Counted(t, url)
		counters = append(counters, counter)
		runWhole(t, address, name)
		time.Sleep(settle) // the first has taken the lead, and what a start asks for is over
	}
	for _, c := range counters {
		c.Take()
	}
	time.Sleep(watched)
	all, most := 0, int(2*watched.Seconds())
	for i, c := range counters {
		seen, sum := c.Take(), 0
		for sql, n := range seen {
			if !strings.HasPrefix(sql, "update nodes set heartbeat_at") {
				sum += n
			}
		}
		t.Logf("node %d: %d in %s\n%s", i, sum, watched, storetest.Report(seen))
		all += sum
	}
	if all >= most {
		t.Errorf("the nodes ask %d times in %s; want below %d", all, watched, most)
	}
}

// runWhole runs all parts of a node on the database at url until the test ends.
func runWhole(t *testing.T, url, name string) {
	t.Helper()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_NODE=" + name, "PARLEY_CARRIER=simulated", "PARLEY_SIP_ADDR=127.0.0.1:0", "PARLEY_CARRIER_SIP_ADDR=127.0.0.1:0"}})
	ok(err)
	n, err := Open(t.Context(), cfg, url, "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
	ok(err)
	n.DataDir = t.TempDir()
	server := httptest.NewUnstartedServer(nil)
	ok(n.TakePayments(server.Listener.Addr().String(), "a master secret of a test, long enough"))
	server.Config.Handler = n.Handler()
	server.Start()
	n.engines.Workers = nil
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, p := range n.Parts() {
		parts.Go(func() { _ = p.Run(ctx) })
	}
	t.Cleanup(func() { stop(); parts.Wait(); server.Close(); _ = n.Close() })
}
