package stripe_test

import (
	"testing"

	stripego "github.com/stripe/stripe-go/v85"

	"parley/billing"
	"parley/billing/payment"
	"parley/billing/payment/paymenttest"
	"parley/billing/payment/stripe"
)

func TestConformance(t *testing.T) {
	paymenttest.Run(t, func(t *testing.T) (payment.Provider, paymenttest.Controls) {
		f := newFake(t)
		return f.provider(t, 0), f
	})
}

// provider talks to the fake. The library sleeps half a second before it tries
// again, so most tests allow none.
func (f *fake) provider(t *testing.T, retries int64) *stripe.Provider {
	t.Helper()
	p, err := stripe.New(stripe.Config{Key: apiKey, WebhookSecret: hookSecret, Backend: stripego.BackendConfig{
		URL: stripego.String(f.url), MaxNetworkRetries: stripego.Int64(retries),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *fake) Amount(b paymenttest.Behaviour) billing.Money {
	cents := map[paymenttest.Behaviour]billing.Money{
		paymenttest.Declined: 1, paymenttest.InsufficientFunds: 2, paymenttest.AuthenticationRequired: 3,
		paymenttest.TimeoutAfterSuccess: 4, paymenttest.Late: 5, paymenttest.Twice: 6, paymenttest.OutOfOrder: 7,
		paymenttest.Never: 8,
	}
	return 20*billing.USD + cents[b]*billing.Cent
}

func (f *fake) Pay(_ testing.TB, c payment.Checkout) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.try(c.ID, true)
}

func (f *fake) Refuse(_ testing.TB, c payment.Checkout) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.try(c.ID, false)
}

func (f *fake) Dispute(_ testing.TB, id string, amount billing.Money) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.put(doc{"id": f.id("dp"), "object": "dispute", "amount": int64(amount / billing.Cent), "currency": "usd",
		"payment_intent": id, "charge": f.objects[id]["latest_charge"], "reason": "fraudulent", "status": "needs_response"})
	f.emit(f.id("evt"), "charge.dispute.created", d, 0)
	f.emit(f.id("evt"), "charge.dispute.funds_withdrawn", d, 0)
	return d["id"].(string)
}

func (f *fake) Decide(_ testing.TB, ref string, won bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.objects[ref]
	d["status"] = "lost"
	if won {
		d["status"] = "won"
		f.emit(f.id("evt"), "charge.dispute.funds_reinstated", d, 0)
	}
	f.emit(f.id("evt"), "charge.dispute.closed", d, 0)
}

func (f *fake) Deliveries(testing.TB) []paymenttest.Delivery {
	f.mu.Lock()
	defer f.mu.Unlock()
	got := f.delivered
	f.delivered = nil
	return got
}
