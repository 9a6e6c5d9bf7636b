package ledger_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/sip/carrier"
	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
)

const (
	day  = 24 * time.Hour
	mine = "+34911234567"
)

var monthly = card.NumberPerMonth()

// order asks for a number of the carrier "acme".
func (f *fixture) order(account, e164 string, now time.Time) (*numbers.Number, error) {
	return f.Numbers.Order(f.at(now), numbers.Order{Account: account, E164: e164, Country: "ES", Carrier: "acme",
		Monthly: billing.USD, Card: card})
}

// carrierSays settles an order.
func (f *fixture) carrierSays(n *numbers.Number, state carrier.State, now time.Time) *numbers.Number {
	f.t.Helper()
	o := carrier.Ordered{State: state, Number: n.E164}
	if state == carrier.Active {
		o.NumberID = "acme-" + n.ID
	}
	got, err := f.Numbers.Reconcile(f.at(now), n.Account, n.ID, o)
	f.ok(err)
	return got
}

// buy makes the account the owner of a number.
func (f *fixture) buy(account, e164 string, now time.Time) *numbers.Number {
	f.t.Helper()
	n, err := f.order(account, e164, now)
	f.ok(err)
	n = f.carrierSays(n, carrier.Active, now)
	if n.State != numbers.Owned {
		f.t.Fatalf("bought: %+v", n)
	}
	return n
}

// months charges what is due.
func (f *fixture) months(now time.Time) numbers.Months {
	f.t.Helper()
	sum, err := f.Numbers.Charge(f.at(now), card)
	f.ok(err)
	return sum
}

// monthsPaid lists the days on which the account was charged for numbers, oldest first.
func (f *fixture) monthsPaid(account string) (days []string) {
	f.t.Helper()
	all, err := f.Transfers(f.ctx(), account, 0, 0)
	f.ok(err)
	for _, t := range slices.Backward(all) {
		if t.Component() == "number" {
			days = append(days, t.CreatedAt.Format(time.DateOnly))
		}
	}
	return days
}

func (f *fixture) state(n *numbers.Number) numbers.State {
	f.t.Helper()
	got, err := f.Numbers.Number(f.ctx(), n.Account, n.ID)
	if errors.Is(err, store.ErrNotFound) {
		return "lost"
	}
	f.ok(err)
	return got.State
}

// routes says whether calls to the number are answered.
func (f *fixture) routes(n *numbers.Number) bool {
	f.t.Helper()
	r, err := f.Numbers.Route(f.ctx(), n.E164)
	if errors.Is(err, store.ErrNotFound) {
		return false
	}
	f.ok(err)
	return r.Number == n.ID
}

func TestThirteenMonthsFromTheLastOfJanuary(t *testing.T) {
	f := setup(t)
	acc := f.account(100 * usd)
	start := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
	n := f.buy(acc, mine, start)
	for at := start; at.Before(start.AddDate(0, 0, 396)); at = at.Add(11 * time.Hour) {
		f.months(at)
	}
	got := f.monthsPaid(acc)
	want := "2026-01-31 2026-02-28 2026-03-31 2026-04-30 2026-05-31 2026-06-30 2026-07-31 2026-08-31 2026-09-30 2026-10-31 2026-11-30 2026-12-31 2027-01-31 2027-02-28"
	for i, d := range strings.Fields(want) { // noticed within 11 hours of 10:00
		at, err := time.Parse(time.DateOnly, d)
		f.ok(err)
		if i >= len(got) || got[i] != d && got[i] != at.AddDate(0, 0, 1).Format(time.DateOnly) {
			t.Fatalf("charged %v", got)
		}
	}
	if len(got) != 14 || f.state(n) != numbers.Owned {
		t.Errorf("charged %v, is %s", got, f.state(n))
	}
	now, err := f.Numbers.Number(f.ctx(), acc, n.ID)
	f.ok(err)
	if want := time.Date(2027, 3, 31, 10, 0, 0, 0, time.UTC); !now.NextChargeAt.Equal(want) {
		t.Errorf("next is %s, want %s", now.NextChargeAt, want)
	}
	f.want(acc, billing.Pots{Paid: 100*usd - 14*monthly}) // the welcome credit has ended
	f.verified()
}

// A server that was down for months charges each of them; where the money ends, the
// number is lost as it would have been.
func TestMonthsAreCaughtUp(t *testing.T) {
	f := setup(t)
	rich, poor, just := f.account(100*usd), f.account(12*usd), f.account(16*usd)
	a, b, c := f.buy(rich, mine, t0), f.buy(poor, "+34911234568", t0), f.buy(just, "+34911234569", t0)
	late := billing.Month(t0, 3).Add(5 * day) // of three months one and two can be paid
	sum := f.months(late)
	if (sum != numbers.Months{Charged: 3 + 1 + 2, Unpaid: 1, Released: 1}) {
		t.Errorf("%+v", sum)
	}
	if f.state(a) != numbers.Owned || f.state(b) != "lost" || f.state(c) != numbers.Grace {
		t.Errorf("%s, %s, %s", f.state(a), f.state(b), f.state(c))
	}
	if again := f.months(late); again != (numbers.Months{}) {
		t.Errorf("again: %+v", again)
	}
	f.verified()
}

func TestGraceLastsThirtyDays(t *testing.T) {
	f := setup(t)
	acc := f.account(9 * usd)
	n := f.buy(acc, mine, t0)
	due := billing.Month(t0, 1)
	f.months(due.Add(-time.Microsecond))
	if f.state(n) != numbers.Owned {
		t.Fatal("charged early")
	}
	f.months(due)
	for at := due; at.Before(due.Add(30 * day)); at = at.Add(12 * time.Hour) {
		f.months(at)
		got, err := f.Numbers.Number(f.ctx(), acc, n.ID)
		f.ok(err)
		if got.State != numbers.Grace || !got.GraceUntil.Equal(due.Add(30*day)) || !f.routes(n) {
			t.Fatalf("%s: %+v", at, got)
		}
	}
	f.months(due.Add(30*day - time.Microsecond))
	f.verified()
	if sum := f.months(due.Add(30 * day)); sum.Released != 1 {
		t.Errorf("%+v", sum)
	}
	if f.state(n) != "lost" || f.routes(n) {
		t.Errorf("after 30 days it is %s and routes: %v", f.state(n), f.routes(n))
	}
	f.topup(acc, 100*usd, "late") // it cannot be recovered
	f.months(due.Add(31 * day))
	f.want(acc, billing.Pots{Paid: 104 * usd, Bonus: 5 * usd})
	f.warned(acc, "number.past_due", "number.released")
	// Nobody can have it before the carrier has it back.
	if _, err := f.order(f.account(10*usd), mine, due.Add(31*day)); !errors.Is(err, store.ErrNumberTaken) {
		t.Errorf("while it is released: %v", err)
	}
	if got, err := f.Numbers.Claim(f.at(due.Add(31*day)), "acme", 10); err != nil || len(got) != 1 || got[0].State != numbers.Releasing {
		t.Fatalf("%v, %v", got, err)
	}
	f.ok(f.Numbers.FinishRelease(f.ctx(), n.ID))
	f.buy(f.account(10*usd), mine, due.Add(31*day))
	f.verified()
}

// warned checks the kinds of warnings about numbers, oldest first, none of which
// holds any more but the last.
func (f *fixture) warned(account string, kinds ...store.WarningKind) {
	f.t.Helper()
	all, err := f.Warnings(f.ctx(), account, store.Page{})
	f.ok(err)
	var got []store.WarningKind
	for _, w := range slices.Backward(all) {
		if strings.HasPrefix(string(w.Kind), "number.") {
			got = append(got, w.Kind)
			if w.ClearedAt == nil {
				f.t.Errorf("%s still holds", w.Kind)
			}
		}
	}
	if !slices.Equal(got, kinds) {
		f.t.Errorf("warned of %v, want %v", got, kinds)
	}
}

func TestMoneyDuringGraceKeepsTheNumber(t *testing.T) {
	due := billing.Month(t0, 1)
	in := func(c ledger.Credit) func(*fixture, string) {
		return func(f *fixture, acc string) {
			c.Account, c.Key = acc, "grace:"+acc
			_, _, err := f.Credit(f.at(due.Add(10*day)), c)
			f.ok(err)
		}
	}
	for name, test := range map[string]struct {
		credit func(*fixture, string)
		state  numbers.State
	}{
		"a top-up":                 {in(ledger.Credit{Kind: ledger.Topup, Amount: monthly - 4*usd, Source: "sim"}), numbers.Owned},
		"a correction":             {in(ledger.Credit{Kind: ledger.Adjustment, Amount: monthly}), numbers.Owned},
		"too little":               {in(ledger.Credit{Kind: ledger.Topup, Amount: monthly - 4*usd - 1, Source: "sim"}), numbers.Grace},
		"credit that is not money": {in(ledger.Credit{Kind: ledger.Bonus, Amount: 50 * usd, ExpiresAt: due.AddDate(1, 0, 0)}), numbers.Grace},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			acc := f.account(9 * usd)
			n := f.buy(acc, mine, t0)
			f.months(due)
			f.months(due.Add(10*day - time.Minute)) // the next try is a day away
			test.credit(f, acc)
			f.months(due.Add(10*day + time.Minute))
			if got := f.state(n); got != test.state {
				t.Errorf("the number is %s, want %s", got, test.state)
			}
			if got, _ := f.Numbers.Number(f.ctx(), acc, n.ID); got.State == numbers.Owned && !got.NextChargeAt.Equal(billing.Month(t0, 2)) {
				t.Errorf("the next month begins %s", got.NextChargeAt)
			}
			f.verified()
		})
	}
}

// Nothing is taken from an account in a dispute, however much it has, and the days run.
func TestDisputeDuringGrace(t *testing.T) {
	f := setup(t)
	acc := f.account(100 * usd)
	a, b := f.buy(acc, mine, t0), f.buy(acc, "+34911234568", t0.Add(20*day))
	f.ok(f.OpenDispute(f.at(t0.Add(time.Hour)), acc, "pi_1"))
	due := billing.Month(t0, 1)
	for at := due; !at.After(due.Add(30 * day)); at = at.Add(6 * time.Hour) {
		f.months(at)
	}
	if f.state(a) != "lost" || f.state(b) != numbers.Grace || len(f.monthsPaid(acc)) != 2 {
		t.Errorf("%s, %s, charged %v", f.state(a), f.state(b), f.monthsPaid(acc))
	}
	f.verified()
	f.ok(f.ResolveDispute(f.at(due.Add(30*day)), acc, "pi_1"))
	f.months(due.Add(30*day + time.Minute))
	if f.state(b) != numbers.Owned || len(f.monthsPaid(acc)) != 3 {
		t.Errorf("after the dispute: %s, charged %v", f.state(b), f.monthsPaid(acc))
	}
	f.verified()
}

// A month costs what the card says on the day it is charged, and names that card.
func TestMonthsAreChargedByTheCardInForce(t *testing.T) {
	f := setup(t)
	acc := f.account(100 * usd)
	f.buy(acc, mine, t0)
	dearer, err := billing.ParseRateCard([]byte(strings.Replace(strings.Replace(string(card.JSON()),
		`"number_per_month":5`, `"number_per_month":7.5`, 1), card.Version(), "2026-03-15.1", 1)))
	f.ok(err)
	f.ok(f.PutRateCard(f.ctx(), dearer))
	_, err = f.Numbers.Charge(f.at(billing.Month(t0, 1)), dearer)
	f.ok(err)
	all, err := f.Transfers(f.ctx(), acc, 0, 2)
	f.ok(err)
	for i, want := range []struct {
		amount  billing.Money
		version string
	}{{15 * usd / 2, "2026-03-15.1"}, {5 * usd, card.Version()}} {
		if all[i].Amount != want.amount || *all[i].PriceVersion != want.version {
			t.Errorf("%+v by %s, want %+v", all[i], *all[i].PriceVersion, want)
		}
	}
	f.verified()
}

// A call in progress may owe; a month may not be paid with that.
func TestOverdraftPaysNoMonths(t *testing.T) {
	f := setup(t)
	acc := f.account(2*monthly + usd)
	n := f.buy(acc, mine, t0)
	s := f.start(acc, outboundES)
	used := billing.Usage{billing.AgentTime: 20 * 60_000}
	f.checkpoint(s, 1, used) // above a dollar, not posted
	f.months(billing.Month(t0, 1))
	if f.state(n) != numbers.Grace {
		t.Errorf("with %s left a month of %s was paid: %s", f.show(acc).Pots.PaidLeft(), monthly, f.state(n))
	}
	f.closeWith(s, used)
	f.verified()
}

func TestNumbersByHandStayFree(t *testing.T) {
	f := setup(t)
	acc := f.account(100 * usd)
	n, err := f.Numbers.Import(f.ctx(), acc, mine, "")
	f.ok(err)
	if sum := f.months(t0.AddDate(5, 0, 0)); sum != (numbers.Months{}) || n.Bought() || f.state(n) != numbers.Owned {
		t.Errorf("%+v, %s", sum, f.state(n))
	}
	if got, err := f.Numbers.Claim(f.at(t0.AddDate(5, 0, 0)), "", 10); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	f.ok(f.Numbers.Release(f.ctx(), acc, n.ID))
	if _, err := f.Numbers.Import(f.ctx(), acc, mine, ""); err != nil {
		t.Error("again: ", err)
	}
	f.want(acc, billing.Pots{Paid: 100 * usd, Bonus: 5 * usd})
	f.verified()
}
