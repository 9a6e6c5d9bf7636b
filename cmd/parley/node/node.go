// Package node puts a running server together from its parts: the store, the
// engines, the call manager, the agent socket and the telephone. It is where the
// parts that must not know each other meet, and where events of a call become
// messages, metrics and charges.
package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/api/wsagent"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/pipeline"
	"parley/sip"
	"parley/store"
)

// Node is one running server's inside. Open makes it, Parts run it.
type Node struct {
	cfg     *config.Config
	log     *slog.Logger
	db      *store.DB
	engines *Engines
	manager *pipeline.Manager
	phone   *sip.UserAgent // nil without telephony
	card    atomic.Pointer[billing.RateCard]
	metrics *metrics
	limits  *wsagent.ConnectLimits
}

// Part is something of the node that runs until its context ends. A part that
// ends earlier ends the node.
type Part struct {
	Name string
	Run  func(ctx context.Context) error
	// Ready says whether the part can do its work; nil: always.
	Ready func(ctx context.Context) error
}

// Open connects to the database, brings it up to date, takes the node's name and
// binds the telephone. Close undoes it.
func Open(ctx context.Context, cfg *config.Config, databaseURL string, reg prometheus.Registerer, log *slog.Logger) (n *Node, err error) {
	n = &Node{cfg: cfg, log: log, limits: wsagent.NewConnectLimits()}
	if n.db, err = store.Open(ctx, databaseURL); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			n.db.Close()
		}
	}()
	if err = n.db.Migrate(ctx); err != nil {
		return nil, err
	}
	if err = n.LoadRateCard(ctx); err != nil {
		return nil, err
	}
	life, closed, err := n.db.RegisterNode(ctx, cfg.Node, cfg.HTTPAddr, time.Now())
	if err != nil {
		return nil, err
	}
	if closed > 0 {
		log.Warn("calls of an earlier life of this node were closed at their last checkpoint", "calls", closed)
	}
	if n.engines, err = NewEngines(cfg, log); err != nil {
		return nil, err
	}
	n.manager = pipeline.NewManager(n.db, life, n.card.Load, cfg.MaxCalls, log)
	if cfg.Telephony() {
		if n.phone, err = n.telephone(); err != nil {
			return nil, fmt.Errorf("telephone: %w", err)
		}
	}
	n.metrics = newMetrics(reg, n)
	return n, nil
}

// Close gives back what Open took, after the parts have ended.
func (n *Node) Close() error {
	n.db.Close()
	return nil
}

// Manager is the node's calls.
func (n *Node) Manager() *pipeline.Manager { return n.manager }

// Store is the node's database.
func (n *Node) Store() *store.DB { return n.db }

// Parts are what must run, in the order in which they start.
func (n *Node) Parts() []Part {
	parts := []Part{{Name: "meter", Run: n.manager.Run}}
	for _, w := range n.engines.workers {
		parts = append(parts, Part{w.name, w.run, w.ready})
	}
	if n.phone != nil {
		parts = append(parts, Part{Name: "sip", Run: n.phone.Run})
	}
	return parts
}

// SIPAddr is where the telephone listens; empty without one.
func (n *Node) SIPAddr() string {
	if n.phone == nil {
		return ""
	}
	return n.phone.Addr().String()
}

// Drain refuses new calls and waits for those in progress, until ctx ends.
func (n *Node) Drain(ctx context.Context) error {
	if n.phone != nil {
		n.phone.Drain()
	}
	return n.manager.Drain(ctx)
}

// Handler is the public HTTP side.
func (n *Node) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /v1/pricing", api.Pricing(n.card.Load))
	mux.Handle("GET /ws/agent", &wsagent.Handler{Keys: n.db, Agents: conversations{n}, Log: n.log, Limits: n.limits})
	mux.Handle("/", api.Fallback())
	return api.Wrap(mux, api.Options{Log: n.log, RateLimit: n.cfg.RateLimit, TrustedProxies: n.cfg.TrustedProxies})
}

// LoadRateCard reads the rate card and puts it in force for new sessions. The
// server keeps its card when the file cannot be used.
func (n *Node) LoadRateCard(ctx context.Context) error {
	card := billing.DefaultRateCard()
	if n.cfg.RateCard != "" {
		text, err := os.ReadFile(n.cfg.RateCard)
		if err != nil {
			return err
		}
		if card, err = billing.ParseRateCard(text); err != nil {
			return fmt.Errorf("rate card %s: %w", n.cfg.RateCard, err)
		}
	}
	if err := n.db.PutRateCard(ctx, card, time.Now()); err != nil {
		if errors.Is(err, store.ErrRateCardChanged) {
			return fmt.Errorf("rate card %s: %w", card.Version(), err)
		}
		return err
	}
	n.card.Store(card)
	return nil
}

// RateCard is the card in force.
func (n *Node) RateCard() *billing.RateCard { return n.card.Load() }
