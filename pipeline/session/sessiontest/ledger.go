// Package sessiontest has a ledger that answers as a test says, and a manager at work with
// it in simulated time.
package sessiontest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// Card is the rate card in force.
var Card = billing.DefaultRateCard()

// Terms of calls, and how callers end them.
var (
	Web     = billing.Terms{Kind: billing.Web}
	Inbound = billing.Terms{Kind: billing.Inbound, Country: "ES"}
	HungUp  = media.Ended{Reason: media.UserHangup}
)

// FakeLedger answers at once, by its script: real databases do not take part in
// simulated time. Its hooks may be nil.
type FakeLedger struct {
	Start      func() error
	Checkpoint func(at time.Duration, s *ledger.Session) ledger.CheckpointResult
	Permit     func(at time.Duration, minute int64) error
	Save       func(at time.Duration) error
	Close      func(at time.Duration) error
	Beat       func(at time.Duration) error
	Away       func(at time.Duration) bool // nothing answers
	Locked     func(at time.Duration) bool // checkpoints do not

	Drained func(at time.Duration) bool // the node is asked to drain

	Ahead   time.Duration     // of the clock of this process is the database's
	OnDrain func()            // see session.Manager; nil: nobody hears it
	Others  session.Announcer // to whom the manager announces; nil: no other node
	Unknown bool              // the answer to a start is lost
	Follow  error             // what follows from checkpoints fails

	begun time.Time

	Mu       sync.Mutex            // guards what follows
	sessions []*ledger.Session     // as they began
	owners   map[string]store.Node // of sessions that were adopted
	Reports  []Report
	Minutes  []string // that were asked for, with the answer
	Asked    int      // how often minutes were asked for
	Closings []Closing
	Absences []time.Duration                 // of agents, as they were noted
	Talks    map[string]history.Conversation // by session
	Events   map[string][]history.Happened   // as they were stored, by session
	Live     []ledger.Lost                   // what Orphans finds
	Lost     []ledger.Lost                   // closed as nobody's
}

// Report is a checkpoint of session ID that was stored.
type Report struct {
	At time.Duration
	ID string
	ledger.Checkpoint
}

// Closing is the end of session ID as it was stored.
type Closing struct {
	At, Ended time.Duration
	ID        string
	ledger.Closing
}

// now locks the ledger and says how long it has existed.
func (l *FakeLedger) now() (at time.Duration, err error) {
	l.Mu.Lock()
	at = time.Since(l.begun)
	if l.Away != nil && l.Away(at) {
		return at, store.ErrUnavailable
	}
	return at, nil
}

func (l *FakeLedger) StartSession(_ context.Context, s ledger.Start) (*ledger.Session, error) {
	if l.Start != nil {
		if err := l.Start(); err != nil {
			return nil, err
		}
	}
	_, err := l.now()
	defer l.Mu.Unlock()
	if err != nil {
		return nil, err
	}
	tariff, err := s.Card.Tariff(s.Terms)
	if err == nil && l.Unknown {
		err = store.ErrUnavailable
	}
	started := &ledger.Session{ID: fmt.Sprint("s", len(l.sessions)+1), Account: s.Account, Node: s.Node, Terms: s.Terms, Card: s.Card, Tariff: tariff}
	l.sessions = append(l.sessions, started)
	return started, err
}

func (l *FakeLedger) OpenSession(_ context.Context, account, id string, me store.Node) (*ledger.Session, error) {
	_, err := l.now()
	defer l.Mu.Unlock()
	for _, s := range l.sessions {
		if s.ID == id && s.Account == account && err == nil {
			there := *s
			there.Node = me
			return &there, nil
		}
	}
	return nil, cmp.Or(err, error(store.ErrNotFound))
}

func (l *FakeLedger) AdoptSession(_ context.Context, s *ledger.Session, from store.Node) (p ledger.Progress, err error) {
	_, err = l.now()
	defer l.Mu.Unlock()
	if err == nil && l.owner(s.ID) != from {
		err = store.ErrFenced
	}
	if err != nil {
		return p, err
	}
	if l.owners == nil {
		l.owners = map[string]store.Node{}
	}
	l.owners[s.ID] = s.Node
	p.Permitted = 1
	for _, r := range l.Reports {
		if r.ID == s.ID {
			p.Seq = r.Seq
		}
	}
	for _, m := range l.Minutes {
		var of string
		var minute int64
		if n, _ := fmt.Sscanf(m, "%s %d", &of, &minute); n == 2 && of == s.ID {
			p.Permitted = minute
		}
	}
	return p, nil
}

func (l *FakeLedger) Used(_ context.Context, s *ledger.Session) (u billing.Usage, err error) {
	_, err = l.now()
	defer l.Mu.Unlock()
	for _, r := range l.Reports {
		if r.ID == s.ID {
			u = r.Usage
		}
	}
	return u, err
}

func (l *FakeLedger) NoteAway(_ context.Context, s *ledger.Session, away time.Duration) error {
	_, err := l.now()
	defer l.Mu.Unlock()
	l.Absences = append(l.Absences, away)
	return err
}

func (l *FakeLedger) Holder(_ context.Context, _, id string) (n store.Node, live bool, err error) {
	_, err = l.now()
	defer l.Mu.Unlock()
	return l.owner(id), !slices.ContainsFunc(l.Closings, func(c Closing) bool { return c.ID == id }), err
}

func (l *FakeLedger) Unfinished(_ context.Context, _, id string) (u history.Unfinished, err error) {
	_, err = l.now()
	defer l.Mu.Unlock()
	for _, e := range l.Events[id] {
		if u.Events++; e.Event.Line != nil {
			u.Transcript = append(u.Transcript, *e.Event.Line)
		}
	}
	return u, err
}

// owner is the node that has a session; Mu is locked.
func (l *FakeLedger) owner(id string) store.Node {
	if n, moved := l.owners[id]; moved {
		return n
	}
	for _, s := range l.sessions {
		if s.ID == id {
			return s.Node
		}
	}
	return store.Node{}
}

func (l *FakeLedger) Checkpoints(_ context.Context, cs []ledger.Checkpoint) ([]ledger.CheckpointResult, error) {
	at, err := l.now()
	defer l.Mu.Unlock()
	if err == nil && l.Locked != nil && l.Locked(at) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		return nil, err
	}
	results := make([]ledger.CheckpointResult, len(cs))
	for i, c := range cs {
		if c.Session.Node != l.owner(c.Session.ID) {
			results[i].Err = store.ErrFenced
			continue
		}
		l.Reports = append(l.Reports, Report{at, c.Session.ID, c})
		if l.Checkpoint != nil {
			results[i] = l.Checkpoint(at, c.Session)
		}
	}
	return results, l.Follow
}

func (l *FakeLedger) LineMinutes(_ context.Context, ms []ledger.Minute) ([]error, error) {
	at, err := l.now()
	defer l.Mu.Unlock()
	l.Asked++
	answers := make([]error, len(ms))
	for i, m := range ms {
		if answers[i] = err; err == nil && l.Permit != nil {
			answers[i] = l.Permit(at, m.Number)
		}
		l.Minutes = append(l.Minutes, fmt.Sprintf("%s %d at %v: %v", m.Session.ID, m.Number, at, answers[i]))
		if errors.Is(answers[i], store.ErrUnavailable) {
			err = answers[i]
		}
	}
	if err != nil {
		return nil, err
	}
	return answers, nil
}

func (l *FakeLedger) CloseSession(_ context.Context, s *ledger.Session, c ledger.Closing) (billing.Money, error) {
	at, err := l.now()
	defer l.Mu.Unlock()
	if err == nil && l.Close != nil {
		err = l.Close(at)
	}
	if err == nil {
		l.Closings = append(l.Closings, Closing{at, c.EndedAt.Sub(l.begun), s.ID, c})
	}
	return 0, err
}

func (l *FakeLedger) SaveConversation(_ context.Context, _, id string, c history.Conversation) error {
	at, err := l.now()
	defer l.Mu.Unlock()
	if err == nil && l.Save != nil {
		err = l.Save(at)
	}
	if err == nil {
		l.Talks[id] = c
	}
	return err
}

func (l *FakeLedger) SaveEvents(_ context.Context, events []history.Happened) error {
	_, err := l.now()
	defer l.Mu.Unlock()
	if err != nil {
		return err
	}
	for _, e := range events {
		l.Events[e.Call] = append(l.Events[e.Call], e)
	}
	return nil
}

// EventsOf are the events of a session as they were stored by now.
func (l *FakeLedger) EventsOf(id string) []history.Happened {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	return slices.Clone(l.Events[id])
}

func (l *FakeLedger) Now() time.Time { return time.Now().Add(l.Ahead) }

func (l *FakeLedger) Orphans(_ context.Context, _ store.Node, before time.Time) ([]ledger.Lost, error) {
	_, err := l.now()
	defer l.Mu.Unlock()
	return l.Live, err
}

func (l *FakeLedger) CloseLost(_ context.Context, lost []ledger.Lost) ([]ledger.Lost, error) {
	_, err := l.now()
	defer l.Mu.Unlock()
	l.Lost = append(l.Lost, lost...)
	return lost, err
}

func (l *FakeLedger) Heartbeat(context.Context, store.Node) error {
	at, err := l.now()
	defer l.Mu.Unlock()
	if err == nil && l.Beat != nil {
		err = l.Beat(at)
	}
	return err
}

func (l *FakeLedger) Drains() bool {
	at, _ := l.now()
	defer l.Mu.Unlock()
	return l.Drained != nil && l.Drained(at)
}

// Harness is a manager at work with a ledger, in simulated time.
type Harness struct {
	t *testing.T
	*session.Manager
	Ledger  *FakeLedger
	Payer   string        // the account of the sessions that are admitted
	MaxCost billing.Money // of each of them; 0: no bound
	Begun   time.Time
	Calls   sync.WaitGroup
	Ran     chan error // what Heartbeats returned

	Mu    sync.Mutex        // guards what follows
	Ended map[string]string // session: when and how
}

// Open starts a manager of at most max calls, 0: no bound, with the ledger. It stops with the
// test.
func (l *FakeLedger) Open(t *testing.T, max int) *Harness {
	l.begun, l.Talks = time.Now(), map[string]history.Conversation{}
	l.Events = map[string][]history.Happened{}
	return l.Join(t, store.Node{ID: "n", Epoch: 1}, max)
}

// Join starts the manager of another node with a ledger that is open.
func (l *FakeLedger) Join(t *testing.T, node store.Node, max int) *Harness {
	o := &Harness{t: t, Ledger: l, Payer: "a", Begun: l.begun, Ran: make(chan error, 1), Ended: map[string]string{}}
	o.Manager = session.NewManager(l, node, func() *billing.RateCard { return Card }, max, slog.New(slog.DiscardHandler))
	if l.OnDrain != nil {
		o.OnDrain(l.OnDrain)
	}
	if l.Others != nil {
		o.Announce(l.Others)
	}
	ctx, cancel := context.WithCancel(t.Context())
	for _, part := range []func(context.Context) error{o.Run, o.WatchLease, o.Reconcile, o.RecordEvents} {
		go func() { _ = part(ctx) }()
	}
	go func() { o.Ran <- o.Heartbeats(ctx) }()
	t.Cleanup(func() {
		cancel()
		synctest.Wait()
	})
	return o
}

// Enter lets a session in, or ends the test.
func (o *Harness) Enter(terms billing.Terms) *session.Session {
	o.t.Helper()
	s, err := o.Admit(o.t.Context(), session.Admission{Start: ledger.Start{Account: o.Payer, Terms: terms}, MaxCost: o.MaxCost})
	if err != nil {
		o.t.Fatal(err)
	}
	return s
}

// Call conducts a conversation beside the test until it ends; set may be nil.
func (o *Harness) Call(terms billing.Terms, set func(s *pipelinetest.Scene)) *session.Session {
	o.t.Helper()
	session := o.Enter(terms)
	scene := pipelinetest.NewScene()
	if set != nil {
		set(scene)
	}
	if scene.Config.LLM = scene.Model; scene.Model == nil {
		scene.Config.LLM = scene.LLM
	}
	session.Bind(&scene.Config)
	scene.Model = scene.Config.LLM
	call := scene.Call()
	if err := call.Prepare(context.Background()); err != nil {
		o.t.Fatal(err)
	}
	session.Begin()
	if scene.Act != nil {
		o.Calls.Go(func() { scene.Act(call) })
	}
	o.Calls.Go(func() {
		ended := session.Conduct(call, scene.Leg)
		o.Mu.Lock()
		defer o.Mu.Unlock()
		o.Ended[session.ID()] = fmt.Sprintf("%v %v", time.Since(o.Begun).Round(time.Millisecond), ended.Error())
	})
	return session
}

// Wait waits for all calls.
func (o *Harness) Wait() {
	o.Calls.Wait()
	if n := o.Live(); n != 0 {
		o.t.Errorf("%d calls are left", n)
	}
}

// WantEnd checks when and how a session ended.
func (o *Harness) WantEnd(s *session.Session, want string) {
	o.t.Helper()
	o.Mu.Lock()
	defer o.Mu.Unlock()
	if got := o.Ended[s.ID()]; got != want {
		o.t.Errorf("%s ended %q, want %q", s.ID(), got, want)
	}
}

// Until hangs the caller up then.
func Until(d time.Duration) func(*pipelinetest.Scene) {
	return func(s *pipelinetest.Scene) { s.Leg.HangUp = d }
}

// Thirsty gives the scene a model that uses so many tokens each time.
func Thirsty(s *pipelinetest.Scene, in, out int) {
	s.LLM.Replies = [][]enginetest.Step{{{After: 150 * time.Millisecond, Text: "Yes. ", Usage: &inference.Usage{In: in, Out: out, Source: inference.UsageProvider}}}}
}

// EndOf is when and how a session ended; empty before.
func (o *Harness) EndOf(s *session.Session) string {
	o.Mu.Lock()
	defer o.Mu.Unlock()
	return o.Ended[s.ID()]
}

// StartWork lets work start for account a, or ends the test.
func (o *Harness) StartWork(kind billing.Kind) *session.Work {
	o.t.Helper()
	w, err := o.Work(o.t.Context(), session.Order{Account: "a", Kind: kind})
	if err != nil {
		o.t.Fatal(err)
	}
	return w
}

// Reported counts the checkpoints of a session at a moment.
func (o *Harness) Reported(session string, at time.Duration) int {
	o.Ledger.Mu.Lock()
	defer o.Ledger.Mu.Unlock()
	n := 0
	for _, r := range o.Ledger.Reports {
		if r.ID == session && r.At == at {
			n++
		}
	}
	return n
}
