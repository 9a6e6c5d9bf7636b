package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"parley/api"
	"parley/api/talk"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/bus"
	"parley/store/bus/bustest"
)

// limiter is a node that has limits and a bus, and nothing else.
type limiter struct {
	*Member
	http.Handler
	bus   *bus.Bus
	short *talk.ConnectLimits
}

// limiters are the nodes of a cluster; each lets 50 requests a second through.
type limiters struct {
	*testing.T
	all     []*limiter
	markers int
}

func (c *limiters) join(cfg bus.Config) *limiter {
	c.Helper()
	cfg.Name, cfg.Log = fmt.Sprintf("node-%d.example", len(c.all)), slog.New(slog.DiscardHandler)
	life, shared := store.Node{ID: cfg.Name, Epoch: 1}, api.NewSharedLimits("a secret of a test")
	b, err := bus.Open(c.Context(), cfg)
	if err != nil {
		c.Fatal(err)
	}
	l := &limiter{bus: b, short: talk.NewConnectLimits(shared)}
	l.Member = New(Config{Bus: b, Life: life, Calls: session.NewManager(nil, life, nil, 0, cfg.Log), Limits: shared, Log: cfg.Log})
	l.Handler = api.Wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := api.Authenticate(visitors, r, api.Management); err != nil {
			api.WriteError(w, err)
		}
	}), api.Options{RateLimit: 50, Shared: shared})
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := l.Run(ctx); err != nil {
			c.Error(err)
		}
	})
	c.Cleanup(func() { stop(); run.Wait(); b.Close() })
	c.all = append(c.all, l)
	return l
}

// settled returns when a node has taken all that another has let through until now.
func (c *limiters) settled(from, to *limiter) {
	c.Helper()
	for range 2 { // the first marker may be before other things in its message
		var tried []api.Principal
		eventually(c.T, "a node hears what another has let through", func() bool {
			from.Alive()
			to.Alive()
			c.markers++
			p := api.Principal{Key: fmt.Sprint("marker ", c.markers)}
			for range 10 {
				from.short.Ended(p, 0)
			}
			tried = append(tried, p)
			return slices.ContainsFunc(tried, func(p api.Principal) bool { return !to.short.Allow(p) })
		})
	}
}

// spend sends requests until one is refused as too many, and returns how many were not.
func (c *limiters) spend(l *limiter, key, from string) (n int) {
	c.Helper()
	for ; n < 5000; n++ {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = from + ":1"
		r.Header.Set("X-API-Key", key)
		w := httptest.NewRecorder()
		l.ServeHTTP(w, r)
		if w.Code == http.StatusTooManyRequests {
			return n
		}
	}
	c.Fatal("nothing is refused")
	return n
}

// spent has each node let through what it does, one after the other, each when it has taken what the one
// before has let through.
func (c *limiters) spent(key, from string) (n int, took time.Duration) {
	c.Helper()
	begun := time.Now()
	for i, l := range c.all {
		n += c.spend(l, key, from)
		for _, other := range c.all[i+1:] {
			c.settled(l, other)
		}
	}
	return n, time.Since(begun)
}

// wantTogether: the nodes have let through what one may, and the little that they do not report.
func (c *limiters) wantTogether(what, key, from string, burst, unreported int, perSecond float64) {
	c.Helper()
	n, took := c.spent(key, from)
	if most := burst + unreported*(len(c.all)-1) + int(took.Seconds()*perSecond) + 1; n < burst || n > most {
		c.Errorf("%s: %d on %d nodes in %v, want %d to %d", what, n, len(c.all), took, burst, most)
	}
}

// TestLimitsOfACluster: three nodes with a bus of their own let through what one does.
func TestLimitsOfACluster(t *testing.T) {
	authority := bustest.NewAuthority(t)
	c, routes := &limiters{T: t}, []string(nil)
	for range 3 {
		cert, key := authority.Node()
		l := c.join(bus.Config{Cluster: bus.Cluster{Listen: "127.0.0.1:0", Routes: routes, Cert: cert, Key: key, CA: authority.CA}})
		if routes == nil {
			routes = []string{l.bus.RouteAddr()}
		}
	}
	for _, from := range c.all {
		for _, to := range c.all {
			if from != to {
				c.settled(from, to)
			}
		}
	}
	c.wantTogether("requests of a key", "sk_ana", "192.0.2.1", 200, 12, 50)
	c.wantTogether("wrong credentials", "sk_wrong", "192.0.2.2", 10, 0, 1./6)
}

// TestLimitsWithoutTheBus: when it is lost each node counts alone, and when it is back all count together again.
func TestLimitsWithoutTheBus(t *testing.T) {
	port := server.RANDOM_PORT
	start := func() *server.Server {
		n, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true})
		if err != nil {
			t.Fatal(err)
		}
		n.Start()
		if !n.ReadyForConnections(patience) {
			t.Fatal("no NATS server")
		}
		t.Cleanup(func() { n.Shutdown(); n.WaitForShutdown() })
		port = n.Addr().(*net.TCPAddr).Port
		return n
	}
	n := start()
	c, url := &limiters{T: t}, n.ClientURL()
	a, b := c.join(bus.Config{URL: url}), c.join(bus.Config{URL: url})
	both := func() { c.settled(a, b); c.settled(b, a) }
	both()
	n.Shutdown()
	n.WaitForShutdown()
	eventually(t, "the loss is noticed", func() bool { return !a.bus.Connected() && !b.bus.Connected() })
	for _, l := range c.all {
		if n := c.spend(l, "sk_wrong", "192.0.2.1"); n < 10 {
			t.Errorf("%d wrong credentials on a node without the bus, want 10", n)
		}
	}
	start()
	both()
	c.wantTogether("wrong credentials", "sk_wrong", "192.0.2.2", 10, 0, 1./6)
}
