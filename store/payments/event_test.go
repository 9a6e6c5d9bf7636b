package payments_test

import (
	"fmt"
	"sync"
	"testing"

	"parley/billing"
	"parley/billing/payment"
	"parley/store/ledger/ledgertest"
	"parley/store/payments"
)

// TestAnEventCountsOnce: an event is told from others by its name alone. Told again, at
// once, late, or with something else in it, it changes nothing.
func TestAnEventCountsOnce(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	top := f.Begun(acc, 20*usd)
	f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{})
	event := func(id string, kind payment.Kind, ref string, amount billing.Money) payment.Event {
		return payment.Event{ID: id, Kind: kind, Dispute: payment.Dispute{Ref: ref, Amount: amount}}
	}
	tell := func(e payment.Event) { t.Helper(); f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), e) }
	want := func(when string, paid billing.Money, open int) {
		t.Helper()
		if a := f.Show(acc); a.Pots.Paid != paid || a.OpenDisputes != open {
			t.Errorf("%s: %v paid, %d open disputes; want %v and %d", when, a.Pots.Paid, a.OpenDisputes, paid, open)
		}
	}
	// Each delivery finds the name unused and would open a dispute of its own.
	const atOnce = 16
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			_, err := f.Payments.ReconcilePayment(f.Context(), payments.PaymentRead{Provider: "sim", Version: f.Look(), Payment: ledgertest.Told(top, payment.Succeeded, 0),
				Event: event("evt_once", payment.DisputeFundsWithdrawn, fmt.Sprint("dp_", i), usd)})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	want("told sixteen times at once", 19*usd, 1)

	opened, withdrawn, won := event("evt_1", payment.DisputeOpened, "dp_x", 5*usd), event("evt_2", payment.DisputeFundsWithdrawn, "dp_x", 5*usd),
		event("evt_3", payment.DisputeWon, "dp_x", 5*usd)
	for _, e := range []payment.Event{opened, withdrawn, withdrawn, opened} {
		tell(e)
	}
	want("withdrawn", 14*usd, 2)
	for _, e := range []payment.Event{won, withdrawn, opened, won, event("evt_once", payment.DisputeFundsWithdrawn, "dp_0", usd)} {
		tell(e)
	}
	want("won", 19*usd, 1)
	// Of a name that has been settled nothing else is believed.
	for _, e := range []payment.Event{event("evt_1", payment.DisputeOpened, "dp_y", usd), event("evt_2", payment.DisputeFundsWithdrawn, "dp_y", 9*usd)} {
		tell(e)
		want("an old name with other contents", 19*usd, 1)
	}
	// Two providers may have one name.
	if done, err := f.Payments.EventApplied(f.Context(), "stripe", "evt_1"); err != nil || done {
		t.Errorf("another provider's: %v, %v", done, err)
	}
	f.Verified()
}

// TestDisputeOpenedAgainByHand: an operator who has ended a provider's dispute may open
// it again. The provider's goes on as before, and does not end the operator's.
func TestDisputeOpenedAgainByHand(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(0)
	top := f.Begun(acc, 20*usd)
	n := 0
	tell := func(kind payment.Kind, paid billing.Money, open int) {
		t.Helper()
		n++
		f.Settle(f.Look(), ledgertest.Told(top, payment.Succeeded, 0), payment.Event{ID: fmt.Sprint("evt_", n), Kind: kind, Dispute: payment.Dispute{Ref: "dp", Amount: 5 * usd}})
		if a := f.Show(acc); a.Pots.Paid != paid || a.OpenDisputes != open {
			t.Errorf("%s: %v paid, %d open; want %v and %d", kind, a.Pots.Paid, a.OpenDisputes, paid, open)
		}
		f.Verified()
	}
	tell(payment.DisputeOpened, 20*usd, 1)
	f.OK(f.ResolveDispute(f.Context(), acc, "dp"))
	f.OK(f.OpenDispute(f.Context(), acc, "dp"))
	tell(payment.DisputeFundsWithdrawn, 15*usd, 1)
	tell(payment.DisputeWon, 20*usd, 1)
	f.OK(f.ResolveDispute(f.Context(), acc, "dp"))
	tell(payment.DisputeOpened, 20*usd, 0)
}
