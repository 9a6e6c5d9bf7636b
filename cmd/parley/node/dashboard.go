package node

import (
	"context"
	"strings"
	"time"

	"parley/api/dashboard"
	"parley/api/status"
	"parley/api/wire"
	"parley/cmd/parley/config"
	"parley/cmd/parley/demo"
	"parley/cmd/parley/doctor"
	"parley/store/campaign"
	"parley/store/people"
)

// pages is the dashboard, before its routes are added.
func (n *Node) pages(server *status.Server) *dashboard.Dashboard {
	s := dashboard.Services{
		DB: n.db, People: people.New(n.db), Card: n.db.RateCard, Status: server, Tickets: n.tickets, Log: n.log, Telephony: n.cfg.Telephony(),
		Secure: strings.HasPrefix(n.cfg.BaseURL, "https://"), Base: strings.TrimSuffix(n.cfg.BaseURL, "/"),
		Seed: func(ctx context.Context) (string, error) {
			d, err := n.Seed(ctx, n.DataDir)
			return d.ID, err
		},
	}
	for _, d := range n.cfg.Doubts() {
		if d.Plain != "" {
			s.Notices = append(s.Notices, dashboard.Notice{Operator: strings.ToUpper(d.Text[:1]) + d.Text[1:] + ". To change: " + d.Fix + ".", Owner: d.Plain})
		}
	}
	if n.cfg.Demo {
		s.Demo, s.DemoLinks = n.demo.ID, &n.links
	}
	return dashboard.New(s)
}

// A checkup starts engines and opens sockets, so there is one at a time, and a request
// soon after gets what the last one found.
const (
	checkupFresh    = 5 * time.Second
	checkupPatience = time.Minute
)

// checkup makes the checks of parley doctor in a running server.
type checkup struct {
	cfg   *config.Config
	dir   func() string // the data directory
	turn  chan struct{} // holds one while somebody looks
	at    time.Time     // of found; the holder of the turn may use them
	found []wire.Check
}

func newCheckup(cfg *config.Config, dir func() string) *checkup {
	return &checkup{cfg: cfg, dir: dir, turn: make(chan struct{}, 1)}
}

// look waits for its turn, until ctx ends.
func (c *checkup) look(ctx context.Context) ([]wire.Check, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if time.Since(c.at) < checkupFresh {
		return c.found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkupPatience)
	defer cancel()
	var found []wire.Check
	for _, f := range append(doctor.Examine(ctx, c.cfg, c.dir()), doctor.FFmpeg(ctx)) {
		found = append(found, wire.Check{Name: f.Name, Status: string(f.Status), Detail: f.Detail, Fix: f.Fix})
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // what was cut off is not broken
	}
	c.at, c.found = time.Now(), found
	return found, nil
}

// Seed sets up the demonstration, or finds it.
func (n *Node) Seed(ctx context.Context, dataDir string) (d demo.Account, err error) {
	kept := struct {
		callBooks
		*campaign.Store
	}{booksOf(n.db), campaign.New(n.db)}
	n.demo, err = (&demo.Seeder{Store: kept, Keys: people.New(n.db), Recordings: kept, Importer: n.records, Life: n.life, Network: n.network != nil, Log: n.log}).Seed(ctx, dataDir)
	return n.demo, err
}

// DemoLink makes a link that opens the demonstration once.
func (n *Node) DemoLink() string { return n.till.home + n.links.New() }

// FirstRun is the link that sets up a new server; empty for one that needs none.
func (n *Node) FirstRun(ctx context.Context) (string, error) {
	if n.cfg.Demo {
		return "", nil
	}
	path, err := dashboard.FirstRun(ctx, n.db, n.db.Now())
	if err != nil || path == "" {
		return "", err
	}
	return n.till.home + path, nil
}

// BaseURL is where people reach a server with these settings, as far as they say.
func BaseURL(cfg *config.Config) string {
	if cfg.BaseURL != "" {
		return cfg.BaseURL
	}
	scheme := "http://"
	if cfg.TLSCert != "" {
		scheme = "https://"
	}
	return scheme + demo.Local(cfg.HTTPAddr)
}
