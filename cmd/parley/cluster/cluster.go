// Package cluster is a node among the others of its cluster: it takes a name and gives it back
// (TakeName, Leave), notices when others die and ends their calls (watch.go, Reap), and exchanges news, commands,
// hints of what there is to do and what limits have let through on the bus (Member).
//
// Everything on the bus is a hint that makes nodes faster: the database has the truth, and a node
// that misses a message finds it there, at the next checkpoint of the call, 5 s later at most. Only
// what limits have let through is nowhere else: a node that misses it lets more through.
// Read cluster.go first, then commands.go, and follow.go for how clients follow a call.
package cluster

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/media/isolate"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/bus"
	"parley/store/history"
	"parley/store/ledger"
)

// Config is what a member works with. All fields but Peers and Rescue are set.
type Config struct {
	Store   *store.DB
	Ledger  *ledger.Ledger
	History *history.Store
	Bus     *bus.Bus
	Life    store.Node
	Calls   *session.Manager // of this node
	Key     string           // seals commands: the nodes of a cluster share it
	Limits  *api.SharedLimits
	Peers   *tls.Config   // with which requests go to other nodes; nil: nodes speak plain HTTP
	Rescue  ledger.Rescue // takes over calls of nodes that are dead; nil: they are closed
	Log     *slog.Logger
}

// Member is this node, as the others know it. It is the manager's Announcer and Watcher. Its
// methods may be called from several goroutines.
type Member struct {
	// NodesLost counts the nodes that this one has fenced off, by what showed that they are dead.
	NodesLost *prometheus.CounterVec

	cfg      Config
	accounts chan string // that may not go on
	news     chan happened
	alive    chan struct{}
	way      *http.Transport // of requests to other nodes
	holding  *http.Transport // of those that they hold: each has a connection of its own
	departs  chan struct{}   // closed when this node leaves
	depart   func()
	answers  map[string]Answer // by what is asked about
}

// maxAnnouncements wait to be published: more than the accounts that reach their floor in one
// checkpoint of a full node. Any further one is dropped, and the other nodes find it by their own
// checkpoints, 5 s later at most.
const maxAnnouncements = 1024

// busRetry is the pause before a subscription that failed is made again.
const busRetry = time.Second

// New returns a member, which begins to speak when Run runs.
func New(cfg Config) *Member {
	m := &Member{cfg: cfg, accounts: make(chan string, maxAnnouncements), news: make(chan happened, maxNews), alive: make(chan struct{}, 1), way: wayTo(cfg.Peers),
		holding: wayTo(cfg.Peers), departs: make(chan struct{}), NodesLost: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "parley_nodes_lost_total",
			Help: "Nodes that died and that this one fenced off, by what showed it: proof, at once, or silence."}, []string{"by"})}
	m.holding.DisableKeepAlives = true
	m.depart = sync.OnceFunc(func() { close(m.departs) })
	for _, by := range []string{byProof, bySilence} {
		m.NodesLost.WithLabelValues(by) // it is 0, and not absent
	}
	return m
}

// Goodbye implements session.Announcer.
func (m *Member) Goodbye(account string) {
	select {
	case m.accounts <- account:
	default:
	}
}

// Alive implements session.Announcer.
func (m *Member) Alive() {
	select {
	case m.alive <- struct{}{}:
	default:
	}
}

// Freeze ends an account's sessions on all nodes, because the database says that it may not go
// on: a payment is disputed, or the account is suspended.
func (m *Member) Freeze(account string) {
	m.cfg.Calls.Goodbye(account)
	m.Goodbye(account)
}

// Run exchanges messages with the other nodes, and watches them, until ctx ends.
func (m *Member) Run(ctx context.Context) error {
	commands, err := bus.Commands(m.cfg.Life)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	wg.Add(10)
	isolate.Keep(ctx, "cmd/parley/cluster/announce", func() { m.announce(ctx) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/news", func() { m.publishNews(ctx) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/goodbyes", func() { m.listen(ctx, bus.Goodbyes(), func(in bus.Message) { m.cfg.Calls.Goodbye(in.About) }) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/commands", func() { m.listen(ctx, commands, m.obey) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/heartbeats", func() { m.listen(ctx, bus.Heartbeats(), m.hearAlive) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/limits", func() { m.reportLimits(ctx) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/reports", func() { m.listen(ctx, bus.Limits(), func(in bus.Message) { m.cfg.Limits.Hear(in.Payload) }) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/hints", func() { m.tellHints(ctx) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/hinted", func() { m.listen(ctx, bus.Hints(), m.hearHints) }, wg.Done)
	isolate.Keep(ctx, "cmd/parley/cluster/watch", func() { m.watch(ctx, &wg) }, wg.Done)
	wg.Wait()
	m.Depart()
	return nil
}

// announce publishes heartbeats, and accounts that may not go on.
func (m *Member) announce(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.alive:
			m.sayAlive()
		case account := <-m.accounts:
			s, err := bus.Goodbye(account)
			m.publish(s, err, nil, "an account that may not go on was not announced", "account", account)
		}
	}
}

// publish publishes a hint, unless err says that it could not be made. Of one that is lost, a line
// is logged with its attributes.
func (m *Member) publish(s bus.Subject, err error, text []byte, lost string, attributes ...any) {
	if err == nil {
		err = m.cfg.Bus.Publish(s, text)
	}
	if err != nil {
		m.cfg.Log.Debug(lost, append(attributes, "err", err)...)
	}
}

// listen hands messages about s to f until ctx ends. A subscription that was too slow is made
// again: the database has what it lost.
func (m *Member) listen(ctx context.Context, s bus.Subject, f func(bus.Message)) {
	for ctx.Err() == nil {
		err := m.listenOnce(ctx, s, f)
		if ctx.Err() == nil {
			m.cfg.Log.Warn("messages of other nodes were lost", "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(busRetry):
		}
	}
}

func (m *Member) listenOnce(ctx context.Context, s bus.Subject, f func(bus.Message)) error {
	sub, err := m.cfg.Bus.Subscribe(ctx, s)
	if err != nil {
		return err
	}
	defer sub.Close()
	for {
		in, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		f(in)
	}
}
