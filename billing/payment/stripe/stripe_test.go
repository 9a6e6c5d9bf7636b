package stripe_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	stripego "github.com/stripe/stripe-go/v85"

	"parley/billing"
	"parley/billing/payment"
	"parley/billing/payment/stripe"
)

// customer is one with a saved card.
func (f *fake) customer() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.put(doc{"id": f.id("cus"), "object": "customer", "metadata": doc{"account": "acct"}})
	f.put(doc{"id": f.id("pm"), "object": "payment_method", "type": "card", "customer": c["id"]})
	return c["id"].(string)
}

func (f *fake) fail(suffix string, status int, body string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures = append(f.failures, failure{suffix, status, body})
}

func charge(customer string) payment.ChargeRequest {
	return payment.ChargeRequest{Key: "attempt", Account: "acct", Customer: customer, Amount: 20 * billing.USD}
}

func TestNewWantsItsSecrets(t *testing.T) {
	for _, c := range []stripe.Config{{}, {Key: apiKey}, {WebhookSecret: hookSecret}, {Key: apiKey + "\n", WebhookSecret: hookSecret}} {
		if _, err := stripe.New(c); err == nil || strings.Contains(err.Error(), apiKey) {
			t.Errorf("%v", err)
		}
	}
}

func TestErrorsOfTheAPI(t *testing.T) {
	problem := func(kind, code string) string {
		return `{"error":{"type":"` + kind + `","code":"` + code + `","message":"says ` + apiKey + `"}}`
	}
	for _, c := range []struct {
		name   string
		path   string
		status int
		body   string
		want   error
	}{
		{"wrong key", "/payment_intents", 401, problem("invalid_request_error", ""), payment.ErrRefused},
		{"rate limit", "/payment_intents", 429, problem("invalid_request_error", "rate_limit"), payment.ErrRefused},
		{"lock", "/payment_intents", 429, problem("invalid_request_error", "lock_timeout"), payment.ErrUnknown},
		{"still running", "/payment_intents", 409, problem("idempotency_error", "idempotency_key_in_use"), payment.ErrUnknown},
		{"down", "/payment_intents", 500, problem("api_error", ""), payment.ErrUnknown},
		{"gateway", "/payment_intents", 502, "<html>bad gateway</html>", payment.ErrUnknown},
		{"cut short", "/payment_intents", 200, `{"object":"list","da`, payment.ErrUnknown},
		{"customer deleted", "/payment_intents", 404, problem("invalid_request_error", "resource_missing"), payment.ErrNoCard},
		{"cards unreadable", "/payment_methods", 503, problem("api_error", ""), payment.ErrUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t)
			customer := f.customer()
			f.fail(c.path, c.status, c.body)
			_, err := f.provider(t, 0).Charge(t.Context(), charge(customer))
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), apiKey) {
				t.Errorf("the key is in %q", err)
			}
			if len(f.Deliveries(t)) > 0 {
				t.Error("money moved")
			}
		})
	}
}

func TestErrorsKeepSecrets(t *testing.T) {
	f := newFake(t)
	wrong, err := stripe.New(stripe.Config{Key: "sk_live_veryverysecret", WebhookSecret: hookSecret, Backend: stripego.BackendConfig{
		URL: stripego.String(f.url), MaxNetworkRetries: stripego.Int64(0),
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, refused := wrong.Charge(t.Context(), charge(f.customer()))
	r := charge(f.customer())
	r.Amount += billing.Cent
	_, declined := f.provider(t, 0).Charge(t.Context(), r)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, canceled := f.provider(t, 0).Payment(ctx, "pi_1")
	for _, c := range []struct{ err, want error }{
		{refused, payment.ErrRefused}, {declined, payment.ErrDeclined}, {canceled, payment.ErrUnknown}, {canceled, context.Canceled},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%v, want %v", c.err, c.want)
		}
		for _, secret := range []string{"sk_", "****", "Bearer", "not_for_logs", hookSecret} {
			if strings.Contains(c.err.Error(), secret) {
				t.Errorf("%q is in %q", secret, c.err)
			}
		}
	}
}

// A server error is tried again with the same idempotency key, so that one
// request that came through twice is one payment.
func TestTriesAgainWithTheSameKey(t *testing.T) {
	f := newFake(t)
	customer := f.customer()
	p := f.provider(t, 1)
	if _, err := p.Charge(t.Context(), payment.ChargeRequest{
		Key: "attempt", Account: "acct", Customer: customer, Amount: 20*billing.USD + 4*billing.Cent,
	}); err != nil {
		t.Fatal(err) // the first answer is lost, the second is the replay
	}
	var keys []string
	for _, r := range f.requests {
		if r.Method == http.MethodPost {
			keys = append(keys, r.Header.Get("Idempotency-Key"))
		}
	}
	if len(keys) != 2 || keys[0] != keys[1] || keys[0] == "" {
		t.Errorf("idempotency keys %q", keys)
	}
	if len(f.Deliveries(t)) != 1 {
		t.Error("paid more than once")
	}
}

// Stripe forgets keys after a day; the payment itself remembers.
func TestKeyOutlivesStripesMemory(t *testing.T) {
	f := newFake(t)
	p, r := f.provider(t, 0), charge(f.customer())
	first, err := p.Charge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	refund := payment.RefundRequest{Key: "refund", Payment: first.ID, Amount: billing.USD}
	given, err := p.Refund(t.Context(), refund)
	if err != nil {
		t.Fatal(err)
	}
	clear(f.replays)
	f.put(doc{"id": f.id("pm"), "object": "payment_method", "type": "card", "customer": r.Customer}) // and a newer card
	if again, err := p.Charge(t.Context(), r); err != nil || again.ID != first.ID {
		t.Errorf("%+v, %v; want payment %s", again, err, first.ID)
	}
	if again, err := p.Refund(t.Context(), refund); err != nil || again != given {
		t.Errorf("%+v, %v; want %+v", again, err, given)
	}
}

// A call that races with another sees no earlier payment, but Stripe has the key.
func TestRacingCallsWithDifferentCards(t *testing.T) {
	f := newFake(t)
	p, r := f.provider(t, 0), charge(f.customer())
	first, err := p.Charge(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	f.put(doc{"id": f.id("pm"), "object": "payment_method", "type": "card", "customer": r.Customer})
	empty := `{"object":"list","has_more":false,"data":[]}`
	f.fail("/payment_intents", http.StatusOK, empty)
	if again, err := p.Charge(t.Context(), r); err != nil || again != first {
		t.Errorf("%+v, %v; want %+v", again, err, first)
	}
	f.fail("/payment_intents", http.StatusOK, empty)
	r.Amount += billing.USD
	if _, err := p.Charge(t.Context(), r); !errors.Is(err, payment.ErrKeyReused) {
		t.Errorf("another amount: %v", err)
	}
}

func TestNewestCardIsCharged(t *testing.T) {
	f := newFake(t)
	r := charge(f.customer())
	newest := f.put(doc{"id": f.id("pm"), "object": "payment_method", "type": "card", "customer": r.Customer})["id"]
	if _, err := f.provider(t, 0).Charge(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if got := f.requests[len(f.requests)-1].PostForm.Get("payment_method"); got != newest {
		t.Errorf("charged %s, want %s", got, newest)
	}
}

func TestStates(t *testing.T) {
	failed := doc{"type": "card_error", "code": "expired_card", "message": "expired"}
	for _, c := range []struct {
		status string
		key    bool
		last   doc
		want   payment.State
		code   string
	}{
		{"requires_payment_method", false, nil, payment.Pending, ""},
		{"requires_payment_method", false, failed, payment.Pending, "expired_card"},
		{"requires_payment_method", true, failed, payment.Failed, "expired_card"},
		{"requires_action", false, nil, payment.Pending, "authentication_required"},
		{"requires_action", true, nil, payment.Failed, "authentication_required"},
		{"requires_confirmation", true, nil, payment.Pending, ""},
		{"requires_capture", true, nil, payment.Pending, ""},
		{"processing", true, failed, payment.Processing, ""},
		{"succeeded", true, failed, payment.Succeeded, ""},
		{"canceled", true, failed, payment.Canceled, "expired_card"},
		{"invented_later", true, nil, payment.Pending, ""},
	} {
		f := newFake(t)
		meta := doc{"account": "acct", "topup": "t"}
		if c.key {
			meta = doc{"account": "acct", "key": "k"}
		}
		pi := f.put(f.intent(2000, "cus_1", meta))
		pi["status"], pi["last_payment_error"] = c.status, c.last
		if c.status == "succeeded" {
			pi["amount_received"] = int64(1999) // what came in counts
		}
		got, err := f.provider(t, 0).Payment(t.Context(), pi["id"].(string))
		if err != nil || got.State != c.want || got.Code != c.code {
			t.Errorf("%s (key %v): %+v, %v; want %s %q", c.status, c.key, got, err, c.want, c.code)
		}
		if want := 2000 * billing.Cent; c.status == "succeeded" && got.Amount != want-billing.Cent || c.status != "succeeded" && got.Amount != want {
			t.Errorf("%s: amount %s", c.status, got.Amount)
		}
	}
}

func TestOthersPaymentsAreNotFound(t *testing.T) {
	f := newFake(t)
	foreign := f.put(f.intent(2000, "cus_1", doc{}))
	euros := f.put(f.intent(2000, "cus_1", doc{"account": "acct", "key": "k"}))
	euros["currency"] = "eur"
	expired := doc{"id": "cs_test_x", "object": "checkout.session", "mode": "payment", "status": "expired", "payment_intent": nil,
		"metadata": doc{"account": "acct"}, "client_reference_id": "t", "amount_total": 1500, "currency": "usd", "customer": "cus_1"}
	f.put(expired)
	p := f.provider(t, 0)
	for _, d := range []doc{foreign, euros} {
		if got, err := p.Payment(t.Context(), d["id"].(string)); !errors.Is(err, payment.ErrNotFound) {
			t.Errorf("%+v, %v", got, err)
		}
		if _, err := p.Refund(t.Context(), payment.RefundRequest{Key: "k", Payment: d["id"].(string), Amount: billing.USD}); !errors.Is(err, payment.ErrNotFound) {
			t.Errorf("refund: %v", err)
		}
	}
	got, err := p.Payment(t.Context(), "cs_test_x")
	if err != nil || got.State != payment.Canceled || got.TopUp != "t" || got.Amount != 15*billing.USD {
		t.Errorf("%+v, %v", got, err)
	}
}
