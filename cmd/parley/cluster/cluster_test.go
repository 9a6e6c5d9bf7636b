package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"parley/api"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/reply"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/bus"
	"parley/store/bus/bustest"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// patience only bounds a hang; nothing here asserts how long something takes.
const patience = 20 * time.Second

// webTerms price a conversation over a socket.
var webTerms = billing.Terms{Kind: billing.Web}

// books are the ledger and the history of calls.
type books struct {
	*store.DB
	*ledger.Ledger
	*history.Store
}

// peer is one node of a ring.
type peer struct {
	*Member
	db      *store.DB
	manager *session.Manager
	bus     *bus.Bus
	life    store.Node
}

// ring is three nodes in one process: one database, and a NATS server each, joined
// by routes over loopback.
type ring struct {
	*testing.T
	nodes    [3]*peer
	ledgers  [3]*patchy
	account  string
	decoy    string // another account, which has a call on each node
	calls    sync.WaitGroup
	sessions []*session.Session

	mu    sync.Mutex
	ended map[string]media.Ended // sessions
}

// patchy is the store, but some rounds of checkpoints do not get through.
type patchy struct {
	books
	mu    sync.Mutex
	fails func(cs []ledger.Checkpoint) bool // nil: none
}

func (p *patchy) Checkpoints(ctx context.Context, cs []ledger.Checkpoint) ([]ledger.CheckpointResult, error) {
	p.mu.Lock()
	fails := p.fails
	p.mu.Unlock()
	if fails != nil && fails(cs) {
		return nil, store.ErrUnavailable
	}
	return ledger.New(p.DB).Checkpoints(ctx, cs)
}

func (p *patchy) set(fails func([]ledger.Checkpoint) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fails = fails
}

func newRing(t *testing.T) *ring {
	t.Helper()
	r := &ring{T: t, ended: map[string]media.Ended{}}
	url := storetest.URL(t)
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				buf := make([]byte, 1<<16)
				t.Fatalf("goroutines are left: %s", buf[:runtime.Stack(buf, true)])
			}
		}
	})
	authority := bustest.NewAuthority(t)
	routes := ""
	for i := range r.nodes {
		cert, key := authority.Node()
		cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_SIP_ADDR=off", fmt.Sprintf("PARLEY_NODE=node-%d.example", i),
			"PARLEY_NATS_CLUSTER_ADDR=127.0.0.1:0", "PARLEY_NATS_ROUTES=" + routes, "PARLEY_NATS_CERT=" + cert, "PARLEY_NATS_KEY=" + key, "PARLEY_NATS_CA=" + authority.CA}})
		r.ok(err)
		db, log := storetest.Open(t, url), slog.New(slog.DiscardHandler)
		r.ok(db.PutRateCard(t.Context(), billing.DefaultRateCard()))
		n := &peer{db: db}
		n.life, _, _, err = TakeName(t.Context(), db, cfg.Node, cfg.HTTPAddr, true)
		r.ok(err)
		n.bus, err = bus.Open(t.Context(), bus.Config{Name: cfg.Node, Cluster: cfg.Cluster, Log: log})
		r.ok(err)
		r.nodes[i], r.ledgers[i] = n, &patchy{books: books{db, ledger.New(db), history.New(db)}}
		n.manager = session.NewManager(r.ledgers[i], n.life, db.RateCard, 0, log)
		n.Member = New(Config{Store: db, Ledger: ledger.New(db), History: history.New(db), Bus: n.bus, Life: n.life, Calls: n.manager, Key: "a key of a test", Limits: api.NewSharedLimits("a secret of a test"), Log: log})
		n.manager.Announce(n.Member)
		n.manager.Watch(n.Member)
		routes = r.nodes[0].bus.RouteAddr()
		r.run(n)
	}
	r.account, r.decoy = r.payer("a"), r.payer("b")
	r.met()
	return r
}

// run runs a node's meter and bus until the test ends.
func (r *ring) run(n *peer) {
	ctx, stop := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	for _, run := range []func(context.Context) error{n.manager.Run, n.Run} {
		parts.Go(func() {
			if err := run(ctx); err != nil {
				r.Error(err)
			}
		})
	}
	r.Cleanup(func() {
		for _, s := range r.sessions { // all calls before any node
			s.Stop(media.Ended{Reason: media.UserHangup})
		}
		r.calls.Wait()
		stop()
		parts.Wait()
		n.bus.Close()
		Leave(n.db, n.life, slog.New(slog.DiscardHandler))
		n.db.Close()
	})
}

// met returns when every node hears every other's commands.
func (r *ring) met() {
	r.Helper()
	for _, from := range r.nodes {
		for _, to := range r.nodes {
			for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
				_, err := from.request(r.Context(), to.life, command{Do: "hangup"})
				if err == nil {
					break
				} else if time.Now().After(end) {
					r.Fatal("they do not find each other: ", err)
				}
			}
		}
	}
}

func (r *ring) ok(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// payer makes an account that may have ten calls.
func (r *ring) payer(name string) string {
	r.Helper()
	db := r.nodes[0].db
	a, err := ledger.New(db).CreateAccount(r.Context(), name, r.nodes[0].db.RateCard())
	r.ok(err)
	_, _, err = ledger.New(db).Credit(r.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi:" + name, Source: "sim"})
	r.ok(err)
	return a.ID
}

// empty brings an account to its floor; no call notices by itself before its next
// checkpoint.
func (r *ring) empty(account string) {
	r.Helper()
	_, _, err := ledger.New(r.nodes[0].db).Credit(r.Context(), ledger.Credit{Account: account, Kind: ledger.Adjustment, Amount: -40 * billing.USD, Key: "adj:" + account})
	r.ok(err)
}

// call is a conversation on a node, in which nobody says anything.
func (r *ring) call(node int, account string) *session.Session {
	r.Helper()
	s, err := r.nodes[node].manager.Admit(r.Context(), session.Admission{Start: ledger.Start{Account: account, Terms: webTerms}})
	r.ok(err)
	scene := pipelinetest.NewScene()
	s.Bind(&scene.Config)
	c := scene.Call()
	r.ok(c.Prepare(context.Background()))
	s.Begin()
	r.sessions = append(r.sessions, s)
	r.calls.Go(func() {
		e := s.Conduct(c, scene.Leg)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended[s.ID()] = e
	})
	return s
}

// wantEnd waits for the end of a call.
func (r *ring) wantEnd(s *session.Session, reason media.EndReason) {
	r.Helper()
	r.wantEndFor(s, reason, "")
}

func (r *ring) wantEndFor(s *session.Session, reason media.EndReason, detail media.EndDetail) {
	r.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		e, over := r.state(s)
		switch {
		case over && e.Reason == reason && e.Detail == detail:
			return
		case over:
			r.Fatalf("%s ended %v, want %s", s.ID(), e, reason)
		case time.Now().After(end):
			r.Fatalf("%s goes on", s.ID())
		}
	}
}

func (r *ring) state(s *session.Session) (e media.Ended, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, over = r.ended[s.ID()]
	return e, over
}

func (r *ring) wantLive(sessions ...*session.Session) {
	r.Helper()
	for _, s := range sessions {
		if e, over := r.state(s); over {
			r.Errorf("%s ended %v", s.ID(), e)
		}
	}
}

// TestGoodbyeOnAllNodes: ten calls of one account on three nodes. A reply on the
// first finds the balance used up. The rounds of the other two do not reach the
// database, so what ends there ends because they were told.
func TestGoodbyeOnAllNodes(t *testing.T) {
	r := newRing(t)
	var calls, decoys []*session.Session
	for i := range 10 {
		calls = append(calls, r.call(i%3, r.account))
	}
	for i := range r.nodes {
		decoys = append(decoys, r.call(i, r.decoy))
	}
	for _, l := range r.ledgers[1:] {
		l.set(func(cs []ledger.Checkpoint) bool {
			for _, c := range cs { // a round of all calls has the decoy's
				if c.Session.Account == r.decoy {
					return true
				}
			}
			return false
		})
	}
	// A message from before a top-up, or a lie: nothing ends by it.
	lie, err := bus.Goodbye(r.account)
	r.ok(err)
	r.ok(r.nodes[0].bus.Publish(lie, nil))
	r.ok(r.nodes[0].bus.Publish(lie, nil))

	r.empty(r.account)
	calls[0].Observe(event.Event{Kind: event.Used, Usage: reply.Usage{Generation: 1, Kind: "reply", Outcome: "committed"}})
	for _, s := range calls {
		r.wantEnd(s, media.BalanceExhausted)
	}
	r.wantLive(decoys...)
}

// TestCommandsAreSealed: who reaches the bus and has not the master key neither ends a call
// nor reads one; a seal is good for its command and for the node that it was made for.
func TestCommandsAreSealed(t *testing.T) {
	r := newRing(t)
	call := r.call(0, r.account)
	host, other := r.nodes[0], r.nodes[1]
	hangup := command{Do: "hangup", Account: r.account, Call: call.ID()}
	show := command{Do: "show", Account: r.account, Call: call.ID()}
	sealed := func(to store.Node, c, said command) command { said.Seal = other.sealFor(to, c); return said }
	stranger := New(Config{Key: "another key"})
	foreign := hangup
	foreign.Seal = stranger.sealFor(host.life, hangup)
	var asked sync.WaitGroup
	for name, c := range map[string]command{
		"no seal": hangup, "no seal to read": show, "another secret's": foreign, "another command's": sealed(host.life, show, hangup),
		"another node's": sealed(other.life, hangup, hangup), "an earlier life's": sealed(store.Node{ID: host.life.ID, Epoch: host.life.Epoch - 1}, hangup, hangup),
	} {
		asked.Go(func() {
			text, err := json.Marshal(c)
			if err != nil {
				t.Error(err)
			}
			if answer, err := other.bus.Request(t.Context(), host.life, text); !errors.Is(err, bus.ErrTimeout) {
				t.Errorf("%s: %s, %v", name, answer, err)
			}
		})
	}
	asked.Wait()
	r.wantLive(call)
	if s, ok := other.ask(t.Context(), host.life, r.account, call.ID()); !ok || s.Status != session.CallConnected {
		t.Errorf("a node of ours is shown %+v, %v", s, ok)
	}
	if answer, err := other.request(t.Context(), host.life, hangup); err != nil || string(answer) != `{"done":true}` {
		t.Errorf("a node of ours is answered %s, %v", answer, err)
	}
	r.wantEnd(call, media.APIHangup)
}

// TestGoodbyeInADispute: one that the provider tells of ends the account's calls on
// all nodes, before their next rounds; one that an operator notes in the database, by
// the next checkpoint of each, with the bus or without.
func TestGoodbyeInADispute(t *testing.T) {
	r := newRing(t)
	var calls, operated, strangers []*session.Session
	stranger := r.payer("c")
	for i := range r.nodes {
		calls = append(calls, r.call(i, r.account))
		operated = append(operated, r.call(i, r.decoy))
		strangers = append(strangers, r.call(i, stranger))
	}
	for _, l := range r.ledgers {
		l.set(func(cs []ledger.Checkpoint) bool {
			for _, c := range cs { // the rounds of all calls do not get through
				if c.Session.Account == stranger {
					return true
				}
			}
			return false
		})
	}
	db := r.nodes[0].db
	r.ok(ledger.New(db).OpenDispute(t.Context(), r.account, "dp_1"))
	r.nodes[0].Freeze(r.account)
	for _, s := range calls {
		r.wantEndFor(s, media.BalanceExhausted, media.Disputed)
	}
	r.wantLive(operated...)
	r.ok(ledger.New(db).OpenDispute(t.Context(), r.decoy, "operator"))
	r.nodes[2].bus.Close()
	for _, l := range r.ledgers {
		l.set(nil)
	}
	for _, s := range operated {
		r.wantEndFor(s, media.BalanceExhausted, media.Disputed)
	}
	r.wantLive(strangers...)
	if _, err := r.nodes[1].manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: r.account, Terms: webTerms}}); !errors.Is(err, store.ErrDisputed) {
		t.Errorf("another call: %v", err)
	}
}

// TestSuspensionEndsCalls: those of the account end on all nodes: at once where an operator
// says so over the API, by the next checkpoint where only the database knows. None begins.
func TestSuspensionEndsCalls(t *testing.T) {
	r := newRing(t)
	db, yes := r.nodes[0].db, true
	stranger := r.payer("c")
	for _, told := range []bool{true, false} {
		account := r.payer(fmt.Sprint("told ", told))
		var calls, strangers []*session.Session
		for i := range r.nodes {
			calls, strangers = append(calls, r.call(i, account)), append(strangers, r.call(i, stranger))
		}
		r.ok(ledger.New(db).ChangeAccount(t.Context(), account, ledger.AccountChange{Suspended: &yes}))
		if told {
			r.nodes[0].Freeze(account)
		}
		for _, s := range calls {
			r.wantEndFor(s, media.APIHangup, media.Suspended)
		}
		r.wantLive(strangers...)
		if _, err := r.nodes[1].manager.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: account, Terms: webTerms}}); !errors.Is(err, store.ErrSuspended) {
			t.Errorf("another call: %v", err)
		}
	}
}

// TestGoodbyesBeforeTheFloor end nothing, however many there are.
func TestGoodbyesBeforeTheFloor(t *testing.T) {
	r := newRing(t)
	var calls []*session.Session
	for i := range r.nodes {
		calls = append(calls, r.call(i, r.account))
	}
	rounds := make(chan struct{}, 100)
	r.ledgers[2].set(func([]ledger.Checkpoint) bool { rounds <- struct{}{}; return false })
	s, err := bus.Goodbye(r.account)
	r.ok(err)
	for range 3 {
		r.ok(r.nodes[0].bus.Publish(s, nil))
		<-rounds
	}
	r.wantLive(calls...)
}

// TestHangupElsewhere: the node that is asked is not the one that has the call.
func TestHangupElsewhere(t *testing.T) {
	r := newRing(t)
	asked, here, other := r.call(1, r.account), r.call(0, r.account), r.call(1, r.account)
	for _, l := range r.ledgers { // it does not need a checkpoint
		l.set(func([]ledger.Checkpoint) bool { return true })
	}
	for _, account := range []string{r.decoy, "acc_none"} {
		if err := r.nodes[0].Hangup(t.Context(), account, asked.ID()); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of somebody else: %v", err)
		}
	}
	r.wantLive(asked)
	for _, s := range []*session.Session{asked, here} {
		r.ok(r.nodes[0].Hangup(t.Context(), r.account, s.ID()))
		r.wantEnd(s, media.APIHangup)
	}
	r.wantLive(other)
	for range 2 { // until its books are closed, and after
		r.ok(r.nodes[2].Hangup(t.Context(), r.account, asked.ID()))
	}
}

// TestNodeOffTheBus: its calls go on, and what it is not told it reads from the
// database by its next checkpoint.
func TestNodeOffTheBus(t *testing.T) {
	r := newRing(t)
	asked, other, last := r.call(1, r.account), r.call(1, r.account), r.call(1, r.decoy)
	r.nodes[1].bus.Close()
	for end := time.Now().Add(patience); ; {
		_, err := r.nodes[0].bus.Request(t.Context(), r.nodes[1].life, nil)
		if errors.Is(err, bus.ErrNobody) {
			break
		} else if time.Now().After(end) {
			t.Fatal("its going is not noticed: ", err)
		}
	}
	r.wantLive(asked, other, last)
	r.ok(r.nodes[0].Hangup(t.Context(), r.account, asked.ID()))
	r.empty(r.decoy)
	r.wantEnd(asked, media.APIHangup)
	r.wantEnd(last, media.BalanceExhausted)
	r.wantLive(other)
	ended, err := history.New(r.nodes[0].db).Call(t.Context(), r.account, asked.ID())
	r.ok(err)
	for ended.EndReason == nil {
		ended, err = history.New(r.nodes[0].db).Call(t.Context(), r.account, asked.ID())
		r.ok(err)
	}
	if *ended.EndReason != "api_hangup" {
		t.Errorf("history says %s", *ended.EndReason)
	}
}
