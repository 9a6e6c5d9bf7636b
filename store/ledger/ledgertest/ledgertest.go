// Package ledgertest gives the tests of the ledger, and of the packages above it, a database with accounts, sessions
// and money in them, and helpers that end the test when they fail.
package ledgertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/campaign"
	"parley/store/ledger"
	"parley/store/ledger/statement"
	"parley/store/ledger/verify"
	"parley/store/numbers"
	"parley/store/payments"
	"parley/store/storetest"
	"parley/store/tasks"
)

// T0 is when tests begin; in their contexts nothing in the store reads a clock.
var T0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// Card is the built-in rate card.
var Card = billing.DefaultRateCard()

// What sessions are of.
var (
	Web        = billing.Terms{Kind: billing.Web}
	InboundES  = billing.Terms{Kind: billing.Inbound, Country: "ES"}
	OutboundES = billing.Terms{Kind: billing.Outbound, Country: "ES", Mobile: true}
	TTS        = billing.Terms{Kind: billing.TTS}
)

// Books are a database, its ledger, and the rooms above that.
type Books struct {
	*store.DB
	*ledger.Ledger
	*campaign.Store
	*aftercall.Work
	Numbers  *numbers.Store
	Payments *payments.Store
	Tasks    *tasks.Store
}

// BooksOf are those of a database.
func BooksOf(db *store.DB) Books {
	return Books{db, ledger.New(db), campaign.New(db), aftercall.New(db), numbers.New(db), payments.New(db), tasks.New(db)}
}

// patience is how long what waits for a wallet waits.
const patience = 20 * time.Second

// Checkpoint stores one report. While another transaction has the wallet it tries again.
func (b Books) Checkpoint(ctx context.Context, c ledger.Checkpoint) (billing.Pots, error) {
	for until := time.Now().Add(patience); ; {
		r, err := b.Checkpoints(ctx, []ledger.Checkpoint{c})
		if err != nil {
			return billing.Pots{}, err
		}
		if !errors.Is(r[0].Err, ledger.ErrLater) || time.Now().After(until) {
			return r[0].Pots, r[0].Err
		}
	}
}

// LineMinutes asks for minutes, and again for those that could not be decided.
func (b Books) LineMinutes(ctx context.Context, ms ...ledger.Minute) ([]error, error) {
	for until := time.Now().Add(patience); ; {
		answers, err := b.Ledger.LineMinutes(ctx, ms)
		if err != nil || !slices.Contains(answers, error(ledger.ErrLater)) || time.Now().After(until) {
			return answers, err
		}
	}
}

// LineMinute asks for one.
func (b Books) LineMinute(ctx context.Context, s *ledger.Session, minute int64) error {
	answers, err := b.LineMinutes(ctx, ledger.Minute{Session: s, Number: minute})
	if err != nil {
		return err
	}
	return answers[0]
}

// Transfers lists an account's ledger, newest first, below sequence number before
// (0: from the newest), at most limit lines (0: all).
func (b Books) Transfers(ctx context.Context, account string, before int64, limit int) (all []ledger.Transfer, err error) {
	if limit == 0 {
		limit = 1 << 30
	}
	err = b.Statement(ctx, account, func(s *store.Statement) error {
		all, err = statement.Entries(ctx, s, statement.Page{Before: before, Limit: limit})
		return err
	})
	return all, err
}

// Fixture is a database with the built-in card and one registered node.
type Fixture struct {
	Books
	T    testing.TB
	Node store.Node
}

// New is a Fixture that has the patience of a test: on a busy machine many that want one wallet at
// once wait longer for each other than a server's statements may.
func New(t testing.TB) *Fixture {
	t.Helper()
	return Prepare(t, storetest.Open(t, fmt.Sprintf("%s&lock_timeout=%d", storetest.URL(t), patience.Milliseconds())))
}

// Prepare is a Fixture in a database that the test has opened.
func Prepare(t testing.TB, db *store.DB) *Fixture {
	t.Helper()
	f := &Fixture{Books: BooksOf(db), T: t}
	f.OK(db.PutRateCard(storetest.At(t.Context(), T0), Card))
	f.Node = f.Register("node-a")
	return f
}

// Context is one in which it is T0.
func (f *Fixture) Context() context.Context { return f.At(T0) }

// At is a context in which it is a time.
func (f *Fixture) At(now time.Time) context.Context { return storetest.At(f.T.Context(), now) }

// OK ends the test at an error.
func (f *Fixture) OK(err error) {
	f.T.Helper()
	if err != nil {
		f.T.Fatal(err)
	}
}

// Is wants err to be another, which may be nil.
func (f *Fixture) Is(err, want error) {
	f.T.Helper()
	if !errors.Is(err, want) {
		f.T.Errorf("%v; want %v", err, want)
	}
}

// Register begins a life of a node.
func (f *Fixture) Register(name string) store.Node {
	f.T.Helper()
	n, _, err := f.RegisterNode(f.Context(), name, "127.0.0.1:1")
	f.OK(err)
	return n
}

// Reaped has n reap and says how many sessions that closed.
func (f *Fixture) Reaped(n store.Node) int {
	f.T.Helper()
	lost, err := f.ReapNodes(f.At(T0.Add(time.Minute)), n, nil)
	f.OK(err)
	for _, s := range lost {
		f.OK(s.Err)
	}
	return len(lost)
}

// NewAccount makes an account with a welcome credit and, if paid is above 0, a top-up.
func (f *Fixture) NewAccount(paid billing.Money) string {
	f.T.Helper()
	a, err := f.CreateAccount(f.Context(), "Test", Card)
	f.OK(err)
	if paid > 0 {
		f.PayIn(a.ID, paid, "pi:"+a.ID)
	}
	return a.ID
}

// NewAgent makes an agent of an account.
func (f *Fixture) NewAgent(account string) *store.Agent {
	f.T.Helper()
	a, err := f.CreateAgent(f.Context(), account, store.Agent{Name: "Ana", Voice: "F1", Language: "es"})
	f.OK(err)
	return a
}

// PayIn credits a top-up.
func (f *Fixture) PayIn(account string, amount billing.Money, key string) {
	f.T.Helper()
	_, _, err := f.Credit(f.Context(), ledger.Credit{Account: account, Kind: ledger.Topup, Amount: amount, Key: key, Source: "sim"})
	f.OK(err)
}

// Adjust brings the balance of an account without sessions to amount.
func (f *Fixture) Adjust(account string, amount billing.Money) {
	f.T.Helper()
	f.AdjustAt(account, amount, T0)
}

// AdjustAt does it at a time.
func (f *Fixture) AdjustAt(account string, amount billing.Money, now time.Time) {
	f.T.Helper()
	a := f.Show(account)
	_, _, err := f.Credit(f.At(now), ledger.Credit{Account: account, Kind: ledger.Adjustment, Amount: amount - a.Balance(),
		Key: fmt.Sprintf("adj:%s:%d", account, time.Now().UnixNano())})
	f.OK(err)
}

// Show reads an account.
func (f *Fixture) Show(account string) *ledger.Account {
	f.T.Helper()
	a, err := f.Account(f.Context(), account)
	f.OK(err)
	return a
}

// Want compares an account's wallet.
func (f *Fixture) Want(account string, p billing.Pots) {
	f.T.Helper()
	if got := f.Show(account).Pots; got != p {
		f.T.Fatalf("the wallet is %+v; want %+v", got, p)
	}
}

// Request asks for a session.
func (f *Fixture) Request(account string, terms billing.Terms) ledger.Start {
	return ledger.Start{Node: f.Node, Account: account, Terms: terms, Card: Card, From: "+34911234567", To: "+34612345678"}
}

// Start lets a session start.
func (f *Fixture) Start(account string, terms billing.Terms) *ledger.Session {
	f.T.Helper()
	s, err := f.StartSession(f.Context(), f.Request(account, terms))
	f.OK(err)
	return s
}

// MustCheckpoint reports what a session has used.
func (f *Fixture) MustCheckpoint(s *ledger.Session, seq int64, u billing.Usage) billing.Pots {
	f.T.Helper()
	p, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: s, Seq: seq, StartedAt: T0, Usage: u})
	f.OK(err)
	return p
}

// CloseWith closes a session that has used so much, and returns what it cost.
func (f *Fixture) CloseWith(s *ledger.Session, u billing.Usage) billing.Money {
	f.T.Helper()
	m, err := f.CloseSession(f.Context(), s, ledger.Closing{Reason: "user_hangup", StartedAt: T0, Usage: u})
	f.OK(err)
	return m
}

// Verified ends the test unless every invariant holds.
func (f *Fixture) Verified() {
	f.T.Helper()
	for _, v := range f.Violations() {
		f.T.Error(v)
	}
}

// Violations are all but those of what sessions lasted: most of a fixture begin and end
// at T0, whatever they are said to have used.
func (f *Fixture) Violations() []verify.Violation {
	f.T.Helper()
	r, err := verify.Whole(context.WithoutCancel(f.Context()), f.DB)
	f.OK(err)
	return slices.DeleteFunc(r.Violations, func(v verify.Violation) bool { return v.Invariant == 26 })
}

// tester is a test, or a run of a random one.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// Price is what usage costs by terms.
func Price(t tester, terms billing.Terms, u billing.Usage) billing.Money {
	t.Helper()
	tariff, err := Card.Tariff(terms)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tariff.Price(u)
	if err != nil {
		t.Fatal(err)
	}
	return b.Total()
}

// Silence has a node's last heartbeat lie so far back.
func Silence(t tester, db *store.DB, node string, d time.Duration) {
	change(t, db, "update nodes set heartbeat_at = now() - $2::interval where node_id = $1", node, d)
}

// Steady has a node's heartbeats have come without a gap for so much longer.
func Steady(t tester, db *store.DB, node string, d time.Duration) {
	change(t, db, "update nodes set steady_since = steady_since - $2::interval where node_id = $1", node, d)
}

func change(t tester, db *store.DB, sql string, args ...any) {
	t.Helper()
	if _, err := db.Pool().Exec(context.Background(), sql, args...); err != nil {
		t.Fatal(err)
	}
}

// Together runs f n times at once and waits.
func Together(n int, f func(i int)) {
	var wg sync.WaitGroup
	gate := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-gate
			f(i)
		})
	}
	close(gate)
	wg.Wait()
}

// Insist repeats what has waited for the wallet in vain, as nodes do: on a busy machine the
// transactions before it take longer than a statement waits for a lock.
func Insist(f func() error) error {
	err := f()
	for store.Locked(err) || errors.Is(err, ledger.ErrLater) {
		err = f()
	}
	return err
}

// Enqueue has f called when a job of a kind is put in line.
func Enqueue(db *store.DB, kind store.Job, f store.Enqueue) {
	db.UseQueue(queue{kind, f})
}

type queue struct {
	kind store.Job
	f    store.Enqueue
}

func (q queue) Enqueue(ctx context.Context, tx pgx.Tx, job store.Job, account, id string) error {
	if job != q.kind {
		return nil
	}
	return q.f(ctx, tx, account, id)
}
