package ledger_test

import (
	"errors"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

func (f *fixture) bonus(account string, amount billing.Money, key string, expires time.Time) {
	f.T.Helper()
	_, _, err := f.Credit(f.Context(), ledger.Credit{Account: account, Kind: ledger.Bonus, Amount: amount, Key: key, ExpiresAt: expires})
	f.OK(err)
}

func TestCreditKinds(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	if f.Show(acc).FirstTopupAt != nil {
		t.Error("the welcome credit counts as a top-up")
	}
	f.bonus(acc, usd, "b", t0.Add(time.Hour))
	f.Adjust(acc, 16*usd)
	if f.Show(acc).FirstTopupAt != nil {
		t.Error("a bonus or an adjustment counts as a top-up")
	}
	f.PayIn(acc, 10*usd, "pi:1")
	f.Adjust(acc, -usd)
	f.Want(acc, billing.Pots{Paid: -7 * usd, Bonus: 6 * usd})
	if at := f.Show(acc).FirstTopupAt; at == nil || !at.Equal(t0) {
		t.Errorf("first top-up at %v", at)
	}
	ts, err := f.Transfers(f.Context(), acc, 0, 0)
	f.OK(err)
	var kinds []ledger.TransferKind
	for i, x := range ts {
		kinds = append(kinds, x.Kind)
		if x.Seq != int64(len(ts)-i) {
			t.Errorf("transfer %d has number %d", i, x.Seq)
		}
	}
	if len(kinds) != 5 || kinds[0] != ledger.Adjustment || kinds[1] != ledger.Topup || kinds[4] != ledger.Welcome || ts[0].BalanceAfter != -usd {
		t.Errorf("the ledger is %+v", ts)
	}
	page, err := f.Transfers(f.Context(), acc, 4, 2)
	f.OK(err)
	if len(page) != 2 || page[0].Seq != 3 || page[1].Seq != 2 {
		t.Errorf("the page below 4 is %+v", page)
	}
	f.Verified()
}

func TestCreditRefusals(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(0), f.NewAccount(0)
	f.PayIn(acc, 10*usd, "pi:1")
	good := ledger.Credit{Account: acc, Kind: ledger.Topup, Amount: 10 * usd, Key: "pi:1", Source: "sim"}
	for _, c := range []struct {
		name   string
		change func(*ledger.Credit)
		want   error
	}{
		{"the same again", func(*ledger.Credit) {}, nil},
		{"the same key for another amount", func(c *ledger.Credit) { c.Amount++ }, store.ErrIdempotency},
		{"for another account", func(c *ledger.Credit) { c.Account = other }, store.ErrIdempotency},
		{"for another kind", func(c *ledger.Credit) { c.Kind = ledger.Adjustment }, store.ErrIdempotency},
		{"no key", func(c *ledger.Credit) { c.Key = "" }, store.ErrInvalid},
		{"nothing", func(c *ledger.Credit) { c.Amount = 0 }, store.ErrInvalid},
		{"a negative top-up", func(c *ledger.Credit) { c.Amount = -usd }, store.ErrInvalid},
		{"no source", func(c *ledger.Credit) { c.Source = "" }, store.ErrInvalid},
		{"a customer's pot as source", func(c *ledger.Credit) { c.Source = "bonus" }, store.ErrInvalid},
		{"a bonus without an end", func(c *ledger.Credit) { c.Kind = ledger.Bonus }, store.ErrInvalid},
		{"a bonus of the past", func(c *ledger.Credit) { c.Kind, c.ExpiresAt = ledger.Bonus, t0 }, store.ErrInvalid},
		{"usage by hand", func(c *ledger.Credit) { c.Kind = ledger.UsageKind }, store.ErrInvalid},
		{"more than there is", func(c *ledger.Credit) { c.Amount = 1<<63 - 1 }, store.ErrInvalid},
		{"an unknown account", func(c *ledger.Credit) { c.Account, c.Key = "acc_nobody", "pi:2" }, store.ErrNotFound},
	} {
		credit := good
		c.change(&credit)
		if _, applied, err := f.Credit(f.Context(), credit); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) || applied {
			t.Errorf("%s: applied %v, %v; want %v", c.name, applied, err, c.want)
		}
	}
	f.Want(acc, billing.Pots{Paid: 10 * usd, Bonus: 5 * usd})
	f.Want(other, billing.Pots{Bonus: 5 * usd})
	f.Verified()
}

func TestLotsAreUsedSoonestExpiryFirst(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0) // 5 until day 90
	f.bonus(acc, usd, "late", t0.AddDate(0, 0, 100))
	f.bonus(acc, usd, "soon", t0.AddDate(0, 0, 10))
	f.CloseWith(f.Start(acc, web), billing.Usage{billing.WebSearches: 150}) // 1.50: soon, then half of welcome
	f.Want(acc, billing.Pots{Bonus: 550 * billing.Cent})
	for _, c := range []struct {
		days int
		left billing.Money
	}{{10, 550 * billing.Cent}, {90, usd}, {99, usd}, {100, 0}} {
		_, err := f.ExpireLots(f.At(t0.AddDate(0, 0, c.days)))
		f.OK(err)
		if got := f.Show(acc).Pots.Bonus; got != c.left {
			t.Errorf("after %d days: %s; want %s", c.days, got, c.left)
		}
		f.Verified()
	}
}

// What a session used before a credit's expiry is paid by it; what came after is not.
func TestExpiryDuringASession(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{}))
	s := f.Start(acc, web)
	f.MustCheckpoint(s, 1, billing.Usage{billing.WebSearches: 100, billing.AgentTime: 100})
	day90 := t0.AddDate(0, 0, 90)
	if n, err := f.ExpireLots(f.At(day90)); err != nil || n != 1 {
		t.Fatalf("%d accounts, %v", n, err)
	}
	first := price(t, web, billing.Usage{billing.WebSearches: 100, billing.AgentTime: 100})
	f.Want(acc, billing.Pots{Paid: 10 * usd})
	f.Verified()
	all := billing.Usage{billing.WebSearches: 150, billing.AgentTime: 1000, billing.ReplyIn: 7}
	p := f.MustCheckpoint(s, 2, all)
	if want := (billing.Pots{Paid: 10 * usd, AccruedAny: price(t, web, all) - first}); p != want {
		t.Errorf("after the expiry: %+v; want %+v", p, want)
	}
	if cost := f.CloseWith(s, all); cost != price(t, web, all) {
		t.Errorf("closed for %s", cost)
	}
	f.Want(acc, billing.Pots{Paid: 10*usd - (price(t, web, all) - first)})
	f.Verified()
}

// Nobody starts on credit that is over, even before it was swept away.
func TestExpiredCreditStartsNothing(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	if _, err := f.StartSession(f.At(t0.AddDate(0, 0, 90).Add(-time.Second)), f.Request(acc, web)); err != nil {
		t.Error("a second before:", err)
	}
	if _, err := f.StartSession(f.At(t0.AddDate(0, 0, 90)), f.Request(acc, web)); !errors.Is(err, store.ErrInsufficientBalance) {
		t.Errorf("at the expiry: %v", err)
	}
	f.Verified()
}

// A start that is refused because credit has expired ends that credit: the account is
// weighed as it is, and nobody has to look at its balance first.
func TestARefusalEndsExpiredCredit(t *testing.T) {
	f := setup(t)
	day91 := t0.AddDate(0, 0, 91)
	for name, refuse := range map[string]func(acc string) error{
		"start": func(acc string) error {
			_, err := f.StartSession(f.At(day91), f.Request(acc, web))
			return err
		},
		"line minute": func(acc string) error {
			in := f.Request(acc, inboundES)
			s, err := f.StartSession(f.Context(), in)
			f.OK(err)
			f.MustCheckpoint(s, 1, billing.Usage{billing.LineTime: 60_000, billing.AgentTime: 60_000, billing.WebSearches: 699})
			err = f.LineMinute(f.At(day91), s, 2)
			_, closed := f.CloseSession(f.At(day91), s, ledger.Closing{Reason: "balance_exhausted", StartedAt: t0})
			f.OK(closed)
			return err
		},
	} {
		acc := f.NewAccount(0)
		if err := refuse(acc); !errors.Is(err, store.ErrInsufficientBalance) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
		if a := f.Show(acc); a.Pots.Bonus != 0 {
			t.Errorf("%s: %v of bonus are left", name, a.Pots.Bonus)
		}
	}
	f.Verified()
}
