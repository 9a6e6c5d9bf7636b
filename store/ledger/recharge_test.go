package ledger_test

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
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger"
	"parley/store/payments"
)

var rechargeDefaults = payments.DefaultRecharge(card)

// inLine notes the attempts that are put in line.
type inLine struct {
	mu  sync.Mutex
	ids []string
}

func (l *inLine) put(_ context.Context, _ pgx.Tx, _, id string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ids = append(l.ids, id)
	return nil
}

// made is how many different ones there were.
func (l *inLine) made() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(slices.Compact(slices.Sorted(slices.Values(l.ids))))
}

func (l *inLine) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.ids) == 0 {
		return ""
	}
	return l.ids[len(l.ids)-1]
}

// recharging is an account with a saved card and this setting, its balance at 12 USD.
func (f *fixture) recharging(r payments.Recharge) (account string, l *inLine) {
	f.t.Helper()
	acc := f.account(0)
	f.settle(f.look(), told(f.begun(acc, 10*usd), payment.Succeeded, 0), payment.Event{})
	f.adjust(acc, 12*usd)
	l = &inLine{}
	enqueue(f.DB, store.ChargeRecharge, l.put)
	f.set(acc, r, t0)
	return acc, l
}

func (f *fixture) set(account string, r payments.Recharge, now time.Time) *payments.RechargeState {
	f.t.Helper()
	s, err := f.Payments.SetRecharge(f.at(now), account, "sim", rechargeDefaults, func(to *payments.Recharge) error { *to = r; return nil })
	f.ok(err)
	return s
}

func (f *fixture) recharge(account string, now time.Time) *payments.RechargeState {
	f.t.Helper()
	s, err := f.Payments.Recharge(f.at(now), account, "sim", rechargeDefaults)
	f.ok(err)
	return s
}

// answered settles an attempt as the provider's answer to its charge would.
func (f *fixture) answered(account, id string, amount billing.Money, state payment.State, code string, now time.Time) {
	f.t.Helper()
	_, err := f.Payments.ReconcilePayment(f.at(now), payments.PaymentRead{Provider: "sim", Version: f.look(), Payment: payment.Payment{
		ID: "pi_" + id, Key: id, Account: account, Customer: "cus_" + account, Amount: amount, State: state, Code: code}})
	f.ok(err)
}

func (f *fixture) sweep(l *inLine, now time.Time) int {
	f.t.Helper()
	n, err := f.Payments.SweepRecharges(f.at(now), l.put)
	f.ok(err)
	return n
}

var on = payments.Recharge{Enabled: true, Threshold: 10 * usd, Amount: 20 * usd, MonthlyCap: 50 * usd}

func TestRechargeDefaultsAndRefusals(t *testing.T) {
	f := setup(t)
	acc := f.account(20 * usd) // credited by an operator: there is no card
	want := payments.Recharge{Threshold: 5 * usd, Amount: 20 * usd, MonthlyCap: 500 * usd}
	if got := f.recharge(acc, t0); got.Recharge != want || got.CardSaved || got.Charged != 0 {
		t.Errorf("never set: %+v", got)
	}
	set := func(r payments.Recharge) error {
		_, err := f.Payments.SetRecharge(f.ctx(), acc, "sim", rechargeDefaults, func(to *payments.Recharge) error { *to = r; return nil })
		return err
	}
	if err := set(on); !errors.Is(err, store.ErrTopupRequired) {
		t.Errorf("without a card: %v", err)
	}
	top := f.begun(acc, 10*usd)
	if err := set(on); !errors.Is(err, store.ErrTopupRequired) {
		t.Errorf("with a page that nobody has paid: %v", err)
	}
	off := on
	off.Enabled = false
	f.ok(set(off))
	f.settle(f.look(), told(top, payment.Succeeded, 0), payment.Event{})
	for _, r := range []payments.Recharge{{Enabled: true, Threshold: -1, Amount: 20 * usd, MonthlyCap: 20 * usd}, {Enabled: true, MonthlyCap: usd},
		{Amount: 20 * usd, MonthlyCap: 20*usd - 1}, {Amount: usd, MonthlyCap: billing.USD * 2_000_000}} {
		if err := set(r); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
	if _, err := f.Payments.SetRecharge(f.ctx(), acc, "other", rechargeDefaults, func(r *payments.Recharge) error { *r = on; return nil }); !errors.Is(err, store.ErrTopupRequired) {
		t.Errorf("with another provider's card: %v", err)
	}
	mine := errors.New("mine")
	if _, err := f.Payments.SetRecharge(f.ctx(), acc, "sim", rechargeDefaults, func(r *payments.Recharge) error { r.Enabled = true; return mine }); !errors.Is(err, mine) {
		t.Errorf("change failed: %v", err)
	}
	if got := f.recharge(acc, t0); got.Recharge != off || !got.CardSaved {
		t.Errorf("after refusals: %+v", got)
	}
	f.ok(set(on))
	f.ok(f.OpenDispute(f.ctx(), acc, "dp"))
	if err := set(on); !errors.Is(err, store.ErrDisputed) {
		t.Errorf("in a dispute: %v", err)
	}
	f.ok(set(off))
	if _, err := f.Payments.Recharge(f.ctx(), "acc_none", "sim", rechargeDefaults); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown account: %v", err)
	}
	f.verified()
}

// TestRechargeWherever: whatever takes the balance below the threshold makes one attempt.
func TestRechargeWherever(t *testing.T) {
	yes, no := true, false
	hour := billing.Usage{billing.AgentTime: 3_600_000} // 4.80
	for name, spend := range map[string]func(f *fixture, acc string, l *inLine){
		"a checkpoint": func(f *fixture, acc string, _ *inLine) { f.checkpoint(f.start(acc, web), 1, hour) },
		"checkpoints in one transaction": func(f *fixture, acc string, _ *inLine) {
			var cs []ledger.Checkpoint
			for range 3 {
				cs = append(cs, ledger.Checkpoint{Session: f.start(acc, web), Seq: 1, StartedAt: t0, Usage: hour})
			}
			_, err := f.Checkpoints(f.ctx(), cs)
			f.ok(err)
		},
		"a close": func(f *fixture, acc string, _ *inLine) { f.closeWith(f.start(acc, web), hour) },
		"a one-shot job": func(f *fixture, acc string, _ *inLine) {
			f.closeWith(f.start(acc, billing.Terms{Kind: billing.TTS}), billing.Usage{billing.TTSChars: 1_000_000})
		},
		"a task": func(f *fixture, acc string, _ *inLine) {
			f.ok(f.Tasks.Complete(f.ctx(), f.claim(f.submit(acc, 500_000), f.node, t0), time.Second, 0))
		},
		"an adjustment": func(f *fixture, acc string, _ *inLine) { f.adjust(acc, 9*usd) },
		"the setting itself": func(f *fixture, acc string, _ *inLine) {
			high := on
			high.Threshold = 13 * usd
			f.set(acc, high, t0)
		},
		"expired credit": func(f *fixture, acc string, _ *inLine) {
			_, err := f.ExpireLots(f.at(t0.AddDate(0, 0, 91)))
			f.ok(err)
		},
		"the end of a dispute": func(f *fixture, acc string, l *inLine) {
			f.ok(f.OpenDispute(f.ctx(), acc, "dp"))
			f.adjust(acc, 9*usd)
			f.sweep(l, t0)
			if l.made() > 0 {
				f.t.Error("an attempt in a dispute")
			}
			f.ok(f.ResolveDispute(f.ctx(), acc, "dp"))
			f.sweep(l, t0)
		},
		"the end of a suspension": func(f *fixture, acc string, l *inLine) {
			f.ok(f.ChangeAccount(f.ctx(), acc, ledger.AccountChange{Suspended: &yes}))
			f.adjust(acc, 9*usd)
			f.sweep(l, t0)
			if l.made() > 0 {
				f.t.Error("an attempt while suspended")
			}
			f.ok(f.ChangeAccount(f.ctx(), acc, ledger.AccountChange{Suspended: &no}))
			f.sweep(l, t0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			acc, l := f.recharging(on)
			if f.sweep(l, t0); l.made() > 0 {
				t.Fatalf("an attempt above the threshold: %v", l.ids)
			}
			spend(f, acc, l)
			if l.made() != 1 {
				t.Fatalf("%d attempts at %v", l.made(), f.show(acc).Balance())
			}
			got := f.recharge(acc, t0)
			top, err := f.Payments.TopUp(f.ctx(), acc, got.Open)
			f.ok(err)
			if !top.Automatic || top.State != payments.TopUpPending || top.Amount != on.Amount || top.URL != "" {
				t.Errorf("its top-up: %+v", top)
			}
			f.adjust(acc, 1*usd) // a second one waits for the first
			if f.sweep(l, t0); l.made() != 1 {
				t.Errorf("%d attempts at once", l.made())
			}
			a, err := f.Payments.BeginRecharge(f.ctx(), acc, l.last())
			f.ok(err)
			if a == nil || a.ID != l.last() || a.Amount != on.Amount || a.Customer != "cus_"+acc || a.Provider != "sim" || a.Account != acc {
				t.Fatalf("begun: %+v", a)
			}
			before := f.paid(acc)
			for range 3 {
				f.answered(acc, a.ID, a.Amount, payment.Succeeded, "", t0)
			}
			if paid := f.paid(acc); paid != before+on.Amount {
				t.Errorf("%v came in", paid-before)
			}
			if got := f.recharge(acc, t0); got.Open != "" || got.Failure != "" || name != "expired credit" && got.Charged != on.Amount {
				t.Errorf("afterwards: %+v", got)
			}
			f.verified()
		})
	}
}

// TestRechargeTwentyCrossings: sessions that cross the threshold at once make one attempt.
func TestRechargeTwentyCrossings(t *testing.T) {
	f := setup(t)
	acc, l := f.recharging(on)
	limit := 40
	f.ok(f.ChangeAccount(f.ctx(), acc, ledger.AccountChange{Concurrency: &limit}))
	var sessions []*ledger.Session
	for range 20 {
		sessions = append(sessions, f.start(acc, web))
	}
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			used := billing.Usage{billing.AgentTime: 400_000} // 0.53 each
			err := insist(func() error {
				_, err := f.Checkpoint(f.ctx(), ledger.Checkpoint{Session: s, Seq: 1, StartedAt: t0, Usage: used})
				return err
			})
			if err == nil && i%2 == 0 {
				err = insist(func() error {
					_, err := f.CloseSession(f.ctx(), s, ledger.Closing{Reason: "user_hangup"})
					return err
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if l.made() != 1 {
		t.Errorf("%d attempts", l.made())
	}
	// Twenty workers are given the one, and twenty answers credit it once.
	for range 20 {
		wg.Go(func() {
			a, err := f.Payments.BeginRecharge(f.ctx(), acc, l.last())
			if err != nil || a == nil { // it has ended
				if err != nil {
					t.Error(err)
				}
				return
			}
			n, err := f.Payments.NextReadVersion(f.ctx())
			if err == nil {
				_, err = f.Payments.ReconcilePayment(f.ctx(), payments.PaymentRead{Provider: "sim", Version: n, Payment: payment.Payment{
					ID: "pi_x", Key: a.ID, Account: acc, Amount: a.Amount, State: payment.Succeeded}})
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := f.recharge(acc, t0); got.Charged != 20*usd || got.Open != "" || l.made() != 1 {
		t.Errorf("%+v, %d attempts", got, l.made())
	}
	f.verified()
}

// TestRechargeCap: what would pass the cap waits for the next month, which begins in UTC.
func TestRechargeCap(t *testing.T) {
	f := setup(t)
	acc, l := f.recharging(on) // 20 each, 50 a month
	end := time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)
	for i := range 4 {
		at := end.Add(-time.Duration(3-i) * time.Hour)
		f.adjust(acc, 1*usd-billing.Money(i))
		f.sweep(l, at)
		if want := min(i+1, 2); l.made() != want {
			t.Fatalf("%d attempts after %d", l.made(), i+1)
		}
		if i < 2 {
			f.answered(acc, l.last(), on.Amount, payment.Succeeded, "", at)
		}
	}
	// It is April, but not in UTC.
	if f.sweep(l, time.Date(2026, 4, 1, 1, 0, 0, 0, time.FixedZone("", 2*3600))); l.made() != 2 {
		t.Errorf("%d attempts in March", l.made())
	}
	f.sweep(l, end.Add(time.Second))
	if l.made() != 3 {
		t.Fatalf("%d attempts in April", l.made())
	}
	if march, april := f.recharge(acc, end).Charged, f.recharge(acc, end.Add(time.Second)).Charged; march != 40*usd || april != 20*usd {
		t.Errorf("%v in March, %v in April", march, april)
	}
	// What failed does not count, what may still come does.
	f.ok(f.Payments.FailRecharge(f.at(end.Add(time.Second)), acc, l.last(), payments.RechargeRefused, ""))
	if got := f.recharge(acc, end.Add(time.Second)); got.Charged != 0 || !got.Enabled {
		t.Errorf("after a failure: %+v", got)
	}
	f.verified()
}

// TestRechargeLateMoney: what a provider takes for an attempt that was given up is booked
// like any payment, even past the cap; there is room for less after it.
func TestRechargeLateMoney(t *testing.T) {
	f := setup(t)
	acc, l := f.recharging(on) // 20 each, 50 a month
	f.adjust(acc, 1*usd)
	late := l.last()
	f.ok(f.Payments.FailRecharge(f.at(t0.Add(time.Minute)), acc, late, payments.RechargeRefused, ""))
	for i := range 2 {
		again := t0.Add(48 * time.Hour).Add(time.Duration(i) * time.Hour)
		f.sweep(l, again)
		f.answered(acc, l.last(), on.Amount, payment.Succeeded, "", again)
		f.adjust(acc, billing.Money(i+1)*usd)
	}
	f.answered(acc, late, on.Amount, payment.Succeeded, "", t0.Add(72*time.Hour))
	f.adjust(acc, 1*usd)
	f.sweep(l, t0.Add(96*time.Hour))
	if got := f.recharge(acc, t0.Add(96*time.Hour)); l.made() != 3 || got.Charged != 60*usd {
		t.Errorf("%d attempts, %v charged", l.made(), got.Charged)
	}
	f.verified()
}

// TestRechargeDeclines: an hour, a day, and then no more; a payment by hand ends the wait.
func TestRechargeDeclines(t *testing.T) {
	f := setup(t)
	acc, l := f.recharging(on)
	f.adjust(acc, 5*usd)
	at := t0
	for i, wait := range []time.Duration{time.Hour, 24 * time.Hour} {
		f.answered(acc, l.last(), on.Amount, payment.Failed, "insufficient_funds", at)
		got := f.recharge(acc, at)
		if !got.Enabled || got.Failure != payments.RechargeDeclined || got.Code != "insufficient_funds" || !got.FailedAt.Equal(at) || !got.NotBefore.Equal(at.Add(wait)) {
			t.Fatalf("decline %d: %+v", i+1, got)
		}
		f.sweep(l, at.Add(wait-time.Microsecond))
		if l.made() != i+1 {
			t.Fatalf("%d attempts within %v", l.made(), wait)
		}
		at = at.Add(wait)
		f.sweep(l, at)
		if l.made() != i+2 {
			t.Fatalf("%d attempts after %v", l.made(), wait)
		}
	}
	f.answered(acc, l.last(), on.Amount, payment.Failed, "insufficient_funds", at)
	if got := f.recharge(acc, at); got.Enabled || got.Charged != 0 {
		t.Errorf("the third: %+v", got)
	}
	ws, err := f.Warnings(f.ctx(), acc, store.Page{})
	f.ok(err)
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
	if l.made() != 3 {
		t.Errorf("%d attempts while disabled", l.made())
	}
	// Enabled again it waits, until money has come from a card.
	if got := f.set(acc, on, at); got.NotBefore == nil || got.Open != "" || got.Failure != "" {
		t.Errorf("enabled again: %+v", got)
	}
	f.settle(f.look(), told(f.begun(acc, 10*usd), payment.Succeeded, 0), payment.Event{})
	f.adjust(acc, 5*usd)
	if got := f.recharge(acc, at); got.NotBefore != nil || got.Open == "" {
		t.Errorf("paid by hand: %+v", got)
	}
	f.answered(acc, l.last(), on.Amount, payment.Succeeded, "", at)
	f.verified()
}

// TestRechargeDisabledAtOnce: what no further attempt can mend.
func TestRechargeDisabledAtOnce(t *testing.T) {
	f := setup(t)
	for _, why := range []payments.RechargeFailure{payments.RechargeAuthentication, payments.RechargeNoCard} {
		acc, l := f.recharging(on)
		f.adjust(acc, 5*usd)
		later := t0.Add(time.Minute)
		f.ok(f.Payments.FailRecharge(f.at(later), acc, l.last(), why, string(why)))
		f.ok(f.Payments.FailRecharge(f.at(later), acc, l.last(), payments.RechargeDeclined, "x")) // it has ended
		got := f.recharge(acc, later)
		if got.Enabled || got.Failure != why || got.CardSaved != (why != payments.RechargeNoCard) {
			t.Errorf("%+v", got)
		}
		_, err := f.Payments.SetRecharge(f.at(later), acc, "sim", rechargeDefaults, func(r *payments.Recharge) error { *r = on; return nil })
		if errors.Is(err, store.ErrTopupRequired) != (why == payments.RechargeNoCard) {
			t.Errorf("%s: enabled again: %v", why, err)
		}
	}
	// An event that comes first says the same as the answer.
	acc, l := f.recharging(on)
	f.adjust(acc, 5*usd)
	f.answered(acc, l.last(), on.Amount, payment.Failed, payment.CodeAuthentication, t0)
	if got := f.recharge(acc, t0); got.Enabled || got.Failure != payments.RechargeAuthentication {
		t.Errorf("%+v", got)
	}
	f.verified()
}

// TestRechargeIsTakenBack: what nobody has charged yet ends when it is not wanted any
// more; what may have been charged waits for its outcome.
func TestRechargeIsTakenBack(t *testing.T) {
	f := setup(t)
	yes := true
	off := on
	off.Enabled = false
	for name, stop := range map[string]func(acc string){
		"a dispute":    func(acc string) { f.ok(f.OpenDispute(f.ctx(), acc, "dp")) },
		"a suspension": func(acc string) { f.ok(f.ChangeAccount(f.ctx(), acc, ledger.AccountChange{Suspended: &yes})) },
		"a top-up":     func(acc string) { f.topup(acc, 20*usd, "pi:hand"+acc) },
		"its owner":    func(acc string) { f.set(acc, off, t0) },
	} {
		acc, l := f.recharging(on)
		f.adjust(acc, 5*usd)
		stop(acc)
		if a, err := f.Payments.BeginRecharge(f.ctx(), acc, l.last()); a != nil || err != nil {
			t.Errorf("%s: begun %+v, %v", name, a, err)
		}
		if got := f.recharge(acc, t0); got.Open != "" || got.Charged != 0 {
			t.Errorf("%s: %+v", name, got)
		}

		acc, l = f.recharging(on)
		f.adjust(acc, 5*usd)
		_, err := f.Payments.BeginRecharge(f.ctx(), acc, l.last())
		f.ok(err)
		stop(acc)
		a, err := f.Payments.BeginRecharge(f.ctx(), acc, l.last())
		f.ok(err)
		if frozen := name == "a dispute" || name == "a suspension"; (a == nil) != frozen {
			t.Errorf("%s: begun again %+v", name, a)
		}
		if got := f.recharge(acc, t0); got.Open == "" || got.Charged != on.Amount {
			t.Errorf("%s: %+v", name, got)
		}
		f.answered(acc, l.last(), on.Amount, payment.Succeeded, "", t0) // it had been
		if got := f.recharge(acc, t0); got.Open != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	f.verified()
}

// TestRechargeSweep: an attempt that its worker has left is put in line again, and
// money that comes after all is credited.
func TestRechargeSweep(t *testing.T) {
	f := setup(t)
	acc, l := f.recharging(on)
	f.adjust(acc, 5*usd)
	for i := range 3 {
		at := t0.Add(time.Duration(i) * 10 * time.Minute)
		_, err := f.Payments.BeginRecharge(f.at(at), acc, l.last())
		f.ok(err)
		if n := f.sweep(l, at.Add(time.Minute)); n != 0 {
			t.Errorf("%d put in line while somebody works on it", n)
		}
		if n := f.sweep(l, at.Add(5*time.Minute)); n != 1 || len(l.ids) != i+2 || l.last() != l.ids[0] {
			t.Errorf("%d put in line: %v", n, l.ids)
		}
	}
	id := l.last()
	f.ok(f.Payments.FailRecharge(f.ctx(), acc, id, payments.RechargeRefused, ""))
	before := f.paid(acc)
	f.answered(acc, id, on.Amount, payment.Succeeded, "", t0)
	if got := f.recharge(acc, t0); f.paid(acc) != before+on.Amount || got.Charged != on.Amount || got.Failure != "" {
		t.Errorf("after all: %+v", got)
	}
	if a, err := f.Payments.BeginRecharge(f.ctx(), acc, id); a != nil || err != nil {
		t.Errorf("one that has ended: %+v, %v", a, err)
	}
	other := f.account(0)
	if _, err := f.Payments.BeginRecharge(f.ctx(), other, id); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("somebody else's: %v", err)
	}
	for name, p := range map[string]payment.Payment{
		"another account": {ID: "pi_1", Key: id, Account: other, Amount: usd, State: payment.Succeeded},
		"no attempt":      {ID: "pi_2", Key: "rch_none", Account: acc, Amount: usd, State: payment.Succeeded},
		"nothing":         {ID: "pi_3", Account: acc, Amount: usd, State: payment.Succeeded},
	} {
		if _, err := f.Payments.ReconcilePayment(f.ctx(), payments.PaymentRead{Provider: "sim", Version: f.look(), Payment: p}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a payment that names %s: %v", name, err)
		}
	}
	f.verified()
}

// TestRechargeAfterARefund: what went back is not taken again, until the owner says so.
func TestRechargeAfterARefund(t *testing.T) {
	f := setup(t)
	acc, l := f.recharging(on)
	f.adjust(acc, 5*usd)
	f.answered(acc, l.last(), on.Amount, payment.Succeeded, "", t0)
	back := payment.Payment{ID: "pi_" + l.last(), Key: l.last(), Account: acc, Amount: on.Amount, State: payment.Succeeded}
	for i, refunded := range []billing.Money{5 * usd, 20 * usd} {
		enabled := i == 0 // 25 - 5 is still enough
		back.Refunded = refunded
		f.settle(f.look(), back, payment.Event{})
		if got := f.recharge(acc, t0); got.Enabled != enabled || (got.Failure == payments.RechargeRefunded) == enabled || got.Open != "" {
			t.Errorf("%v refunded: %+v", refunded, got)
		}
	}
	if f.sweep(l, t0); l.made() != 1 {
		t.Errorf("%d attempts", l.made())
	}
	if f.set(acc, on, t0); l.made() != 1 {
		t.Errorf("%d attempts right after a charge", l.made())
	}
	if f.sweep(l, t0.Add(ledger.RechargePause)); l.made() != 2 {
		t.Errorf("%d attempts once enabled again", l.made())
	}
	f.verified()
}

// TestRechargesDoNotUseUpTopUps: a customer may begin as many by hand as ever.
func TestRechargesDoNotUseUpTopUps(t *testing.T) {
	f := setup(t)
	big := on
	big.MonthlyCap = 1000 * usd
	acc, l := f.recharging(big)
	for i := range 5 {
		at := t0.Add(time.Duration(i) * time.Hour)
		f.adjust(acc, 1*usd)
		f.sweep(l, at)
		f.answered(acc, l.last(), on.Amount, payment.Succeeded, "", at)
		if l.made() != i+1 {
			t.Fatalf("%d attempts", l.made())
		}
	}
	for i := range payments.MaxTopUps - 1 { // and the one that saved the card
		if _, err := f.Payments.CreateTopUp(f.ctx(), acc, "sim", 10*usd); err != nil {
			t.Fatal(i, err)
		}
	}
	f.verified()
	ts, err := f.Transfers(f.ctx(), acc, 0, 0)
	f.ok(err)
	keys := map[string]int{}
	for _, x := range ts {
		keys[fmt.Sprint(x.Kind, x.Debit)]++
	}
	if keys["topupsim"] != 6 {
		t.Errorf("ledger %v", keys)
	}
}
