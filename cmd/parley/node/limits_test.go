package node

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// newCluster is a site whose nodes hear each other on a bus elsewhere. A node lets 20 requests a second through.
func newCluster(t *testing.T) *site {
	t.Helper()
	nats, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	if err != nil {
		t.Fatal(err)
	}
	nats.Start()
	t.Cleanup(func() { nats.Shutdown(); nats.WaitForShutdown() })
	if !nats.ReadyForConnections(patience) {
		t.Fatal("no NATS server")
	}
	s := newSite(t, "PARLEY_NATS_URL="+nats.ClientURL(), "PARLEY_RATE_LIMIT=20", "PARLEY_TRUSTED_PROXIES=127.0.0.1/32")
	for _, n := range s.nodes {
		ctx, stop := context.WithCancel(context.Background())
		t.Cleanup(stop)
		for _, run := range []func(context.Context) error{n.cluster.Run, n.manager.Heartbeats} {
			done := make(chan error, 1)
			go func() { done <- run(ctx) }()
			t.Cleanup(func() {
				stop()
				if err := <-done; err != nil {
					t.Error(err)
				}
			})
		}
	}
	return s
}

// from sends a request to a node as a proxy does, and returns the answer's status and body.
func (s *site) from(node int, network, method, path, body string, header ...string) (int, string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.servers[node].URL+path, strings.NewReader(body))
	s.ok(err)
	r.Header.Set("X-Forwarded-For", network)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := s.servers[node].Client().Do(r)
	s.ok(err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	s.ok(err)
	return res.StatusCode, string(text)
}

// settled returns when the second node has heard all that the first has let through until now.
func (s *site) settled() {
	s.Helper()
	const behind = 15 // a report is on its way meanwhile
	wrong := func(node, network int) int {
		status, _ := s.from(node, fmt.Sprintf("2001:db8:%x::1", network), "GET", "/v1/balance", "", "X-API-Key", "sk_wrong")
		return status
	}
	for range 2 { // the first may be before other things in its message
		s.networks += 1000
		last := s.networks
		eventually(s.T, "a lockout on the first node is one on the second", func() bool {
			for range 10 {
				wrong(0, last)
			}
			last++
			return last-behind >= s.networks && wrong(1, last-behind) == http.StatusTooManyRequests
		})
	}
}

// TestTwoNodesLimitTogether: what two nodes let through is what one may, and the little that it does not report.
func TestTwoNodesLimitTogether(t *testing.T) {
	t.Parallel()
	s := newCluster(t)
	s.settled()
	for _, tt := range []struct {
		what      string
		let       func(node int) bool
		burst     int
		perSecond float64
	}{
		{"requests of a key", func(node int) bool {
			status, _ := s.from(node, "192.0.2.1", "GET", "/v1/balance", "", "X-API-Key", s.key)
			return status != http.StatusTooManyRequests
		}, 80 + 5, 20},
		{"wrong keys", func(node int) bool {
			status, _ := s.from(node, "192.0.2.2", "GET", "/v1/balance", "", "X-API-Key", "sk_wrong")
			return status != http.StatusTooManyRequests
		}, 10, 1. / 6},
		{"wrong passwords", func(node int) bool {
			_, page := s.from(node, "192.0.2.3", "POST", "/app/sign-in", "email=ana%40example.com&password=wrong", "Content-Type", "application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
			return !strings.Contains(page, "too many attempts")
		}, 10, 1. / 6},
	} {
		begun, n := time.Now(), [2]int{}
		for node := range n {
			for n[node] < 1000 && tt.let(node) {
				n[node]++
			}
			if node == 0 {
				s.settled()
			}
		}
		took := time.Since(begun)
		if most := tt.burst + int(took.Seconds()*tt.perSecond) + 1; n[0] < 10 || n[0]+n[1] > most {
			t.Errorf("%s: %v on the two nodes in %v, want %d at most", tt.what, n, took, most)
		}
	}
}
