package payments_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/payments"
)

func (f *fixture) recharge(account string, now time.Time) *payments.RechargeState {
	f.T.Helper()
	s, err := f.Payments.Recharge(f.At(now), account, "sim", ledgertest.RechargeDefaults)
	f.OK(err)
	return s
}

func (f *fixture) sweep(l *ledgertest.InLine, now time.Time) int {
	f.T.Helper()
	n, err := f.Payments.SweepRecharges(f.At(now), l.Put)
	f.OK(err)
	return n
}

func TestRechargeDefaultsAndRefusals(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(20 * usd) // credited by an operator: there is no card
	want := payments.Recharge{Threshold: 5 * usd, Amount: 20 * usd, MonthlyCap: 500 * usd}
	if got := f.recharge(acc, t0); got.Recharge != want || got.CardSaved || got.Charged != 0 {
		t.Errorf("never set: %+v", got)
	}
	set := func(r payments.Recharge) error {
		_, err := f.Payments.SetRecharge(f.Context(), acc, "sim", ledgertest.RechargeDefaults, func(to *payments.Recharge) error { *to = r; return nil })
		return err
	}
	if err := set(on); !errors.Is(err, store.ErrTopupRequired) {
		t.Errorf("without a card: %v", err)
	}
	top := f.Begun(acc, 10*usd)
	if err := set(on); !errors.Is(err, store.ErrTopupRequired) {
		t.Errorf("with a page that nobody has paid: %v", err)
	}
	off := on
	off.Enabled = false
	f.OK(set(off))
	f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{})
	for _, r := range []payments.Recharge{{Enabled: true, Threshold: -1, Amount: 20 * usd, MonthlyCap: 20 * usd}, {Enabled: true, MonthlyCap: usd},
		{Amount: 20 * usd, MonthlyCap: 20*usd - 1}, {Amount: usd, MonthlyCap: billing.USD * 2_000_000}} {
		if err := set(r); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := f.Payments.SetRecharge(f.Context(), acc, "other", ledgertest.RechargeDefaults, func(r *payments.Recharge) error { *r = on; return nil }); !errors.Is(err, store.ErrTopupRequired) {
		t.Errorf("with another provider's card: %v", err)
	}
	mine := errors.New("mine")
	if _, err := f.Payments.SetRecharge(f.Context(), acc, "sim", ledgertest.RechargeDefaults, func(r *payments.Recharge) error { r.Enabled = true; return mine }); !errors.Is(err, mine) {
		t.Errorf("change failed: %v", err)
	}
	if got := f.recharge(acc, t0); got.Recharge != off || !got.CardSaved {
		t.Errorf("after refusals: %+v", got)
	}
	f.OK(set(on))
	f.OK(f.OpenDispute(f.Context(), acc, "dp"))
	if err := set(on); !errors.Is(err, store.ErrDisputed) {
		t.Errorf("in a dispute: %v", err)
	}
	f.OK(set(off))
	if _, err := f.Payments.Recharge(f.Context(), "acc_none", "sim", ledgertest.RechargeDefaults); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown account: %v", err)
	}
	f.Verified()
}

// TestRechargeWherever: whatever takes the balance below the threshold makes one attempt.
func TestRechargeWherever(t *testing.T) {
	yes, no := true, false
	hour := billing.Usage{billing.AgentTime: 3_600_000} // 4.80
	for name, spend := range map[string]func(f *fixture, acc string, l *ledgertest.InLine){
		"a checkpoint": func(f *fixture, acc string, _ *ledgertest.InLine) {
			f.MustCheckpoint(f.Start(acc, ledgertest.Web), 1, hour)
		},
		"checkpoints in one transaction": func(f *fixture, acc string, _ *ledgertest.InLine) {
			var cs []ledger.Checkpoint
			for range 3 {
				cs = append(cs, ledger.Checkpoint{Session: f.Start(acc, ledgertest.Web), Seq: 1, StartedAt: t0, Usage: hour})
			}
			_, err := f.Checkpoints(f.Context(), cs)
			f.OK(err)
		},
		"a close": func(f *fixture, acc string, _ *ledgertest.InLine) { f.CloseWith(f.Start(acc, ledgertest.Web), hour) },
		"a one-shot job": func(f *fixture, acc string, _ *ledgertest.InLine) {
			f.CloseWith(f.Start(acc, billing.Terms{Kind: billing.TTS}), billing.Usage{billing.TTSChars: 1_000_000})
		},
		"a task": func(f *fixture, acc string, _ *ledgertest.InLine) {
			f.OK(f.Tasks.Complete(f.Context(), f.Claim(f.Submit(acc, 500_000), f.Node, t0), time.Second, 0))
		},
		"an adjustment": func(f *fixture, acc string, _ *ledgertest.InLine) { f.Adjust(acc, 9*usd) },
		"the setting itself": func(f *fixture, acc string, _ *ledgertest.InLine) {
			high := on
			high.Threshold = 13 * usd
			f.SetRecharge(acc, high, t0)
		},
		"expired credit": func(f *fixture, acc string, _ *ledgertest.InLine) {
			_, err := f.ExpireLots(f.At(t0.AddDate(0, 0, 91)))
			f.OK(err)
		},
		"the end of a dispute": func(f *fixture, acc string, l *ledgertest.InLine) {
			f.OK(f.OpenDispute(f.Context(), acc, "dp"))
			f.Adjust(acc, 9*usd)
			f.sweep(l, t0)
			if l.Made() > 0 {
				f.T.Error("an attempt in a dispute")
			}
			f.OK(f.ResolveDispute(f.Context(), acc, "dp"))
			f.sweep(l, t0)
		},
		"the end of a suspension": func(f *fixture, acc string, l *ledgertest.InLine) {
			f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Suspended: &yes}))
			f.Adjust(acc, 9*usd)
			f.sweep(l, t0)
			if l.Made() > 0 {
				f.T.Error("an attempt while suspended")
			}
			f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Suspended: &no}))
			f.sweep(l, t0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			acc, l := f.Recharging(on)
			if f.sweep(l, t0); l.Made() > 0 {
				t.Fatalf("an attempt above the threshold: %v", l.IDs)
			}
			spend(f, acc, l)
			if l.Made() != 1 {
				t.Fatalf("%d attempts at %v", l.Made(), f.Show(acc).Balance())
			}
			got := f.recharge(acc, t0)
			top, err := f.Payments.TopUp(f.Context(), acc, got.Open)
			f.OK(err)
			if !top.Automatic || top.State != payments.TopUpPending || top.Amount != on.Amount || top.URL != "" {
				t.Errorf("its top-up: %+v", top)
			}
			f.Adjust(acc, 1*usd) // a second one waits for the first
			if f.sweep(l, t0); l.Made() != 1 {
				t.Errorf("%d attempts at once", l.Made())
			}
			a, err := f.Payments.BeginRecharge(f.Context(), acc, l.Last())
			f.OK(err)
			if a == nil || a.ID != l.Last() || a.Amount != on.Amount || a.Customer != "cus_"+acc || a.Provider != "sim" || a.Account != acc {
				t.Fatalf("begun: %+v", a)
			}
			before := f.paid(acc)
			for range 3 {
				f.Answered(acc, a.ID, a.Amount, payment.Succeeded, "", t0)
			}
			if paid := f.paid(acc); paid != before+on.Amount {
				t.Errorf("%v came in", paid-before)
			}
			if got := f.recharge(acc, t0); got.Open != "" || got.Failure != "" || name != "expired credit" && got.Charged != on.Amount {
				t.Errorf("afterwards: %+v", got)
			}
			f.Verified()
		})
	}
}

// TestRechargeTwentyCrossings: sessions that cross the threshold at once make one attempt.
func TestRechargeTwentyCrossings(t *testing.T) {
	f := setup(t)
	acc, l := f.Recharging(on)
	limit := 40
	f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Concurrency: &limit}))
	var sessions []*ledger.Session
	for range 20 {
		sessions = append(sessions, f.Start(acc, ledgertest.Web))
	}
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			used := billing.Usage{billing.AgentTime: 400_000} // 0.53 each
			err := ledgertest.Insist(func() error {
				_, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: s, Seq: 1, StartedAt: t0, Usage: used})
				return err
			})
			if err == nil && i%2 == 0 {
				err = ledgertest.Insist(func() error {
					_, err := f.CloseSession(f.Context(), s, ledger.Closing{Reason: "user_hangup"})
					return err
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if l.Made() != 1 {
		t.Errorf("%d attempts", l.Made())
	}
	// Twenty workers are given the one, and twenty answers credit it once.
	for range 20 {
		wg.Go(func() {
			a, err := f.Payments.BeginRecharge(f.Context(), acc, l.Last())
			if err != nil || a == nil { // it has ended
				if err != nil {
					t.Error(err)
				}
				return
			}
			n, err := f.Payments.NextReadVersion(f.Context())
			if err == nil {
				_, err = f.Payments.ReconcilePayment(f.Context(), payments.PaymentRead{Provider: "sim", Version: n, Payment: payment.Payment{
					ID: "pi_x", Key: a.ID, Account: acc, Amount: a.Amount, State: payment.Succeeded}})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := f.recharge(acc, t0); got.Charged != 20*usd || got.Open != "" || l.Made() != 1 {
		t.Errorf("%+v, %d attempts", got, l.Made())
	}
	f.Verified()
}

// TestRechargeCap: what would pass the cap waits for the next month, which begins in UTC.
func TestRechargeCap(t *testing.T) {
	f := setup(t)
	acc, l := f.Recharging(on) // 20 each, 50 a month
	end := time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	for i := range 4 {
		at := end.Add(-time.Duration(3-i) * time.Hour)
		f.Adjust(acc, 1*usd-billing.Money(i))
		f.sweep(l, at)
		if want := min(i+1, 2); l.Made() != want {
			t.Fatalf("%d attempts after %d", l.Made(), i+1)
		}
		if i < 2 {
			f.Answered(acc, l.Last(), on.Amount, payment.Succeeded, "", at)
		}
	}
	// It is April, but not in UTC.
	if f.sweep(l, time.Date(2026, 4, 1, 1, 0, 0, 0, time.FixedZone("", 2*3600))); l.Made() != 2 {
		t.Errorf("%d attempts in March", l.Made())
	}
	f.sweep(l, end.Add(time.Second))
	if l.Made() != 3 {
		t.Fatalf("%d attempts in April", l.Made())
	}
	if march, april := f.recharge(acc, end).Charged, f.recharge(acc, end.Add(time.Second)).Charged; march != 40*usd || april != 20*usd {
		t.Errorf("%v in March, %v in April", march, april)
	}
	// What failed does not count, what may still come does.
	f.OK(f.Payments.FailRecharge(f.At(end.Add(time.Second)), acc, l.Last(), payments.RechargeRefused, ""))
	if got := f.recharge(acc, end.Add(time.Second)); got.Charged != 0 || !got.Enabled {
		t.Errorf("after a failure: %+v", got)
	}
	f.Verified()
}

// TestRechargeLateMoney: what a provider takes for an attempt that was given up is booked
// like any payment, even past the cap; there is room for less after it.
func TestRechargeLateMoney(t *testing.T) {
	f := setup(t)
	acc, l := f.Recharging(on) // 20 each, 50 a month
	f.Adjust(acc, 1*usd)
	late := l.Last()
	f.OK(f.Payments.FailRecharge(f.At(t0.Add(time.Minute)), acc, late, payments.RechargeRefused, ""))
	for i := range 2 {
		again := t0.Add(48 * time.Hour).Add(time.Duration(i) * time.Hour)
		f.sweep(l, again)
		f.Answered(acc, l.Last(), on.Amount, payment.Succeeded, "", again)
		f.Adjust(acc, billing.Money(i+1)*usd)
	}
	f.Answered(acc, late, on.Amount, payment.Succeeded, "", t0.Add(72*time.Hour))
	f.Adjust(acc, 1*usd)
	f.sweep(l, t0.Add(96*time.Hour))
	if got := f.recharge(acc, t0.Add(96*time.Hour)); l.Made() != 3 || got.Charged != 60*usd {
		t.Errorf("%d attempts, %v charged", l.Made(), got.Charged)
	}
	f.Verified()
}

// TestRechargeDeclines: an hour, a day, and then no more; a payment by hand ends the wait.
func TestRechargeDeclines(t *testing.T) {
	f := setup(t)
	acc, l := f.Recharging(on)
	f.Adjust(acc, 5*usd)
	at := t0
	for i, wait := range []time.Duration{time.Hour, 24 * time.Hour} {
		f.Answered(acc, l.Last(), on.Amount, payment.Failed, "insufficient_funds", at)
		got := f.recharge(acc, at)
		if !got.Enabled || got.Failure != payments.RechargeDeclined || got.Code != "insufficient_funds" || !got.FailedAt.Equal(at) || !got.NotBefore.Equal(at.Add(wait)) {
			t.Fatalf("decline %d: %+v", i+1, got)
		}
		f.sweep(l, at.Add(wait-time.Microsecond))
		if l.Made() != i+1 {
			t.Fatalf("%d attempts within %v", l.Made(), wait)
		}
		at = at.Add(wait)
		f.sweep(l, at)
		if l.Made() != i+2 {
			t.Fatalf("%d attempts after %v", l.Made(), wait)
		}
	}
	f.Answered(acc, l.Last(), on.Amount, payment.Failed, "insufficient_funds", at)
	if got := f.recharge(acc, at); got.Enabled || got.Charged != 0 {
		t.Errorf("the third: %+v", got)
	}
	ws, err := f.Warnings(f.Context(), acc, store.Page{})
	f.OK(err)
	failed, disabled := 0, 0
	for _, w := range ws {
		if w.Kind == store.WarnRechargeFailed {
			failed++
			if w.Data.Disabled {
				disabled++
			}
		}
	}
	if failed != 3 || disabled != 1 {
		t.Errorf("%d warnings, %d of them the last: %+v", failed, disabled, ws)
	}
	f.sweep(l, at.AddDate(0, 0, 3))
	if l.Made() != 3 {
		t.Errorf("%d attempts while disabled", l.Made())
	}
	// Enabled again it waits, until money has come from a card.
	if got := f.SetRecharge(acc, on, at); got.NotBefore == nil || got.Open != "" || got.Failure != "" {
		t.Errorf("enabled again: %+v", got)
	}
	f.Settle(f.Look(), ledgertest.Told(f.Begun(acc, 10*usd), payment.Succeeded, 0), payment.Event{})
	f.Adjust(acc, 5*usd)
	if got := f.recharge(acc, at); got.NotBefore != nil || got.Open == "" {
		t.Errorf("paid by hand: %+v", got)
	}
	f.Answered(acc, l.Last(), on.Amount, payment.Succeeded, "", at)
	f.Verified()
}

// TestRechargeDisabledAtOnce: what no further attempt can mend.
func TestRechargeDisabledAtOnce(t *testing.T) {
	f := setup(t)
	for _, why := range []payments.RechargeFailure{payments.RechargeAuthentication, payments.RechargeNoCard} {
		acc, l := f.Recharging(on)
		f.Adjust(acc, 5*usd)
		later := t0.Add(time.Minute)
		f.OK(f.Payments.FailRecharge(f.At(later), acc, l.Last(), why, string(why)))
		f.OK(f.Payments.FailRecharge(f.At(later), acc, l.Last(), payments.RechargeDeclined, "x")) // it has ended
		got := f.recharge(acc, later)
		if got.Enabled || got.Failure != why || got.CardSaved != (why != payments.RechargeNoCard) {
			t.Errorf("%+v", got)
		}
		_, err := f.Payments.SetRecharge(f.At(later), acc, "sim", ledgertest.RechargeDefaults, func(r *payments.Recharge) error { *r = on; return nil })
		if errors.Is(err, store.ErrTopupRequired) != (why == payments.RechargeNoCard) {
			t.Errorf("%s: enabled again: %v", why, err)
		}
	}
	// An event that comes first says the same as the answer.
	acc, l := f.Recharging(on)
	f.Adjust(acc, 5*usd)
	f.Answered(acc, l.Last(), on.Amount, payment.Failed, payment.CodeAuthentication, t0)
	if got := f.recharge(acc, t0); got.Enabled || got.Failure != payments.RechargeAuthentication {
		t.Errorf("%+v", got)
	}
	f.Verified()
}

// TestRechargeIsTakenBack: what nobody has charged yet ends when it is not wanted any
// more; what may have been charged waits for its outcome.
func TestRechargeIsTakenBack(t *testing.T) {
	f := setup(t)
	yes := true
	off := on
	off.Enabled = false
	for name, stop := range map[string]func(acc string){
		"a dispute":    func(acc string) { f.OK(f.OpenDispute(f.Context(), acc, "dp")) },
		"a suspension": func(acc string) { f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Suspended: &yes})) },
		"a top-up":     func(acc string) { f.PayIn(acc, 20*usd, "pi:hand"+acc) },
		"its owner":    func(acc string) { f.SetRecharge(acc, off, t0) },
	} {
		acc, l := f.Recharging(on)
		f.Adjust(acc, 5*usd)
		stop(acc)
		if a, err := f.Payments.BeginRecharge(f.Context(), acc, l.Last()); a != nil || err != nil {
			t.Errorf("%s: begun %+v, %v", name, a, err)
		}
		if got := f.recharge(acc, t0); got.Open != "" || got.Charged != 0 {
			t.Errorf("%s: %+v", name, got)
		}

		acc, l = f.Recharging(on)
		f.Adjust(acc, 5*usd)
		_, err := f.Payments.BeginRecharge(f.Context(), acc, l.Last())
		f.OK(err)
		stop(acc)
		a, err := f.Payments.BeginRecharge(f.Context(), acc, l.Last())
		f.OK(err)
		if frozen := name == "a dispute" || name == "a suspension"; (a == nil) != frozen {
			t.Errorf("%s: begun again %+v", name, a)
		}
		if got := f.recharge(acc, t0); got.Open == "" || got.Charged != on.Amount {
			t.Errorf("%s: %+v", name, got)
		}
		f.Answered(acc, l.Last(), on.Amount, payment.Succeeded, "", t0) // it had been
		if got := f.recharge(acc, t0); got.Open != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	f.Verified()
}

// TestRechargeSweep: an attempt that its worker has left is put in line again, and
// money that comes after all is credited.
func TestRechargeSweep(t *testing.T) {
	f := setup(t)
	acc, l := f.Recharging(on)
	f.Adjust(acc, 5*usd)
	for i := range 3 {
		at := t0.Add(time.Duration(i) * 10 * time.Minute)
		_, err := f.Payments.BeginRecharge(f.At(at), acc, l.Last())
		f.OK(err)
		if n := f.sweep(l, at.Add(time.Minute)); n != 0 {
			t.Errorf("%d put in line while somebody works on it", n)
		}
		if n := f.sweep(l, at.Add(5*time.Minute)); n != 1 || len(l.IDs) != i+2 || l.Last() != l.IDs[0] {
			t.Errorf("%d put in line: %v", n, l.IDs)
		}
	}
	id := l.Last()
	f.OK(f.Payments.FailRecharge(f.Context(), acc, id, payments.RechargeRefused, ""))
	before := f.paid(acc)
	f.Answered(acc, id, on.Amount, payment.Succeeded, "", t0)
	if got := f.recharge(acc, t0); f.paid(acc) != before+on.Amount || got.Charged != on.Amount || got.Failure != "" {
		t.Errorf("after all: %+v", got)
	}
	if a, err := f.Payments.BeginRecharge(f.Context(), acc, id); a != nil || err != nil {
		t.Errorf("one that has ended: %+v, %v", a, err)
	}
	other := f.NewAccount(0)
	if _, err := f.Payments.BeginRecharge(f.Context(), other, id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("somebody else's: %v", err)
	}
	for name, p := range map[string]payment.Payment{
		"another account": {ID: "pi_1", Key: id, Account: other, Amount: usd, State: payment.Succeeded},
		"no attempt":      {ID: "pi_2", Key: "rch_none", Account: acc, Amount: usd, State: payment.Succeeded},
		"nothing":         {ID: "pi_3", Account: acc, Amount: usd, State: payment.Succeeded},
	} {
		if _, err := f.Payments.ReconcilePayment(f.Context(), payments.PaymentRead{Provider: "sim", Version: f.Look(), Payment: p}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a payment that names %s: %v", name, err)
		}
	}
	f.Verified()
}

// TestRechargeAfterARefund: what went back is not taken again, until the owner says so.
func TestRechargeAfterARefund(t *testing.T) {
	f := setup(t)
	acc, l := f.Recharging(on)
	f.Adjust(acc, 5*usd)
	f.Answered(acc, l.Last(), on.Amount, payment.Succeeded, "", t0)
	back := payment.Payment{ID: "pi_" + l.Last(), Key: l.Last(), Account: acc, Amount: on.Amount, State: payment.Succeeded}
	for i, refunded := range []billing.Money{5 * usd, 20 * usd} {
		enabled := i == 0 // 25 - 5 is still enough
		back.Refunded = refunded
		f.Settle(f.Look(), back, payment.Event{})
		if got := f.recharge(acc, t0); got.Enabled != enabled || (got.Failure == payments.RechargeRefunded) == enabled || got.Open != "" {
			t.Errorf("%v refunded: %+v", refunded, got)
		}
	}
	if f.sweep(l, t0); l.Made() != 1 {
		t.Errorf("%d attempts", l.Made())
	}
	if f.SetRecharge(acc, on, t0); l.Made() != 1 {
		t.Errorf("%d attempts right after a charge", l.Made())
	}
	if f.sweep(l, t0.Add(ledger.RechargePause)); l.Made() != 2 {
		t.Errorf("%d attempts once enabled again", l.Made())
	}
	f.Verified()
}

// TestRechargesDoNotUseUpTopUps: a customer may begin as many by hand as ever.
func TestRechargesDoNotUseUpTopUps(t *testing.T) {
	f := setup(t)
	big := on
	big.MonthlyCap = 1000 * usd
	acc, l := f.Recharging(big)
	for i := range 5 {
		at := t0.Add(time.Duration(i) * time.Hour)
		f.Adjust(acc, 1*usd)
		f.sweep(l, at)
		f.Answered(acc, l.Last(), on.Amount, payment.Succeeded, "", at)
		if l.Made() != i+1 {
			t.Fatalf("%d attempts", l.Made())
		}
	}
	for i := range payments.MaxTopUps - 1 { // and the one that saved the card
		if _, err := f.Payments.CreateTopUp(f.Context(), acc, "sim", 10*usd); err != nil {
			t.Fatal(i, err)
		}
	}
	f.Verified()
	ts, err := f.Transfers(f.Context(), acc, 0, 0)
	f.OK(err)
	keys := map[string]int{}
	for _, x := range ts {
		keys[fmt.Sprint(x.Kind, x.Debit)]++
	}
	if keys["topupsim"] != 6 {
		t.Errorf("ledger %v", keys)
	}
}
