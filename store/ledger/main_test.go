package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

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

func TestMain(m *testing.M) {
	runNodeIfTold()
	storetest.Main(m)
}

// t0 is when tests begin; in their contexts nothing in the store reads a clock.
var t0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

var card = billing.DefaultRateCard()

// fixture is a database with the built-in card, one registered node and helpers
// that end the test when they fail.
type fixture struct {
	books
	t    testing.TB
	node store.Node
}

// books are a database, its ledger, and the rooms above that.
type books struct {
	*store.DB
	*ledger.Ledger
	*campaign.Store
	*aftercall.Work
	Numbers  *numbers.Store
	Payments *payments.Store
	Tasks    *tasks.Store
}

// Checkpoint stores one report. While another transaction has the wallet it tries again.
func (b books) Checkpoint(ctx context.Context, c ledger.Checkpoint) (billing.Pots, error) {
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

// Transfers lists an account's ledger, newest first, below sequence number before
// (0: from the newest), at most limit lines (0: all).
func (b books) Transfers(ctx context.Context, account string, before int64, limit int) (all []ledger.Transfer, err error) {
	if limit == 0 {
		limit = 1 << 30
	}
	err = b.Statement(ctx, account, func(s *store.Statement) error {
		all, err = statement.Entries(ctx, s, statement.Page{Before: before, Limit: limit})
		return err
	})
	return all, err
}

func booksOf(db *store.DB) books {
	return books{db, ledger.New(db), campaign.New(db), aftercall.New(db), numbers.New(db), payments.New(db), tasks.New(db)}
}

// setup is a ledger that has the patience of a test: on a busy machine many that want one wallet at
// once wait longer for each other than a server's statements may.
func setup(t testing.TB) *fixture {
	t.Helper()
	return prepare(t, storetest.Open(t, fmt.Sprintf("%s&lock_timeout=%d", storetest.URL(t), patience.Milliseconds())))
}

// patience is how long what waits for a wallet waits.
const patience = 20 * time.Second

func prepare(t testing.TB, db *store.DB) *fixture {
	t.Helper()
	f := &fixture{books: booksOf(db), t: t}
	f.ok(db.PutRateCard(storetest.At(t.Context(), t0), card))
	f.node = f.register("node-a")
	return f
}

// ctx is a context in which it is t0.
func (f *fixture) ctx() context.Context { return f.at(t0) }

// at is a context in which it is a time.
func (f *fixture) at(now time.Time) context.Context { return storetest.At(f.t.Context(), now) }

func (f *fixture) ok(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fixture) register(name string) store.Node {
	f.t.Helper()
	n, _, err := f.RegisterNode(f.ctx(), name, "127.0.0.1:1")
	f.ok(err)
	return n
}

// account makes an account with a welcome credit and, if paid is above 0, a top-up.
func (f *fixture) account(paid billing.Money) string {
	f.t.Helper()
	a, err := f.CreateAccount(f.ctx(), "Test", card)
	f.ok(err)
	if paid > 0 {
		f.topup(a.ID, paid, "pi:"+a.ID)
	}
	return a.ID
}

func (f *fixture) topup(account string, amount billing.Money, key string) {
	f.t.Helper()
	_, _, err := f.Credit(f.ctx(), ledger.Credit{Account: account, Kind: ledger.Topup, Amount: amount, Key: key, Source: "sim"})
	f.ok(err)
}

// adjust brings the balance of an account without sessions to amount.
func (f *fixture) adjust(account string, amount billing.Money) {
	f.t.Helper()
	f.adjustAt(account, amount, t0)
}

func (f *fixture) adjustAt(account string, amount billing.Money, now time.Time) {
	f.t.Helper()
	a := f.show(account)
	_, _, err := f.Credit(f.at(now), ledger.Credit{Account: account, Kind: ledger.Adjustment, Amount: amount - a.Balance(),
		Key: fmt.Sprintf("adj:%s:%d", account, time.Now().UnixNano())})
	f.ok(err)
}

func (f *fixture) show(account string) *ledger.Account {
	f.t.Helper()
	a, err := f.Account(f.ctx(), account)
	f.ok(err)
	return a
}

func (f *fixture) want(account string, p billing.Pots) {
	f.t.Helper()
	if got := f.show(account).Pots; got != p {
		f.t.Fatalf("the wallet is %+v; want %+v", got, p)
	}
}

var (
	web        = billing.Terms{Kind: billing.Web}
	inboundES  = billing.Terms{Kind: billing.Inbound, Country: "ES"}
	outboundES = billing.Terms{Kind: billing.Outbound, Country: "ES", Mobile: true}
)

func (f *fixture) request(account string, terms billing.Terms) ledger.Start {
	return ledger.Start{Node: f.node, Account: account, Terms: terms, Card: card, From: "+34911234567", To: "+34612345678"}
}

func (f *fixture) start(account string, terms billing.Terms) *ledger.Session {
	f.t.Helper()
	s, err := f.StartSession(f.ctx(), f.request(account, terms))
	f.ok(err)
	return s
}

func (f *fixture) checkpoint(s *ledger.Session, seq int64, u billing.Usage) billing.Pots {
	f.t.Helper()
	p, err := f.Checkpoint(f.ctx(), ledger.Checkpoint{Session: s, Seq: seq, StartedAt: t0, Usage: u})
	f.ok(err)
	return p
}

func (f *fixture) closeWith(s *ledger.Session, u billing.Usage) billing.Money {
	f.t.Helper()
	m, err := f.CloseSession(f.ctx(), s, ledger.Closing{Reason: "user_hangup", StartedAt: t0, Usage: u})
	f.ok(err)
	return m
}

// verified ends the test unless every invariant holds.
func (f *fixture) verified() {
	f.t.Helper()
	for _, v := range f.violations() {
		f.t.Error(v)
	}
}

// violations are all but those of what sessions lasted: most of a fixture begin and end
// at t0, whatever they are said to have used.
func (f *fixture) violations() []verify.Violation {
	f.t.Helper()
	r, err := verify.Whole(context.WithoutCancel(f.ctx()), f.DB)
	f.ok(err)
	return slices.DeleteFunc(r.Violations, func(v verify.Violation) bool { return v.Invariant == 26 })
}

// price is what usage costs by terms.
func price(t rapid.TB, terms billing.Terms, u billing.Usage) billing.Money {
	t.Helper()
	tariff, err := card.Tariff(terms)
	if err != nil {
		t.Fatal(err)
	}
	b, err := tariff.Price(u)
	if err != nil {
		t.Fatal(err)
	}
	return b.Total()
}

// enqueue has f called when a job of a kind is put in line.
func enqueue(db *store.DB, kind store.Job, f store.Enqueue) {
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
