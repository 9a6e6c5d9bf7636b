package pipeline_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/pipelinetest"
	"parley/store"
)

var card = billing.DefaultRateCard()

var (
	web     = billing.Terms{Kind: billing.Web}
	inbound = billing.Terms{Kind: billing.Inbound, Country: "ES"}
)

// fakeLedger answers at once, as it is told to: real databases do not take part in
// simulated time. Its hooks may be nil.
type fakeLedger struct {
	start      func() error
	checkpoint func(at time.Duration, s *store.Session) store.CheckpointResult
	permit     func(at time.Duration, minute int64) error
	save       func(at time.Duration) error
	close      func(at time.Duration) error
	beat       func(at time.Duration) error
	away       func(at time.Duration) bool // nothing answers
	locked     func(at time.Duration) bool // checkpoints do not

	unknown bool  // the answer to a start is lost
	follow  error // what follows from checkpoints fails

	begun time.Time

	mu       sync.Mutex
	sessions int
	reports  []report
	minutes  []string
	closings []closing
	talks    map[string]store.Conversation
	orphans  []store.Lost // live in the store
	lost     []store.Lost // closed as nobody's
}

type report struct {
	at      time.Duration
	session string
	store.Checkpoint
}

type closing struct {
	at, ended time.Duration
	session   string
	store.Closing
}

// now locks the ledger and says how long it has existed.
func (l *fakeLedger) now() (at time.Duration, err error) {
	l.mu.Lock()
	at = time.Since(l.begun)
	if l.away != nil && l.away(at) {
		return at, store.ErrUnavailable
	}
	return at, nil
}

func (l *fakeLedger) StartSession(_ context.Context, s store.Start, _ time.Time) (*store.Session, error) {
	if l.start != nil {
		if err := l.start(); err != nil {
			return nil, err
		}
	}
	_, err := l.now()
	defer l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	tariff, err := s.Card.Tariff(s.Terms)
	l.sessions++
	if err == nil && l.unknown {
		err = store.ErrUnavailable
	}
	return &store.Session{ID: fmt.Sprint("s", l.sessions), Account: s.Account, Node: s.Node, Terms: s.Terms, Card: s.Card, Tariff: tariff}, err
}

func (l *fakeLedger) Checkpoints(_ context.Context, cs []store.Checkpoint, _ time.Time) ([]store.CheckpointResult, error) {
	at, err := l.now()
	defer l.mu.Unlock()
	if err == nil && l.locked != nil && l.locked(at) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		return nil, err
	}
	results := make([]store.CheckpointResult, len(cs))
	for i, c := range cs {
		l.reports = append(l.reports, report{at, c.Session.ID, c})
		if l.checkpoint != nil {
			results[i] = l.checkpoint(at, c.Session)
		}
	}
	return results, l.follow
}

func (l *fakeLedger) LineMinute(_ context.Context, s *store.Session, minute int64, _ time.Time) error {
	at, err := l.now()
	defer l.mu.Unlock()
	if err == nil && l.permit != nil {
		err = l.permit(at, minute)
	}
	l.minutes = append(l.minutes, fmt.Sprintf("%s %d at %v: %v", s.ID, minute, at, err))
	return err
}

func (l *fakeLedger) CloseSession(_ context.Context, s *store.Session, c store.Closing, _ time.Time) (billing.Money, error) {
	at, err := l.now()
	defer l.mu.Unlock()
	if err == nil && l.close != nil {
		err = l.close(at)
	}
	if err == nil {
		l.closings = append(l.closings, closing{at, c.EndedAt.Sub(l.begun), s.ID, c})
	}
	return 0, err
}

func (l *fakeLedger) SaveConversation(_ context.Context, _, id string, c store.Conversation) error {
	at, err := l.now()
	defer l.mu.Unlock()
	if err == nil && l.save != nil {
		err = l.save(at)
	}
	if err == nil {
		l.talks[id] = c
	}
	return err
}

func (l *fakeLedger) Now() time.Time { return time.Now() }

func (l *fakeLedger) Orphans(_ context.Context, _ store.Node, before time.Time) ([]store.Lost, error) {
	_, err := l.now()
	defer l.mu.Unlock()
	return l.orphans, err
}

func (l *fakeLedger) CloseLost(_ context.Context, lost []store.Lost, _ time.Time) ([]store.Lost, error) {
	_, err := l.now()
	defer l.mu.Unlock()
	l.lost = append(l.lost, lost...)
	return lost, err
}

func (l *fakeLedger) Heartbeat(context.Context, store.Node) error {
	at, err := l.now()
	defer l.mu.Unlock()
	if err == nil && l.beat != nil {
		err = l.beat(at)
	}
	return err
}

// office is a manager at work with a ledger, in simulated time.
type office struct {
	t *testing.T
	*pipeline.Manager
	ledger *fakeLedger
	payer  string // the account of whom is admitted
	// maxCost is what whoever is admitted may cost; 0: no bound.
	maxCost billing.Money
	begun   time.Time
	calls   sync.WaitGroup
	ran     chan error // what Run returned

	mu    sync.Mutex
	ended map[string]string // session: when and how
}

func (l *fakeLedger) open(t *testing.T, max int) *office {
	l.begun, l.talks = time.Now(), map[string]store.Conversation{}
	o := &office{t: t, ledger: l, payer: "a", begun: l.begun, ran: make(chan error, 1), ended: map[string]string{}}
	o.Manager = pipeline.NewManager(l, store.Node{ID: "n", Epoch: 1}, func() *billing.RateCard { return card }, max, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	for _, part := range []func(context.Context) error{o.Run, o.WatchLease, o.Reconcile} {
		go func() { _ = part(ctx) }()
	}
	go func() { o.ran <- o.Heartbeats(ctx) }()
	t.Cleanup(func() {
		cancel()
		synctest.Wait()
	})
	return o
}

// admit lets a session in, or ends the test.
func (o *office) admit(terms billing.Terms) *pipeline.Session {
	o.t.Helper()
	s, err := o.Admit(o.t.Context(), pipeline.Admission{Account: o.payer, Terms: terms, MaxCost: o.maxCost})
	if err != nil {
		o.t.Fatal(err)
	}
	return s
}

// call conducts a conversation beside the test until it ends; set may be nil.
func (o *office) call(terms billing.Terms, set func(s *pipelinetest.Scene)) *pipeline.Session {
	o.t.Helper()
	session := o.admit(terms)
	scene := pipelinetest.NewScene()
	if set != nil {
		set(scene)
	}
	scene.Config.Observe = session.Observer(scene.Config.Observe)
	if scene.Model == nil {
		scene.Model = scene.LLM
	}
	scene.Model = session.Model(scene.Model)
	call := scene.Call()
	if err := call.Prepare(context.Background()); err != nil {
		o.t.Fatal(err)
	}
	session.Begin()
	if scene.Act != nil {
		o.calls.Go(func() { scene.Act(call) })
	}
	o.calls.Go(func() {
		ended := session.Conduct(call, scene.Leg)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ended[session.ID()] = fmt.Sprintf("%v %v", time.Since(o.begun).Round(ms), ended.Error())
	})
	return session
}

// wait waits for all calls.
func (o *office) wait() {
	o.calls.Wait()
	if n := o.Live(); n != 0 {
		o.t.Errorf("%d calls are left", n)
	}
}

// wantEnd checks when and how a session ended.
func (o *office) wantEnd(s *pipeline.Session, want string) {
	o.t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if got := o.ended[s.ID()]; got != want {
		o.t.Errorf("%s ended %q, want %q", s.ID(), got, want)
	}
}

// until hangs the caller up then.
func until(d time.Duration) func(*pipelinetest.Scene) {
	return func(s *pipelinetest.Scene) { s.Leg.HangUp = d }
}

// thirsty is a model that uses so many tokens each time.
func thirsty(s *pipelinetest.Scene, in, out int) {
	s.LLM.Replies = [][]enginetest.Step{{{After: 150 * ms, Text: "Yes. ", Usage: &inference.Usage{In: in, Out: out, Source: inference.UsageProvider}}}}
}

// hungUp is how callers end calls.
var hungUp = media.Ended{Reason: media.UserHangup}
