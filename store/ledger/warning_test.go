package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/ledger/verify"
	"parley/store/storetest"
)

// warnings are the account's of a kind, oldest first.
func (f *fixture) warnings(account string, kind store.WarningKind) (list []store.Warning) {
	f.T.Helper()
	all, err := f.Warnings(f.Context(), account, store.Page{})
	f.OK(err)
	for _, w := range slices.Backward(all) {
		if w.Account != account {
			f.T.Errorf("somebody else's: %+v", w)
		}
		if w.Kind == kind {
			list = append(list, w)
		}
	}
	return list
}

// holding are the kinds of warnings that still hold, in the balance.
func (f *fixture) holding(account string, now time.Time) (kinds []store.WarningKind) {
	f.T.Helper()
	b, err := f.Balance(f.At(now), account)
	f.OK(err)
	for _, w := range b.Warnings {
		kinds = append(kinds, w.Kind)
	}
	return kinds
}

// TestLowBalance is noticed by whatever takes the balance below the mark, once for
// each time that it falls, and over when it is not below it any more.
func TestLowBalance(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0) // 5 USD of welcome credit: at the mark
	s := f.Start(acc, web)
	want := func(what string, n int, low bool) []store.Warning {
		t.Helper()
		list := f.warnings(acc, store.WarnBalanceLow)
		open := 0
		for _, w := range list {
			if w.ClearedAt == nil {
				open++
			}
		}
		b, err := f.Balance(f.Context(), acc)
		f.OK(err)
		if len(list) != n || (open == 1) != low || open > 1 || (b.LowSince != nil) != low || (len(f.holding(acc, t0)) == 1) != low || b.LowMark != 5*usd {
			t.Fatalf("%s: %+v, since %v; want %d, now: %v", what, list, b.LowSince, n, low)
		}
		return list
	}
	want("at the mark", 0, false)
	f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 1000})
	list := want("a checkpoint below it", 1, true)
	if d := list[0].Data; d.Balance == nil || *d.Balance != f.Show(acc).Balance() || d.Threshold == nil || *d.Threshold != 5*usd || !list[0].CreatedAt.Equal(t0) {
		t.Errorf("%+v", list[0])
	}
	f.MustCheckpoint(s, 2, billing.Usage{billing.AgentTime: 2000})
	f.CloseWith(s, billing.Usage{billing.AgentTime: 3000})
	want("further down", 1, true)
	f.PayIn(acc, 10*usd, "pi:up")
	want("up", 1, false)
	s = f.Start(acc, web)
	f.CloseWith(s, billing.Usage{billing.TTSChars: 0, billing.ReplyOut: 20_000_000})
	want("down by a session that reports at its end only", 2, true)
	f.Adjust(acc, 5*usd)
	want("up to the mark", 2, false)
	f.Adjust(acc, 5*usd-1)
	want("down by an operator", 3, true)
	f.Verified()
}

// TestLowBalanceByBatch: in a batch of several accounts' sessions each that falls is
// warned, and nobody else.
func TestLowBalanceByBatch(t *testing.T) {
	f := setup(t)
	falls, stays := f.NewAccount(0), f.NewAccount(10*usd)
	var batch []ledger.Checkpoint
	for _, acc := range []string{falls, stays, falls} {
		batch = append(batch, ledger.Checkpoint{Session: f.Start(acc, web), Seq: 1, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: 1000}})
	}
	_, err := f.Checkpoints(f.Context(), batch)
	f.OK(err)
	if a, b := len(f.warnings(falls, store.WarnBalanceLow)), len(f.warnings(stays, store.WarnBalanceLow)); a != 1 || b != 0 {
		t.Errorf("%d and %d warnings", a, b)
	}
}

// TestLowBalanceByExpiry: credit that expires takes the balance down too, whoever
// notices.
func TestLowBalanceByExpiry(t *testing.T) {
	later := t0.AddDate(0, 0, 91)
	for name, notice := range map[string]func(*fixture, string) error{
		"the round": func(f *fixture, _ string) error { _, err := f.ExpireLots(f.At(later)); return err },
		"a look":    func(f *fixture, acc string) error { _, err := f.Balance(f.At(later), acc); return err },
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			acc := f.NewAccount(3 * usd)
			f.OK(notice(f, acc))
			if list := f.warnings(acc, store.WarnBalanceLow); len(list) != 1 || *list[0].Data.Balance != 3*usd || !list[0].CreatedAt.Equal(later) {
				t.Errorf("%+v", list)
			}
		})
	}
}

// TestAccountsThatBeginLow are not warned of what has not fallen.
func TestAccountsThatBeginLow(t *testing.T) {
	f := setup(t)
	poor := cardWith(t, map[string]string{"version: 2026-01-15.1": "version: 2026-02-01.1", "signup_bonus: 5": "signup_bonus: 0"})
	f.OK(f.PutRateCard(f.Context(), poor))
	a, err := f.CreateAccount(f.Context(), "Poor", poor)
	f.OK(err)
	f.PayIn(a.ID, 2*usd, "pi:1")
	if list := f.warnings(a.ID, store.WarnBalanceLow); len(list) != 0 {
		t.Errorf("%+v", list)
	}
	f.PayIn(a.ID, 10*usd, "pi:2")
	f.Adjust(a.ID, usd)
	if list := f.warnings(a.ID, store.WarnBalanceLow); len(list) != 1 {
		t.Errorf("%+v", list)
	}
}

// TestFiftyCrossings at once, by calls and by the operator, are one.
func TestFiftyCrossings(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(100 * usd)
	limit := 30
	f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Concurrency: &limit}))
	f.Adjust(acc, 5*usd)
	var sessions []*ledger.Session
	for range 25 {
		sessions = append(sessions, f.Start(acc, web))
	}
	together(50, func(i int) {
		var err error
		if i < 25 {
			_, err = f.Checkpoint(f.Context(), ledger.Checkpoint{Session: sessions[i], Seq: 1, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: 1000}})
		} else {
			_, _, err = f.Credit(f.Context(), ledger.Credit{Account: acc, Kind: ledger.Adjustment, Amount: -1, Key: fmt.Sprint("down", i)})
		}
		if err != nil {
			t.Error(err)
		}
	})
	if list := f.warnings(acc, store.WarnBalanceLow); len(list) != 1 {
		t.Errorf("%d warnings: %+v", len(list), list)
	}
	f.Verified()
}

// TestWarningsOfDisputes: one for each dispute, by the provider or an operator, until
// it is resolved.
func TestWarningsOfDisputes(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	top := f.Begun(acc, 20*usd)
	n := 0
	event := func(kind payment.Kind, ref string) {
		t.Helper()
		n++
		f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{ID: fmt.Sprint(n), Kind: kind, Dispute: payment.Dispute{Ref: ref, Amount: 15 * usd}})
	}
	want := func(what string, all int, open ...string) []store.Warning {
		t.Helper()
		list := f.warnings(acc, store.WarnDisputeOpened)
		var got []string
		for _, w := range list {
			if w.ClearedAt == nil {
				got = append(got, w.Data.Dispute)
			}
		}
		slices.Sort(got) // their times are the same
		slices.Sort(open)
		if len(list) != all || !slices.Equal(got, open) || f.Show(acc).OpenDisputes != len(open) {
			t.Fatalf("%s: %+v; want %d, open %v", what, list, all, open)
		}
		return list
	}
	event(payment.DisputeOpened, "dp_a")
	if w := want("by the provider", 1, "dp_a")[0]; w.Data.Amount == nil || *w.Data.Amount != 15*usd {
		t.Errorf("%+v", w)
	}
	event(payment.DisputeOpened, "dp_a")
	event(payment.DisputeFundsWithdrawn, "dp_a")
	f.OK(f.OpenDispute(f.Context(), acc, "dp_a"))
	want("told again, and by an operator too", 1, "dp_a")
	f.OK(f.OpenDispute(f.Context(), acc, "by hand"))
	f.OK(f.OpenDispute(f.Context(), acc, "by hand"))
	want("another by an operator", 2, "dp_a", "by hand")
	event(payment.DisputeWon, "dp_a")
	want("won", 2, "by hand")
	event(payment.DisputeOpened, "by hand")
	want("the operator's was the provider's", 2, "by hand")
	event(payment.DisputeLost, "by hand")
	want("lost", 2, "by hand")
	f.OK(f.ResolveDispute(f.Context(), acc, ""))
	want("resolved", 2)
	f.OK(f.OpenDispute(f.Context(), acc, "by hand"))
	want("another of the same name", 3, "by hand")
	f.OK(f.ResolveDispute(f.Context(), acc, "by hand"))
	want("resolved by name", 3)
	f.Verified()
}

// TestRolledBack: what did not happen is not warned of, and is once it does.
func TestRolledBack(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	s := f.Start(acc, web)
	var away atomic.Bool
	var asked atomic.Int32
	gone := errors.New("the queue is away")
	ledgertest.Enqueue(f.DB, store.SendWarnings, func(context.Context, pgx.Tx, string, string) error {
		asked.Add(1)
		if away.Load() {
			return gone
		}
		return nil
	})
	away.Store(true)
	_, _, err := f.Credit(f.Context(), ledger.Credit{Account: acc, Kind: ledger.Adjustment, Amount: -usd, Key: "down"})
	if !errors.Is(err, gone) || f.Show(acc).Balance() != 5*usd {
		t.Errorf("%v, %s", err, f.Show(acc).Balance())
	}
	if err := f.OpenDispute(f.Context(), acc, "dp"); !errors.Is(err, gone) || f.Show(acc).OpenDisputes != 0 {
		t.Errorf("%v", err)
	}
	// A checkpoint is stored all the same.
	if _, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: s, Seq: 1, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: 60_000}}); !errors.Is(err, gone) {
		t.Error(err)
	}
	if f.Show(acc).Pots.AccruedAny == 0 || asked.Load() != 3 {
		t.Errorf("%+v, asked %d times", f.Show(acc).Pots, asked.Load())
	}
	if all, err := f.Warnings(f.Context(), acc, store.Page{}); err != nil || len(all) != 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	away.Store(false)
	f.MustCheckpoint(s, 2, billing.Usage{billing.AgentTime: 60_000}) // nothing new, and still below
	if list := f.warnings(acc, store.WarnBalanceLow); len(list) != 1 || asked.Load() != 4 {
		t.Errorf("%+v, asked %d times", list, asked.Load())
	}
	f.MustCheckpoint(s, 3, billing.Usage{billing.AgentTime: 61_000})
	if asked.Load() != 4 {
		t.Error("asked again, for nothing")
	}
}

// TestTellingOfWarnings: each is published, and mailed by one of those who claim it.
func TestTellingOfWarnings(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(0), f.NewAccount(0)
	to := "lola@example.com"
	f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Email: &to}))
	for i := range 3 {
		f.OK(f.OpenDispute(f.At(t0.Add(time.Duration(i)*time.Second)), acc, fmt.Sprint("dp", i)))
	}
	now := t0.Add(time.Minute)
	news, err := f.UnpublishedWarnings(f.Context(), 2)
	f.OK(err)
	if len(news) != 2 || news[0].Data.Dispute != "dp0" {
		t.Fatalf("%+v", news)
	}
	f.OK(f.WarningPublished(f.At(now), acc, news[0].ID))
	f.OK(f.WarningPublished(f.At(now.Add(time.Hour)), acc, news[0].ID))
	if err := f.WarningPublished(f.At(now), other, news[1].ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("somebody else's: %v", err)
	}
	news, err = f.UnpublishedWarnings(f.Context(), 10)
	f.OK(err)
	if len(news) != 2 || news[0].Data.Dispute != "dp1" {
		t.Errorf("%+v", news)
	}

	claimed := make(chan *store.WarningMail, 10)
	together(10, func(int) {
		m, err := f.ClaimMail(f.At(now))
		switch {
		case err == nil:
			claimed <- m
		case !errors.Is(err, store.ErrNotFound):
			t.Error(err)
		}
	})
	close(claimed)
	mails := map[string]*store.WarningMail{}
	for m := range claimed {
		if m.To != to || m.Name != "Test" || m.Try != 1 || m.Recharging || mails[m.Data.Dispute] != nil {
			t.Errorf("%+v", m)
		}
		mails[m.Data.Dispute] = m
	}
	if len(mails) != 3 {
		t.Fatalf("%d mails", len(mails))
	}
	claim := func(at time.Time) (names []string) {
		t.Helper()
		for {
			m, err := f.ClaimMail(f.At(at))
			if errors.Is(err, store.ErrNotFound) {
				slices.Sort(names)
				return names
			}
			f.OK(err)
			names = append(names, m.Data.Dispute)
		}
	}
	f.OK(f.WarningMailed(f.At(now), mails["dp0"]))
	f.OK(f.MailLater(f.Context(), mails["dp1"], now.Add(time.Minute)))
	// The third is with somebody who has died.
	for _, c := range []struct {
		after time.Duration
		names []string
	}{{0, nil}, {time.Minute, []string{"dp1"}}, {time.Hour, []string{"dp1", "dp2"}}} {
		if got := claim(now.Add(c.after)); !slices.Equal(got, c.names) {
			t.Errorf("after %s: %v, want %v", c.after, got, c.names)
		}
	}
	f.OK(f.MailNever(f.Context(), mails["dp1"]))
	if err := f.MailLater(f.Context(), mails["dp0"], now); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("one that was mailed is mailed again: %v", err)
	}
	if n, err := f.ForgetMail(f.Context(), t0); n != 0 || err != nil {
		t.Errorf("%d forgotten, %v", n, err)
	}
	if n, err := f.ForgetMail(f.Context(), now); n != 1 || err != nil {
		t.Errorf("%d forgotten, %v", n, err)
	}
	if got := claim(now.AddDate(1, 0, 0)); got != nil {
		t.Errorf("left over: %v", got)
	}
	for i, w := range f.warnings(acc, store.WarnDisputeOpened) {
		if (w.MailedAt != nil) != (i == 0) {
			t.Errorf("%+v", w)
		}
	}
}

// TestWarningsArePaged newest first, and somebody else's are not there.
func TestWarningsArePaged(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(0), f.NewAccount(0)
	var want []string
	for i := range 5 {
		ref := fmt.Sprint("dp", i)
		f.OK(f.OpenDispute(f.At(t0.Add(time.Duration(i)*time.Second)), acc, ref))
		want = slices.Insert(want, 0, ref)
	}
	var got []string
	for page := (store.Page{Limit: 2}); ; {
		list, err := f.Warnings(f.Context(), acc, page)
		f.OK(err)
		if len(list) == 0 {
			break
		}
		for _, w := range list {
			got, page.After = append(got, w.Data.Dispute), w.ID
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if list, err := f.Warnings(f.Context(), other, store.Page{}); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestAccountEmail: only a bare address is kept.
func TestAccountEmail(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	set := func(to string) error {
		return f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Email: &to})
	}
	f.OK(set("lola@example.com"))
	for _, bad := range []string{"lola", "Lola <lola@example.com>", "lola@example.com\r\nBcc: eve@example.com", "a@b,c@d"} {
		if err := set(bad); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{}))
	if got := f.Show(acc).Email; got != "lola@example.com" {
		t.Errorf("%q", got)
	}
	f.OK(set(""))
	if got := f.Show(acc).Email; got != "" {
		t.Errorf("%q", got)
	}
}

// TestWarningData survives its way through the database.
func TestWarningData(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	f.Adjust(acc, 1_234_567_891)
	list := f.warnings(acc, store.WarnBalanceLow)
	balance, mark := billing.Money(1_234_567_891), 5*usd
	if len(list) != 1 || !reflect.DeepEqual(list[0].Data, store.WarningData{Balance: &balance, Threshold: &mark}) {
		t.Errorf("%+v", list)
	}
}

// TestVerifyNoticesWarnings that do not agree with what they are about.
func TestVerifyNoticesWarnings(t *testing.T) {
	for name, sql := range map[string]string{
		"a low balance forgotten":     "update wallets set low_since = null",
		"a low balance twice":         "update warnings set cleared_at = null where kind = 'balance.low'",
		"a dispute that is over":      "update disputes set resolved_at = now(), resolved_after = 0",
		"a dispute that is forgotten": "update warnings set cleared_at = now() where kind = 'dispute.opened'",
	} {
		t.Run(name, func(t *testing.T) {
			url := storetest.URL(t)
			f := prepare(t, storetest.Open(t, url))
			acc := f.NewAccount(0)
			for range 2 {
				f.Adjust(acc, usd)
				f.Adjust(acc, 10*usd)
			}
			f.Adjust(acc, usd)
			f.OK(f.OpenDispute(f.Context(), acc, "dp"))
			f.Verified()
			conn, err := pgx.Connect(f.Context(), url)
			f.OK(err)
			defer conn.Close(f.Context())
			_, err = conn.Exec(f.Context(), sql)
			f.OK(err)
			r, err := verify.Whole(f.Context(), f.DB)
			f.OK(err)
			if !slices.ContainsFunc(r.Violations, func(v verify.Violation) bool { return v.Invariant == 24 && v.Subject == acc }) {
				t.Errorf("%v", r.Violations)
			}
		})
	}
}
