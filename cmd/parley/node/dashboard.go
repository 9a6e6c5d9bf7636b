package node

import (
	"context"
	"strings"

	"parley/api/dashboard"
	"parley/api/dashboard/page"
	"parley/api/status"
	"parley/cmd/parley/config"
	"parley/cmd/parley/demo"
	"parley/store/campaign"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/payments"
	"parley/store/people"
)

// pages is the dashboard, before its routes are added.
func (n *Node) pages(server *status.Server) *dashboard.Dashboard {
	o := dashboard.Options{
		Services: page.Services{DB: n.db, Ledger: ledger.New(n.db), People: people.New(n.db), Card: n.db.RateCard, Status: server, Tickets: n.tickets, Log: n.log, Telephony: n.cfg.Telephony(),
			Secure: strings.HasPrefix(n.cfg.BaseURL, "https://"), Base: strings.TrimSuffix(n.cfg.BaseURL, "/")},
		Seed: func(ctx context.Context) (string, error) {
			d, err := n.Seed(ctx, n.DataDir)
			return d.ID, err
		},
		Limits: n.shares,
	}
	for _, d := range n.cfg.Doubts() {
		if d.Plain != "" {
			o.Notices = append(o.Notices, page.Notice{Operator: strings.ToUpper(d.Text[:1]) + d.Text[1:] + ". To change: " + d.Fix + ".", Owner: d.Plain})
		}
	}
	if n.cfg.Demo {
		o.Demo, o.DemoLinks = n.demo.ID, &n.links
	}
	return dashboard.New(o)
}

// Seed sets up the demonstration, or finds it.
func (n *Node) Seed(ctx context.Context, dataDir string) (d demo.Account, err error) {
	n.demo, err = (&demo.Seeder{Store: n.db, Ledger: ledger.New(n.db), Numbers: numbers.New(n.db), Payments: payments.New(n.db), Campaigns: campaign.New(n.db), Keys: people.New(n.db), History: history.New(n.db), Recordings: n.records,
		Life: n.life, Network: n.network != nil, Log: n.log}).Seed(ctx, dataDir)
	return n.demo, err
}

// DemoLink makes a link that opens the demonstration once.
func (n *Node) DemoLink() string { return n.payments.Home + n.links.New() }

// FirstRun is the link that sets up a new server; empty for one that needs none.
func (n *Node) FirstRun(ctx context.Context) (string, error) {
	if n.cfg.Demo {
		return "", nil
	}
	path, err := dashboard.FirstRun(ctx, n.db)
	if err != nil || path == "" {
		return "", err
	}
	return n.payments.Home + path, nil
}

// BaseURL is where people reach a server with these settings, as far as they say.
func BaseURL(cfg *config.Config) string {
	if cfg.BaseURL != "" {
		return cfg.BaseURL
	}
	scheme := "http://"
	if cfg.HTTPS() {
		scheme = "https://"
	}
	return scheme + demo.Local(cfg.HTTPAddr)
}
