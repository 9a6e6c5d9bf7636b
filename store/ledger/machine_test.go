package ledger_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/ledger/verify"
	"parley/store/storetest"
)

// The store against a model of plain maps: random operations, every answer and
// every wallet compared, all invariants at the end. 25 runs of 50 operations by
// default; -rapid.checks=N for more.
func TestStoreBehavesLikeItsModel(t *testing.T) {
	f := setup(t)
	if runs := flag.Lookup("rapid.checks"); runs.Value.String() == runs.DefValue {
		f.OK(runs.Value.Set("25"))
		defer func() { f.OK(runs.Value.Set(runs.DefValue)) }()
	}
	followModel(t, f, 0)
	verifyModel(t, f.Books)
}

// TestSoakStoreBehavesLikeItsModel is the same at length: 100,000 operations.
func TestSoakStoreBehavesLikeItsModel(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set; TestStoreBehavesLikeItsModel is the short form")
	}
	const times = 20
	for i := range times {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			f := setup(t) // a fresh database: what earlier runs left slows nothing down
			followModel(t, f, i)
			verifyModel(t, f.Books)
		})
	}
}

func followModel(t *testing.T, f *fixture, part int) {
	runs := 0
	rapid.Check(t, func(rt *rapid.T) {
		runs++
		m := newMachine(rt, f.DB, fmt.Sprintf("%d-%d", part, runs))
		operations := slices.Sorted(maps.Keys(m.operations()))
		m.firstTopUps()
		for range 4 { // most operations need a session
			m.start()
		}
		for range 50 {
			name := rapid.SampledFrom(operations).Draw(rt, "do")
			m.now = m.now.Add(time.Duration(rapid.IntRange(0, 90).Draw(rt, "minutes")) * time.Minute)
			m.operations()[name]()
			m.compare(name)
		}
		m.handBack()
		if runs%20 == 0 {
			verifyModel(m.t, m.db)
		}
	})
}

// twin is what the model knows of an account.
type twin struct {
	id                string
	paid, any, paidBy billing.Money // paid pot; accrued by class
	held              billing.Money
	lots              []twinLot
	topup             bool
	disputed          bool
	suspended         bool
	override          int // 0: none
	live              int
	topups            []*twinTopUp
	numbers           []*twinNumber
	recharge          twinRecharge
	recharged         bool // it was ever set
}

type twinLot struct {
	left    billing.Money
	expires time.Time
}

func (a *twin) pots() billing.Pots {
	p := billing.Pots{Paid: a.paid, AccruedAny: a.any, AccruedPaid: a.paidBy, Held: a.held}
	for _, l := range a.lots {
		p.Bonus += l.left
	}
	return p
}

// twinSession is what the model knows of a session.
type twinSession struct {
	*ledger.Session
	acc            *twin
	open, started  bool
	ticket         string
	seq            int64
	used           billing.Usage
	amount, posted billing.Money
	granted        int64
	held           billing.Money
}

type machine struct {
	t        *rapid.T
	db       ledgertest.Books
	run      string
	now      time.Time
	nodes    []store.Node // the present life of each
	past     []store.Node // and lives that are over
	accounts []*twin
	sessions []*twinSession
	tasks    []*twinTask
	keys     int
	credits  []ledger.Credit // posted before
	looks    []twinLook
	events   map[string]bool   // settled before
	attempts map[string]string // account to the last attempt put in line
}

func newMachine(t *rapid.T, db *store.DB, run string) *machine {
	m := &machine{t: t, db: ledgertest.BooksOf(db), run: run, now: t0, events: map[string]bool{}, attempts: map[string]string{}}
	ledgertest.Enqueue(db, store.ChargeRecharge, m.noticed)
	for i := range 2 {
		a, err := m.db.CreateAccount(m.ctx(), "Model", card)
		m.ok(err)
		m.accounts = append(m.accounts, &twin{id: a.ID, lots: []twinLot{{5 * usd, t0.AddDate(0, 0, 90)}}})
		n, _, err := m.db.RegisterNode(m.ctx(), fmt.Sprintf("model-%s-%d", run, i), "")
		m.ok(err)
		m.nodes = append(m.nodes, n)
	}
	return m
}

func (m *machine) ctx() context.Context { return storetest.At(context.Background(), m.now) }

func (m *machine) ok(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// is ends the run unless err is want, which may be nil.
func (m *machine) is(err, want error) {
	m.t.Helper()
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		m.t.Fatalf("%v; want %v", err, want)
	}
}

func (m *machine) operations() map[string]func() {
	all := m.payments()
	maps.Copy(all, m.numbers())
	maps.Copy(all, m.recharges())
	maps.Copy(all, map[string]func(){
		"start": m.start, "start again": m.start, "start once more": m.start, "checkpoint": m.checkpoint, "checkpoint again": m.checkpoint, "batch": m.batch,
		"close": m.close, "minute": m.minute, "minutes": m.minutes, "credit": m.credit, "repeat credit": m.repeatCredit, "dispute": m.dispute,
		"crash": m.crash, "expire": m.expire, "submit": m.submit, "claim": m.claim, "complete": m.complete, "fail": m.failTask,
		"cancel": m.cancel, "release": m.release, "heartbeat": m.heartbeat, "reap": m.reap, "override": m.override, "suspend": m.suspend,
	})
	return all
}

// compare checks that each wallet is what the model says.
func (m *machine) compare(after string) {
	m.t.Helper()
	m.comparePayments(after)
	m.compareNumbers(after)
	m.compareRecharges(after)
	for _, a := range m.accounts {
		got, err := m.db.Account(m.ctx(), a.id)
		m.ok(err)
		if got.Pots != a.pots() || got.Live != a.live || (got.OpenDisputes > 0) != a.frozen() {
			m.t.Fatalf("after %s: %+v, %d live; the model says %+v, %d", after, got.Pots, got.Live, a.pots(), a.live)
		}
	}
}

// verifyModel wants all invariants but three: the model's sessions do not say goodbye at
// the floor, use at random, and no jobs run in it. What is found on all history is found
// by looking at what is new again and again.
func verifyModel(t rapid.TB, db ledgertest.Books) {
	t.Helper()
	for _, how := range []func(context.Context, verify.Database) (*verify.Report, error){verify.Recent, verify.Whole} {
		r, err := how(context.Background(), db.DB)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range r.Violations {
			if v.Invariant != 16 && v.Invariant != 26 && v.Invariant != 28 {
				t.Error(v)
			}
		}
	}
}

// settle is what every locked transaction does first: end expired credit.
func (m *machine) settle(a *twin) {
	expired := slices.ContainsFunc(a.lots, func(l twinLot) bool { return l.left > 0 && !m.now.Before(l.expires) })
	if !expired {
		return
	}
	for _, s := range m.sessions {
		if s.acc == a && s.open && s.Terms.Kind != billing.Outbound {
			m.post(s)
		}
	}
	for i, l := range a.lots {
		if !m.now.Before(l.expires) {
			a.lots[i].left = 0
		}
	}
}

// post moves what a session used into the pots.
func (m *machine) post(s *twinSession) {
	total := price(m.t, s.Terms, s.used)
	due, accrued := total-s.posted, s.amount-s.posted
	s.amount, s.posted = total, total
	if s.Terms.Kind == billing.Outbound {
		s.acc.paidBy -= accrued
		s.acc.paid -= due
		return
	}
	s.acc.any -= accrued
	slices.SortStableFunc(s.acc.lots, func(x, y twinLot) int { return x.expires.Compare(y.expires) })
	for i := range s.acc.lots {
		take := min(due, s.acc.lots[i].left)
		s.acc.lots[i].left -= take
		due -= take
	}
	s.acc.paid -= due
}
