package session_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/billing"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/verify"
	"parley/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// noting is the real store, and what sessions said they had used.
type noting struct {
	*store.DB
	*ledger.Ledger
	*history.Store
	mu   sync.Mutex
	used map[string]billing.Usage
}

func (n *noting) CloseSession(ctx context.Context, s *ledger.Session, c ledger.Closing) (billing.Money, error) {
	n.mu.Lock()
	n.used[s.ID] = c.Usage
	n.mu.Unlock()
	return n.Ledger.CloseSession(ctx, s, c)
}

// till is a manager at work with a real database, in real time: its calls are
// short.
type till struct {
	*session.Manager
	t       *testing.T
	db      *noting
	account string
	ran     chan error
	calls   sync.WaitGroup
}

func openTill(t *testing.T) *till {
	t.Helper()
	db := &noting{DB: storetest.New(t), used: map[string]billing.Usage{}}
	db.Ledger, db.Store = ledger.New(db.DB), history.New(db.DB)
	b := &till{t: t, db: db, ran: make(chan error, 1)}
	b.ok(db.PutRateCard(t.Context(), card))
	node, _, err := db.RegisterNode(t.Context(), "n", "127.0.0.1:1")
	b.ok(err)
	account, err := db.CreateAccount(t.Context(), "Test", card)
	b.ok(err)
	b.account = account.ID
	b.Manager = session.NewManager(db, node, func() *billing.RateCard { return card }, 0, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		var meter sync.WaitGroup
		defer meter.Wait()
		meter.Go(func() { _ = b.Run(ctx) })
		b.ran <- b.Heartbeats(ctx)
	}()
	t.Cleanup(func() {
		b.calls.Wait()
		cancel()
		<-done
		b.verify()
	})
	return b
}

func (b *till) ok(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// verify checks every invariant of the ledger.
func (b *till) verify() {
	b.t.Helper()
	report, err := verify.Whole(context.Background(), b.db)
	if err != nil || !report.OK() {
		b.t.Errorf("the ledger: %v %v", err, report)
	}
}

func (b *till) balance() billing.Money {
	b.t.Helper()
	a, err := b.db.Account(context.Background(), b.account)
	b.ok(err)
	return a.Balance()
}

// adjust sets the balance.
func (b *till) adjust(to billing.Money) {
	b.t.Helper()
	_, _, err := b.db.Credit(b.t.Context(), ledger.Credit{Account: b.account, Kind: ledger.Adjustment, Amount: to - b.balance(), Key: "adjusted"})
	b.ok(err)
}

func (b *till) admit(terms billing.Terms) (*session.Session, error) {
	return b.Admit(b.t.Context(), session.Admission{Start: ledger.Start{Account: b.account, Terms: terms, From: "+34911234567", To: "+34612345678"}})
}

// talk holds a conversation in which the caller says one thing and hangs up.
func (b *till) talk(terms billing.Terms, hangup time.Duration, set func(*pipelinetest.Scene)) (id string, took time.Duration, ended media.Ended) {
	b.t.Helper()
	session, err := b.admit(terms)
	b.ok(err)
	scene := pipelinetest.NewScene(pipelinetest.Said{From: 60 * ms, To: 300 * ms, Text: "hello"})
	scene.Leg.HangUp = hangup
	scene.Leg.Linger = 100 * ms
	thirsty(scene, 1000, 500)
	if set != nil {
		set(scene)
	}
	session.Bind(&scene.Config)
	call := scene.Call()
	b.ok(call.Prepare(context.Background()))
	session.Begin()
	begun := time.Now()
	ended = session.Conduct(call, scene.Leg)
	return session.ID(), time.Since(begun), ended
}

// TestTranscriptIsBounded: of a call in which too much is said the beginning is kept, and
// how many lines there were besides; a list of calls reads none of it.
func TestTranscriptIsBounded(t *testing.T) {
	b := openTill(t)
	session, err := b.admit(web)
	b.ok(err)
	session.Begin()
	const said = 400
	observe := session.Observe
	for range said {
		observe(event.Event{Kind: event.UserLine, Text: strings.Repeat("é", 4000)})
	}
	observe(event.Event{Kind: event.UserLineAgain, Text: "It was another line."})
	session.End(media.Ended{Reason: media.UserHangup})
	call, err := history.New(b.db.DB).Call(t.Context(), b.account, session.ID())
	b.ok(err)
	bytes := 0
	for _, l := range call.Transcript {
		bytes += len(l.Text)
	}
	if bytes > 512<<10 || bytes < 500<<10 || call.Omitted == 0 || call.Omitted+len(call.Transcript) != said {
		t.Errorf("%d bytes in %d lines are kept, %d lines are not", bytes, len(call.Transcript), call.Omitted)
	}
	listed, err := history.New(b.db.DB).Calls(t.Context(), b.account, history.CallPage{})
	b.ok(err)
	if len(listed) != 1 || listed[0].ID != call.ID || *listed[0].EndReason != "user_hangup" || listed[0].Transcript != nil || listed[0].Turns != nil {
		t.Errorf("the list has %d calls, or what was said in them", len(listed))
	}
}

// TestBooks: a conversation costs what its time and tokens cost, to the
// millisecond, and its history says what was said.
func TestBooks(t *testing.T) {
	for _, terms := range []billing.Terms{web, inbound} {
		b := openTill(t)
		before := b.balance()
		id, took, _ := b.talk(terms, 1500*ms, nil)
		call, err := history.New(b.db.DB).Call(t.Context(), b.account, id)
		b.ok(err)
		if call.StartedAt == nil || call.EndedAt == nil || *call.EndReason != "user_hangup" || len(call.Generations) != 1 || len(call.Transcript) == 0 {
			t.Fatalf("history %+v", call)
		}
		lasted := call.EndedAt.Sub(*call.StartedAt)
		if lasted > took || lasted < 1400*ms || lasted > 1800*ms {
			t.Errorf("it lasted %v of %v", lasted, took)
		}
		usage := b.db.used[id]
		if ms := usage[billing.AgentTime]; ms < lasted.Milliseconds()-1 || ms > lasted.Milliseconds()+1 {
			t.Errorf("%d ms are charged of %v", ms, lasted)
		}
		if usage[billing.ReplyIn] != 1000 || usage[billing.ReplyOut] != 500 {
			t.Errorf("tokens %v", usage)
		}
		if terms.Kind.Phone() != (usage[billing.LineTime] == usage[billing.AgentTime]) {
			t.Errorf("%d ms of line", usage[billing.LineTime])
		}
		tariff, err := card.Tariff(terms)
		b.ok(err)
		bill, err := tariff.Price(usage)
		b.ok(err)
		if paid := before - b.balance(); paid != bill.Total() || paid != call.Cost || paid <= 0 {
			t.Errorf("%v was taken, the bill is %v, history says %v", paid, bill.Total(), call.Cost)
		}
	}
}

// TestUnbegunSessionIsFree: it was admitted and never began.
func TestUnbegunSessionIsFree(t *testing.T) {
	b := openTill(t)
	before := b.balance()
	for _, terms := range []billing.Terms{web, inbound} {
		s, err := b.admit(terms)
		b.ok(err)
		time.Sleep(20 * ms) // would cost something
		s.End(hungUp)
	}
	if got := b.balance(); got != before {
		t.Errorf("it cost %v", before-got)
	}
}

// TestRealRefusals are passed on, and leave nothing behind.
func TestRealRefusals(t *testing.T) {
	b := openTill(t)
	two := 2
	b.ok(b.db.ChangeAccount(t.Context(), b.account, ledger.AccountChange{Concurrency: &two}))
	var live []*session.Session
	for range two {
		s, err := b.admit(web)
		b.ok(err)
		live = append(live, s)
	}
	if _, err := b.admit(web); !errors.Is(err, store.ErrConcurrency) {
		t.Errorf("a third of two: %v", err)
	}
	for _, s := range live {
		s.End(hungUp)
	}
	b.adjust(card.Wallet().MinSessionStart - 1)
	if _, err := b.admit(web); !errors.Is(err, store.ErrInsufficientBalance) {
		t.Errorf("with too little: %v", err)
	}
	if _, err := b.Admit(t.Context(), session.Admission{Start: ledger.Start{Account: "nobody", Terms: web}}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nobody: %v", err)
	}
	if n := b.Live(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

// TestRealFloor: a reply that costs more than there is ends the call, with a
// goodbye, as soon as its tokens are known.
func TestRealFloor(t *testing.T) {
	b := openTill(t)
	b.adjust(card.Wallet().MinSessionStart)
	_, took, ended := b.talk(web, 20*time.Second, func(s *pipelinetest.Scene) {
		thirsty(s, 100_000_000, 0)
		s.TTS.Sentence, s.TTS.MarkEvery = 200*ms, 50*ms
	})
	if ended.Reason != media.BalanceExhausted || took > 5*time.Second {
		t.Errorf("ended %v after %v", ended, took)
	}
	if got := b.balance(); got > -card.Wallet().Overdraft {
		t.Errorf("the balance is %v", got)
	}
}

// TestRealFence: another process takes the node's name. It closes the session, and
// this one hangs up and charges nothing more.
func TestRealFence(t *testing.T) {
	b := openTill(t)
	var id string
	var ended media.Ended
	begun := make(chan struct{})
	b.calls.Go(func() {
		id, _, ended = b.talk(web, 20*time.Second, func(s *pipelinetest.Scene) {
			once := sync.OnceFunc(func() { close(begun) })
			s.Observe = func(*pipeline.Call, event.Event) { once() }
		})
	})
	<-begun
	if _, _, err := b.db.RegisterNode(t.Context(), "n", "127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	if err := <-b.ran; !errors.Is(err, store.ErrFenced) {
		t.Errorf("Run returned %v", err)
	}
	b.ran <- nil
	b.calls.Wait()
	call, err := history.New(b.db.DB).Call(t.Context(), b.account, id)
	b.ok(err)
	if ended.Detail != "node_lost" || *call.EndReason != "failed" || *call.EndDetail != "node_lost" {
		t.Errorf("ended %v, history says %s, %s", ended, *call.EndReason, *call.EndDetail)
	}
}

// TestManyAtOnce: calls that come and go beside each other leave the books right.
func TestManyAtOnce(t *testing.T) {
	b := openTill(t)
	ten := 10
	b.ok(b.db.ChangeAccount(t.Context(), b.account, ledger.AccountChange{Concurrency: &ten}))
	var mu sync.Mutex
	cost := billing.Money(0)
	before := b.balance()
	for i := range ten {
		b.calls.Go(func() {
			terms := web
			if i%3 == 0 {
				terms = inbound
			}
			id, _, _ := b.talk(terms, time.Duration(700+60*i)*ms, nil)
			call, err := history.New(b.db.DB).Call(context.Background(), b.account, id)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			cost += call.Cost
		})
	}
	b.calls.Wait()
	if paid := before - b.balance(); paid != cost || cost <= 0 {
		t.Errorf("%v was taken, the calls cost %v", paid, cost)
	}
	if err := b.Drain(t.Context()); err != nil {
		t.Error(err)
	}
}
