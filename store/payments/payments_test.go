package payments_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/billing"
	"parley/billing/payment"
	"parley/store"
	"parley/store/ledger/ledgertest"
	"parley/store/payments"
)

func (f *fixture) paid(account string) billing.Money { f.T.Helper(); return f.Show(account).Pots.Paid }

func TestTopUpIsCreditedOnce(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	top := f.Begun(acc, 20*usd)
	if got := f.Settle(f.Look(), ledgertest.Told(top, payment.Pending, 0), payment.Event{}); got.State != payments.TopUpPending || f.paid(acc) != 0 {
		t.Errorf("before it is paid: %+v", got)
	}
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			_, err := f.Payments.ReconcilePayment(f.Context(), payments.PaymentRead{Provider: "sim", Version: f.Look(), Payment: ledgertest.Told(top, payment.Succeeded, 0),
				Event: payment.Event{ID: fmt.Sprint("evt_", i%2), Kind: payment.PaymentSucceeded}})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	got, err := f.Payments.TopUp(f.Context(), acc, top.ID)
	f.OK(err)
	if f.paid(acc) != 20*usd || got.State != payments.TopUpSucceeded || got.Paid != 20*usd || f.Show(acc).FirstTopupAt == nil {
		t.Errorf("%v paid, %+v", f.paid(acc), got)
	}
	for id, want := range map[string]bool{"evt_0": true, "evt_1": true, "evt_2": false} {
		if done, err := f.Payments.EventApplied(f.Context(), "sim", id); err != nil || done != want {
			t.Errorf("%s applied: %v, %v", id, done, err)
		}
	}
	// What is final stays so, and what an operator credited under the key is not paid again.
	if got := f.Settle(f.Look(), ledgertest.Told(top, payment.Canceled, 0), payment.Event{}); got.State != payments.TopUpSucceeded {
		t.Errorf("canceled afterwards: %+v", got)
	}
	second := ledgertest.Told(top, payment.Succeeded, 0)
	second.ID = "pi_second"
	if _, err := f.Payments.ReconcilePayment(f.Context(), payments.PaymentRead{Provider: "sim", Version: f.Look(), Payment: second}); err == nil {
		t.Error("a second payment of one top-up goes unnoticed")
	}
	other := f.Begun(acc, 10*usd)
	f.PayIn(acc, 10*usd, "pi:pi_"+other.ID)
	if f.Settle(f.Look(), ledgertest.Told(other, payment.Succeeded, 0), payment.Event{}); f.paid(acc) != 30*usd {
		t.Errorf("credited by hand too: %v", f.paid(acc))
	}
	f.Verified()
}

// TestOnlyTheLastLookCounts: two looks settled in the wrong order end as in the right one.
func TestOnlyTheLastLookCounts(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	top := f.Begun(acc, 20*usd)
	f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{})
	older, newer := f.Look(), f.Look()
	f.Settle(newer, ledgertest.Told(top, payment.Succeeded, 12*usd), payment.Event{ID: "b", Kind: payment.Refunded})
	f.Settle(older, ledgertest.Told(top, payment.Succeeded, 5*usd), payment.Event{ID: "a", Kind: payment.Refunded})
	if got := f.paid(acc); got != 8*usd {
		t.Errorf("%v is left", got)
	}
	for _, c := range []struct{ refunded, left billing.Money }{
		{12 * usd, 8 * usd}, {7 * usd, 13 * usd}, {20 * usd, 0}, {25 * usd, 0}, {0, 20 * usd},
	} {
		if f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, c.refunded), payment.Event{}); f.paid(acc) != c.left {
			t.Errorf("%v refunded: %v is left, want %v", c.refunded, f.paid(acc), c.left)
		}
		f.Verified()
	}
}

// TestDisputes: in every order of its events, each told twice, a dispute ends the same.
func TestDisputes(t *testing.T) {
	f := setup(t)
	for _, c := range []struct {
		ends payment.Kind
		left billing.Money
		open int
	}{{payment.DisputeWon, 20 * usd, 0}, {payment.DisputeLost, 5 * usd, 1}} {
		kinds := []payment.Kind{payment.DisputeOpened, payment.DisputeFundsWithdrawn, c.ends}
		for n, order := range [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
			acc := f.NewAccount(0)
			top := f.Begun(acc, 20*usd)
			ref := fmt.Sprintf("dp_%s_%d", c.ends, n)
			for at, i := range slices.Concat(order, order) {
				f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{ID: fmt.Sprint(ref, at), Kind: kinds[i],
					Dispute: payment.Dispute{Ref: ref, Amount: 15 * usd}})
			}
			if a := f.Show(acc); a.Pots.Paid != c.left || a.OpenDisputes != c.open {
				t.Errorf("%s in the order %v: %v is left, %d open", c.ends, order, a.Pots.Paid, a.OpenDisputes)
			}
			if c.open > 0 {
				if _, err := f.Payments.CreateTopUp(f.Context(), acc, "sim", 10*usd); !errors.Is(err, store.ErrDisputed) {
					t.Errorf("a top-up in a dispute: %v", err)
				}
				// An operator ends it, and late events do not open it again.
				f.OK(f.ResolveDispute(f.Context(), acc, ""))
				f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{ID: ref + "late", Kind: payment.DisputeOpened,
					Dispute: payment.Dispute{Ref: ref, Amount: 15 * usd}})
				if f.Show(acc).OpenDisputes != 0 {
					t.Error("it is open again")
				}
			}
		}
	}
	// Never more than was paid; and the operator's own becomes the provider's.
	acc := f.NewAccount(0)
	top := f.Begun(acc, 20*usd)
	f.OK(f.OpenDispute(f.Context(), acc, "dp_x"))
	f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{ID: "x", Kind: payment.DisputeFundsWithdrawn, Dispute: payment.Dispute{Ref: "dp_x", Amount: 90 * usd}})
	if a := f.Show(acc); a.Pots.Paid != 0 || a.OpenDisputes != 1 {
		t.Errorf("%v is left, %d open", a.Pots.Paid, a.OpenDisputes)
	}
	f.Verified()
}

// TestPaymentsBelongToSomebody: the account that a payment names must be its top-up's.
func TestPaymentsBelongToSomebody(t *testing.T) {
	f := setup(t)
	mine, theirs := f.NewAccount(0), f.NewAccount(0)
	top := f.Begun(theirs, 20*usd)
	ctx := f.Context()
	wrong := ledgertest.Told(top, payment.Succeeded, 0)
	wrong.Account = mine
	unknown := ledgertest.Told(top, payment.Succeeded, 0)
	unknown.TopUp = "top_x"
	for name, s := range map[string]payments.PaymentRead{
		"another account":  {Provider: "sim", Payment: wrong},
		"another provider": {Provider: "stripe", Payment: ledgertest.Told(top, payment.Succeeded, 0)},
		"no top-up":        {Provider: "sim", Payment: unknown},
	} {
		s.Version = f.Look()
		if _, err := f.Payments.ReconcilePayment(ctx, s); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err1 := f.Payments.TopUp(ctx, mine, top.ID)
	_, err2 := f.Payments.OpenTopUp(ctx, mine, top.ID, payment.Checkout{ID: "cs_y", URL: "http://evil.example"})
	_, err3 := f.Payments.Customer(ctx, mine, "sim")
	for _, err := range []error{err1, err2, err3} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Error(err)
		}
	}
	if list, err := f.Payments.TopUps(ctx, mine, store.Page{}); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
	if c, err := f.Payments.Customer(ctx, theirs, "sim"); c != "cus_"+theirs || err != nil {
		t.Errorf("%q, %v", c, err)
	}
	if f.paid(theirs) != 0 {
		t.Error("it was credited")
	}
	f.Verified()
}

func TestTopUpsAreBounded(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	for range payments.MaxTopUps {
		f.Begun(acc, 10*usd)
	}
	if _, err := f.Payments.CreateTopUp(f.Context(), acc, "sim", 10*usd); !errors.Is(err, store.ErrTopUps) {
		t.Errorf("one more: %v", err)
	}
	if _, err := f.Payments.CreateTopUp(f.At(t0.Add(time.Hour)), acc, "sim", 10*usd); err != nil {
		t.Errorf("an hour later: %v", err)
	}
}

// TestRefundsWeMake: never more than the unspent paid pot; what is made at the
// provider's page is booked as it happened.
func TestRefundsWeMake(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	top := f.Begun(acc, 20*usd)
	ask := func(amount billing.Money, want error) *payments.Refund {
		t.Helper()
		r, err := f.Payments.RequestRefund(f.Context(), acc, top.ID, amount)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Fatalf("%v; want %v", err, want)
		}
		return r
	}
	ask(5*usd, store.ErrInvalid) // nothing is paid
	f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{})
	for _, amount := range []billing.Money{0, -usd, billing.Cent + 1, 20*usd + billing.Cent} {
		ask(amount, store.ErrInvalid)
	}
	for account, id := range map[string]string{acc: "top_x", f.NewAccount(5 * usd): top.ID} {
		if _, err := f.Payments.RequestRefund(f.Context(), account, id, usd); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("of somebody else: %v", err)
		}
	}
	// Spent, in progress and held is not there any more; welcome credit is no money.
	call := f.Start(acc, ledgertest.OutboundES)
	f.MustCheckpoint(call, 1, billing.Usage{billing.AgentTime: 600_000, billing.LineTime: 1})
	f.OK(f.LineMinute(f.Context(), call, 2))
	p := f.Show(acc).Pots
	left := (p.PaidLeft() - p.Held) / billing.Cent * billing.Cent
	ask(left+billing.Cent, store.ErrInsufficientBalance)
	f.OK(f.OpenDispute(f.Context(), acc, "dp"))
	ask(usd, store.ErrDisputed)
	f.OK(f.ResolveDispute(f.Context(), acc, "dp"))

	r := ask(left, nil)
	after := p.Paid - left
	if f.paid(acc) != after || r.State != payments.RefundAsked || r.Payment != "pi_"+top.ID {
		t.Fatalf("%v is left, %+v", f.paid(acc), r)
	}
	ask(billing.Cent, store.ErrInvalid) // one at a time
	f.Verified()
	// What others see of the payment meanwhile changes nothing.
	for _, seen := range []billing.Money{0, left} {
		if f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, seen), payment.Event{}); f.paid(acc) != after {
			t.Errorf("%v refunded: %v is left, want %v", seen, f.paid(acc), after)
		}
	}
	asked, err := f.Payments.AskedRefunds(f.Context(), "sim")
	f.OK(err)
	if len(asked) != 1 || asked[0].ID != r.ID || asked[0].Amount != left {
		t.Errorf("to be made: %+v", asked)
	}
	end := func(look int64, state payments.RefundState, seen billing.Money) error {
		done := *r
		done.State, done.Code = state, "x"
		_, err := f.Payments.ReconcilePayment(f.Context(), payments.PaymentRead{Provider: "sim", Version: look, Payment: ledgertest.Told(top, payment.Succeeded, seen), Refund: &done})
		return err
	}
	stale, fresh := f.Look(), f.Look()
	f.Settle(fresh, ledgertest.Told(top, payment.Succeeded, left), payment.Event{})
	if err := end(stale, payments.RefundDone, left); !errors.Is(err, store.ErrStaleRead) {
		t.Errorf("ended by an old look: %v", err)
	}
	f.OK(end(f.Look(), payments.RefundDone, left))
	if got, err := f.Payments.Refund(f.Context(), acc, r.ID); err != nil || got.State != payments.RefundDone || got.SettledAt == nil || f.paid(acc) != after {
		t.Errorf("%+v, %v; %v is left", got, err, f.paid(acc))
	}
	// At the provider's page there is no such bound.
	if f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 20*usd), payment.Event{}); f.paid(acc) != p.Paid-20*usd || f.Show(acc).Pots.PaidLeft() >= 0 {
		t.Errorf("all of it: %v is left", f.paid(acc))
	}
	f.Verified()

	// One that the provider refuses comes back.
	other := f.Begun(acc, 30*usd)
	f.Settle(f.Look(), ledgertest.Told(other, payment.Succeeded, 0), payment.Event{})
	before := f.paid(acc)
	top = other
	r = ask(10*usd, nil)
	f.OK(end(f.Look(), payments.RefundFailed, 0))
	if got, err := f.Payments.Refund(f.Context(), acc, r.ID); err != nil || got.State != payments.RefundFailed || got.Code != "x" || f.paid(acc) != before {
		t.Errorf("%+v, %v; %v is left, want %v", got, err, f.paid(acc), before)
	}
	f.Verified()
}

// TestRefundsAndUsageMeet: as many refunds at once as there are cents, of two top-ups,
// never bring the paid pot below zero.
func TestRefundsAndUsageMeet(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	var tops []*payments.TopUp
	for range 8 {
		top := f.Begun(acc, 10*usd)
		f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{})
		tops = append(tops, top)
	}
	f.Adjust(acc, 5*usd+25*usd) // of 80 only 25 are left
	var wg sync.WaitGroup
	var mu sync.Mutex
	made := 0
	for _, top := range tops {
		wg.Go(func() {
			_, err := f.Payments.RequestRefund(f.Context(), acc, top.ID, 10*usd)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				made++
			case !errors.Is(err, store.ErrInsufficientBalance):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made != 2 || f.paid(acc) != 5*usd {
		t.Errorf("%d refunds, %v is left", made, f.paid(acc))
	}
	f.Verified()
}
