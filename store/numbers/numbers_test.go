package numbers_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/numbers"
)

const (
	day  = 24 * time.Hour
	mine = "+34911234567"
)

var monthly = card.NumberPerMonth()

// monthsPaid lists the days on which the account was charged for numbers, oldest first.
func (f *fixture) monthsPaid(account string) (days []string) {
	f.T.Helper()
	all, err := f.Transfers(f.Context(), account, 0, 0)
	f.OK(err)
	for _, t := range slices.Backward(all) {
		if t.Component() == "number" {
			days = append(days, t.CreatedAt.Format(time.DateOnly))
		}
	}
	return days
}

func (f *fixture) state(n *numbers.Number) numbers.State {
	f.T.Helper()
	got, err := f.Numbers.Number(f.Context(), n.Account, n.ID)
	if errors.Is(err, store.ErrNotFound) {
		return "lost"
	}
	f.OK(err)
	return got.State
}

// routes says whether calls to the number are answered.
func (f *fixture) routes(n *numbers.Number) bool {
	f.T.Helper()
	r, err := f.Numbers.Route(f.Context(), n.E164)
	if errors.Is(err, store.ErrNotFound) {
		return false
	}
	f.OK(err)
	return r.Number == n.ID
}

func TestThirteenMonthsFromTheLastOfJanuary(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	start := time.Date(2026, 1, 31, 10, 0, 0, 0, time.UTC)
	n := f.Buy(acc, mine, start)
	for at := start; at.Before(start.AddDate(0, 0, 396)); at = at.Add(11 * time.Hour) {
		f.Months(at)
	}
	got := f.monthsPaid(acc)
	want := "2026-01-31 2026-02-28 2026-03-31 2026-04-30 2026-05-31 2026-06-30 2026-07-31 2026-08-31 2026-09-30 2026-10-31 2026-11-30 2026-12-31 2027-01-31 2027-02-28"
	for i, d := range strings.Fields(want) { // noticed within 11 hours of 10:00
		at, err := time.Parse(time.DateOnly, d)
		f.OK(err)
		if i >= len(got) || got[i] != d && got[i] != at.AddDate(0, 0, 1).Format(time.DateOnly) {
			t.Fatalf("charged %v", got)
		}
	}
	if len(got) != 14 || f.state(n) != numbers.Owned {
		t.Errorf("charged %v, is %s", got, f.state(n))
	}
	now, err := f.Numbers.Number(f.Context(), acc, n.ID)
	f.OK(err)
	if want := time.Date(2027, 3, 31, 10, 0, 0, 0, time.UTC); !now.NextChargeAt.Equal(want) {
		t.Errorf("next is %s, want %s", now.NextChargeAt, want)
	}
	f.Want(acc, billing.Pots{Paid: 100*usd - 14*monthly}) // the welcome credit has ended
	f.Verified()
}

// A server that was down for months charges each of them; where the money ends, the
// number is lost as it would have been.
func TestMonthsAreCaughtUp(t *testing.T) {
	f := setup(t)
	rich, poor, just := f.NewAccount(100*usd), f.NewAccount(12*usd), f.NewAccount(16*usd)
	a, b, c := f.Buy(rich, mine, t0), f.Buy(poor, "+34911234568", t0), f.Buy(just, "+34911234569", t0)
	late := billing.Month(t0, 3).Add(5 * day) // of three months one and two can be paid
	sum := f.Months(late)
	if (sum != numbers.Months{Charged: 3 + 1 + 2, Unpaid: 1, Released: 1}) {
		t.Errorf("%+v", sum)
	}
	if f.state(a) != numbers.Owned || f.state(b) != "lost" || f.state(c) != numbers.Grace {
		t.Errorf("%s, %s, %s", f.state(a), f.state(b), f.state(c))
	}
	if again := f.Months(late); again != (numbers.Months{}) {
		t.Errorf("again: %+v", again)
	}
	f.Verified()
}

func TestGraceLastsThirtyDays(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(9 * usd)
	n := f.Buy(acc, mine, t0)
	due := billing.Month(t0, 1)
	f.Months(due.Add(-time.Microsecond))
	if f.state(n) != numbers.Owned {
		t.Fatal("charged early")
	}
	f.Months(due)
	for at := due; at.Before(due.Add(30 * day)); at = at.Add(12 * time.Hour) {
		f.Months(at)
		got, err := f.Numbers.Number(f.Context(), acc, n.ID)
		f.OK(err)
		if got.State != numbers.Grace || !got.GraceUntil.Equal(due.Add(30*day)) || !f.routes(n) {
			t.Fatalf("%s: %+v", at, got)
		}
	}
	f.Months(due.Add(30*day - time.Microsecond))
	f.Verified()
	if sum := f.Months(due.Add(30 * day)); sum.Released != 1 {
		t.Errorf("%+v", sum)
	}
	if f.state(n) != "lost" || f.routes(n) {
		t.Errorf("after 30 days it is %s and routes: %v", f.state(n), f.routes(n))
	}
	f.PayIn(acc, 100*usd, "late") // it cannot be recovered
	f.Months(due.Add(31 * day))
	f.Want(acc, billing.Pots{Paid: 104 * usd, Bonus: 5 * usd})
	f.warned(acc, "number.past_due", "number.released")
	// Nobody can have it before the carrier has it back.
	if _, err := f.Order(f.NewAccount(10*usd), mine, due.Add(31*day)); !errors.Is(err, store.ErrNumberTaken) {
		t.Errorf("while it is released: %v", err)
	}
	if got, err := f.Numbers.Claim(f.At(due.Add(31*day)), "acme", 10); err != nil || len(got) != 1 || got[0].State != numbers.Releasing {
		t.Fatalf("%v, %v", got, err)
	}
	f.OK(f.Numbers.FinishRelease(f.Context(), n.ID))
	f.Buy(f.NewAccount(10*usd), mine, due.Add(31*day))
	f.Verified()
}

// warned checks the kinds of warnings about numbers, oldest first, none of which
// holds any more but the last.
func (f *fixture) warned(account string, kinds ...store.WarningKind) {
	f.T.Helper()
	all, err := f.Warnings(f.Context(), account, store.Page{})
	f.OK(err)
	var got []store.WarningKind
	for _, w := range slices.Backward(all) {
		if strings.HasPrefix(string(w.Kind), "number.") {
			got = append(got, w.Kind)
			if w.ClearedAt == nil {
				f.T.Errorf("%s still holds", w.Kind)
			}
		}
	}
	if !slices.Equal(got, kinds) {
		f.T.Errorf("warned of %v, want %v", got, kinds)
	}
}

func TestMoneyDuringGraceKeepsTheNumber(t *testing.T) {
	due := billing.Month(t0, 1)
	in := func(c ledger.Credit) func(*fixture, string) {
		return func(f *fixture, acc string) {
			c.Account, c.Key = acc, "grace:"+acc
			_, _, err := f.Credit(f.At(due.Add(10*day)), c)
			f.OK(err)
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
			acc := f.NewAccount(9 * usd)
			n := f.Buy(acc, mine, t0)
			f.Months(due)
			f.Months(due.Add(10*day - time.Minute)) // the next try is a day away
			test.credit(f, acc)
			f.Months(due.Add(10*day + time.Minute))
			if got := f.state(n); got != test.state {
				t.Errorf("the number is %s, want %s", got, test.state)
			}
			if got, _ := f.Numbers.Number(f.Context(), acc, n.ID); got.State == numbers.Owned && !got.NextChargeAt.Equal(billing.Month(t0, 2)) {
				t.Errorf("the next month begins %s", got.NextChargeAt)
			}
			f.Verified()
		})
	}
}

// Nothing is taken from an account in a dispute, however much it has, and the days run.
func TestDisputeDuringGrace(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	a, b := f.Buy(acc, mine, t0), f.Buy(acc, "+34911234568", t0.Add(20*day))
	f.OK(f.OpenDispute(f.At(t0.Add(time.Hour)), acc, "pi_1"))
	due := billing.Month(t0, 1)
	for at := due; !at.After(due.Add(30 * day)); at = at.Add(6 * time.Hour) {
		f.Months(at)
	}
	if f.state(a) != "lost" || f.state(b) != numbers.Grace || len(f.monthsPaid(acc)) != 2 {
		t.Errorf("%s, %s, charged %v", f.state(a), f.state(b), f.monthsPaid(acc))
	}
	f.Verified()
	f.OK(f.ResolveDispute(f.At(due.Add(30*day)), acc, "pi_1"))
	f.Months(due.Add(30*day + time.Minute))
	if f.state(b) != numbers.Owned || len(f.monthsPaid(acc)) != 3 {
		t.Errorf("after the dispute: %s, charged %v", f.state(b), f.monthsPaid(acc))
	}
	f.Verified()
}

// A month costs what the card says on the day it is charged, and names that card.
func TestMonthsAreChargedByTheCardInForce(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	f.Buy(acc, mine, t0)
	dearer, err := billing.ParseRateCard([]byte(strings.Replace(strings.Replace(string(card.JSON()),
		`"number_per_month":5`, `"number_per_month":7.5`, 1), card.Version(), "2026-03-15.1", 1)))
	f.OK(err)
	f.OK(f.PutRateCard(f.Context(), dearer))
	_, err = f.Numbers.Charge(f.At(billing.Month(t0, 1)), dearer)
	f.OK(err)
	all, err := f.Transfers(f.Context(), acc, 0, 2)
	f.OK(err)
	for i, want := range []struct {
		amount  billing.Money
		version string
	}{{15 * usd / 2, "2026-03-15.1"}, {5 * usd, card.Version()}} {
		if all[i].Amount != want.amount || *all[i].PriceVersion != want.version {
			t.Errorf("%+v by %s, want %+v", all[i], *all[i].PriceVersion, want)
		}
	}
	f.Verified()
}

// A call in progress may owe; a month may not be paid with that.
func TestOverdraftPaysNoMonths(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(2*monthly + usd)
	n := f.Buy(acc, mine, t0)
	s := f.Start(acc, ledgertest.OutboundES)
	used := billing.Usage{billing.AgentTime: 20 * 60_000}
	f.MustCheckpoint(s, 1, used) // above a dollar, not posted
	f.Months(billing.Month(t0, 1))
	if f.state(n) != numbers.Grace {
		t.Errorf("with %s left a month of %s was paid: %s", f.Show(acc).Pots.PaidLeft(), monthly, f.state(n))
	}
	f.CloseWith(s, used)
	f.Verified()
}

func TestNumbersByHandStayFree(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	n, err := f.Numbers.Import(f.Context(), acc, mine, "")
	f.OK(err)
	if sum := f.Months(t0.AddDate(5, 0, 0)); sum != (numbers.Months{}) || n.Bought() || f.state(n) != numbers.Owned {
		t.Errorf("%+v, %s", sum, f.state(n))
	}
	if got, err := f.Numbers.Claim(f.At(t0.AddDate(5, 0, 0)), "", 10); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	f.OK(f.Numbers.Release(f.Context(), acc, n.ID))
	if _, err := f.Numbers.Import(f.Context(), acc, mine, ""); err != nil {
		t.Error("again: ", err)
	}
	f.Want(acc, billing.Pots{Paid: 100 * usd, Bonus: 5 * usd})
	f.Verified()
}
