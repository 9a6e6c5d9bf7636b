package node

import (
	"context"
	"strings"
	"time"

	"parley/api/dashboard"
	"parley/api/status"
	"parley/cmd/parley/config"
)

// pages is the dashboard, before its routes are added.
func (n *Node) pages(server *status.Server) *dashboard.Dashboard {
	s := dashboard.Services{
		DB: n.db, Card: n.card.Load, Status: server, Tickets: n.tickets, Log: n.log, Telephony: n.cfg.Telephony(),
		Secure: strings.HasPrefix(n.cfg.BaseURL, "https://"),
		Seed: func(ctx context.Context) (string, error) {
			d, err := n.Seed(ctx, n.DataDir)
			return d.Account, err
		},
	}
	if n.cfg.Demo {
		s.Demo = n.demo.Account
	}
	return dashboard.New(s)
}

// FirstRun is the link that sets up a new server; empty for one that needs none.
func (n *Node) FirstRun(ctx context.Context) (string, error) {
	if n.cfg.Demo {
		return "", nil
	}
	path, err := dashboard.FirstRun(ctx, n.db, time.Now())
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
	return scheme + local(cfg.HTTPAddr)
}
