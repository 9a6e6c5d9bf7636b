// Package move moves telephone calls between nodes, between two turns, so that a node can stop and no call ends: Away moves those of
// a node that drains, and its other end takes them.
//
// A call moves in two requests from the node that has it to the one that gets it. By the first, an offer, the other node makes
// ready: it admits the call and opens the engines of its agent. The second, a transfer, has all that the first node knows; the other
// one takes over the books, and asks the far end to go on with it. Until that is decided the first node has the far end hear it as
// before. Each part of the call has a verb for each step: the leg, the session and the conversation are yielded, and then released
// or reclaimed.
package move

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"parley/cmd/parley/cluster"
	"parley/cmd/parley/conversation"
	"parley/cmd/parley/outbound"
	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/journal"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/transport"
	"parley/store"
	"parley/store/ledger"
	"parley/store/passports"
)

// What nodes ask each other about.
const (
	aboutOffer    = "calls/offer"
	aboutTransfer = "calls/transfer"
	aboutRescue   = "calls/rescue"
)

// offer asks a node to make ready for a call.
type offer struct {
	Account, Session string
	Began            conversation.Began
	Rate             media.Rate // of the audio that the leg brings
	At               *journal.Conversation
}

// transfer gives a call to a node that is ready for it.
type transfer struct {
	Session    string
	Passport   sip.Passport
	Books      *session.Moved
	At         *journal.Conversation
	Signalling []transport.TraceMessage
	Forgotten  int // older messages
}

// taken answers a transfer.
type taken struct {
	FarEnd string // why the far end does not go on at the other node; empty: it does
}

// Config is what a Mover works with. All fields are set.
type Config struct {
	Store     *store.DB
	Ledger    *ledger.Ledger
	Life      store.Node
	Peers     *cluster.Member
	Calls     *session.Manager
	Maker     *conversation.Maker
	Transfers *outbound.Transfers
	Phone     *sip.UserAgent
	Passports *passports.Store
	Log       *slog.Logger
}

// Mover moves the calls of a node, and takes those of others.
type Mover struct {
	cfg Config
	*Metrics

	mu      sync.Mutex
	ready   map[string]*arrival                 // by session
	leaving map[*conversation.Movable]bool      // those on their way
	later   map[*conversation.Movable]time.Time // those that no node took, and when they are offered again
	sent    map[string]int                      // by node, how many calls it was asked to go on with
	stay    map[string]bool                     // trunks whose far ends refuse to go on at another node
}

// New returns a mover, which answers the other nodes from now on, and registers its numbers.
func New(cfg Config, reg prometheus.Registerer) *Mover {
	m := &Mover{cfg: cfg, Metrics: NewMetrics(reg), ready: map[string]*arrival{}, leaving: map[*conversation.Movable]bool{}, later: map[*conversation.Movable]time.Time{}, sent: map[string]int{}, stay: map[string]bool{}}
	cfg.Peers.Answers(aboutOffer, m.offered)
	cfg.Peers.Answers(aboutTransfer, m.transferred)
	cfg.Peers.Answers(aboutRescue, m.rescued)
	return m
}

const (
	// lookEvery is how often a call is asked whether it is between two turns.
	lookEvery = 100 * time.Millisecond
	// offerPatience is how long another node may take to make ready, and transferPatience how long to take a call over: as
	// long as a far end may take to answer (64*T1, RFC 3261 section 17.1.1.2), and some more.
	offerPatience    = 5 * time.Second
	transferPatience = 40 * time.Second
	// offerAgain is when a call that no node has taken is offered again.
	offerAgain = time.Second
	// askPatience is how long the database is asked who has a call.
	askPatience = 3 * time.Second
	// together bounds the calls that move at once.
	together = 16
)

// Away begins to move the calls that can move to other nodes, each as soon as it is between two turns, until ctx ends or stop is
// called, which returns when those on their way have arrived, or stay. Those that no node takes, or whose far end refuses, stay. A
// nil Mover has no calls.
func (m *Mover) Away(ctx context.Context) (stop func()) {
	if m == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	all.Add(1)
	isolate.Keep(ctx, "cmd/parley/move/look", func() { m.look(ctx, &all) }, all.Done)
	return func() {
		cancel()
		all.Wait()
	}
}

// look moves each call that is between two turns.
func (m *Mover) look(ctx context.Context, all *sync.WaitGroup) {
	slots := make(chan struct{}, together)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		for _, c := range m.cfg.Maker.Movable() {
			if !m.leaves(c) {
				continue
			}
			select {
			case slots <- struct{}{}:
			default:
				m.done(c)
				continue
			}
			all.Add(1)
			isolate.Go("cmd/parley/move/away", nil, func() { m.away(ctx, c) }, func() { m.done(c); <-slots }, all.Done)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// leaves says whether a call is to move now, and notes that it does.
func (m *Mover) leaves(c *conversation.Movable) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.leaving[c] || m.stay[c.From.Trunk] || time.Now().Before(m.later[c]) {
		return false
	}
	m.leaving[c] = true
	return true
}

func (m *Mover) done(c *conversation.Movable) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.leaving, c)
}

// away moves a call to the first node that makes ready for it, if it is between two turns.
func (m *Mover) away(ctx context.Context, c *conversation.Movable) {
	at, rests := c.Call.Pause(ctx)
	if !rests {
		return
	}
	peers, err := m.cfg.Store.Peers(ctx, m.cfg.Life)
	if err != nil {
		m.cfg.Log.Info("no node is known that a call could move to", "session", c.Session.ID(), "err", err)
		return
	}
	for _, to := range m.byRoom(peers) {
		o := offer{Account: c.Session.Account(), Session: c.Session.ID(), Began: c.Began, Rate: c.Call.Rate(), At: at}
		asking, cancel := context.WithTimeout(ctx, offerPatience)
		err := m.cfg.Peers.Post(asking, to, aboutOffer, o, nil)
		cancel()
		if err == nil {
			m.give(ctx, c, to)
			return
		}
		m.cfg.Log.Info("a node does not make ready for a call", "session", c.Session.ID(), "node", to.ID, "err", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.later[c] = time.Now().Add(offerAgain)
}

// byRoom sorts nodes by how many calls they have, and counts one more for the first. What others have taken a moment ago, the
// database may not count yet.
func (m *Mover) byRoom(peers []store.Peer) []store.Peer {
	m.mu.Lock()
	defer m.mu.Unlock()
	slices.SortStableFunc(peers, func(a, b store.Peer) int { return cmp.Compare(a.Calls+m.sent[a.ID], b.Calls+m.sent[b.ID]) })
	if len(peers) > 0 {
		m.sent[peers[0].ID]++
	}
	return peers
}

// give gives a call to a node that is ready for it, at the next moment between two turns.
func (m *Mover) give(ctx context.Context, c *conversation.Movable, to store.Peer) {
	within, cancel := context.WithTimeout(ctx, readyFor-time.Second)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if at, rests := c.Call.Pause(within); rests && m.tryGive(ctx, c, to, at) {
			return
		}
		select {
		case <-within.Done():
			return
		case <-tick.C:
		}
	}
}

// tryGive gives a call that is at a moment between two turns. It returns false when it cannot be given now.
func (m *Mover) tryGive(ctx context.Context, c *conversation.Movable, to store.Peer, at *journal.Conversation) bool {
	passport, err := c.Leg.Yield()
	if err != nil {
		return !errors.Is(err, sip.ErrBusy)
	}
	books, err := c.Session.Yield()
	if err != nil {
		c.Leg.Reclaim()
		return true // it ends
	}
	begun := time.Now()
	t := transfer{Session: c.Session.ID(), Passport: passport, Books: books, At: at}
	t.Signalling, t.Forgotten = c.Leg.Trace().Messages()
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), transferPatience)
	var answer taken
	err = m.cfg.Peers.Post(asking, to, aboutTransfer, t, &answer)
	cancel()
	_, refused := errors.AsType[*cluster.Refusal](err)
	if err == nil && answer.FarEnd == "" || err != nil && !refused && m.isElsewhere(c) {
		m.cfg.Maker.Release(c)
		m.seconds.Observe(time.Since(begun).Seconds())
		m.moves.WithLabelValues("moved").Inc()
		m.cfg.Log.Info("a call goes on at another node", "session", c.Session.ID(), "node", to.ID, "took", time.Since(begun))
		return true
	}
	c.Session.Reclaim()
	c.Leg.Reclaim()
	m.moves.WithLabelValues("stayed").Inc()
	m.cfg.Log.Warn("a call stays at this node", "session", c.Session.ID(), "node", to.ID, "far_end", answer.FarEnd, "err", err)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.later[c] = time.Now().Add(offerAgain)
	if answer.FarEnd != "" {
		m.stay[c.From.Trunk] = true
	}
	return true
}

// isElsewhere says whether another node has adopted a call, by the database. While that is away nobody adopts one.
func (m *Mover) isElsewhere(c *conversation.Movable) bool {
	ctx, cancel := context.WithTimeout(context.Background(), askPatience)
	defer cancel()
	owner, err := m.cfg.Ledger.CallOwner(ctx, c.Session.Account(), c.Session.ID())
	return err == nil && owner != m.cfg.Life
}
