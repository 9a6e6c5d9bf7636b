package stripe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stripe/stripe-go/v85/webhook"

	"parley/billing"
	"parley/billing/payment"
)

func signed(body []byte) http.Header {
	h := http.Header{}
	h.Set("Stripe-Signature", fmt.Sprintf("t=%d,v1=%s", clock.Unix(), signature(hookSecret, clock, body)))
	return h
}

func TestEvents(t *testing.T) {
	ours := doc{"account": "acct"}
	session := func(changes doc) doc {
		d := doc{"id": "cs_1", "object": "checkout.session", "mode": "payment", "payment_status": "paid", "payment_intent": "pi_1", "metadata": ours}
		for k, v := range changes {
			d[k] = v
		}
		return d
	}
	dispute := func(status, currency string, pi any) doc {
		return doc{"id": "dp_1", "object": "dispute", "amount": 1234, "currency": currency, "payment_intent": pi, "reason": "fraudulent", "status": status}
	}
	d := payment.Dispute{Ref: "dp_1", Amount: 1234 * billing.Cent, Reason: "fraudulent"}
	none := payment.Event{Kind: payment.Ignored}
	succeeded := payment.Event{Kind: payment.PaymentSucceeded, Payment: "pi_1"}
	failed := payment.Event{Kind: payment.PaymentFailed, Payment: "pi_1"}
	for _, c := range []struct {
		kind   string
		object doc
		want   payment.Event
	}{
		{"checkout.session.completed", session(nil), succeeded},
		{"checkout.session.completed", session(doc{"payment_intent": doc{"id": "pi_1", "status": "succeeded"}}), succeeded},
		{"checkout.session.completed", session(doc{"payment_status": "unpaid"}), none},
		{"checkout.session.completed", session(doc{"mode": "subscription"}), none},
		{"checkout.session.completed", session(doc{"metadata": nil}), none},
		{"checkout.session.async_payment_succeeded", session(nil), succeeded},
		{"checkout.session.async_payment_failed", session(doc{"payment_status": "unpaid"}), failed},
		{"checkout.session.expired", session(doc{"payment_status": "unpaid", "payment_intent": nil}), payment.Event{Kind: payment.PaymentFailed, Payment: "cs_1"}},
		{"payment_intent.succeeded", doc{"id": "pi_1", "metadata": ours}, succeeded},
		{"payment_intent.succeeded", doc{"id": "pi_1", "metadata": doc{"shop": "x"}}, none},
		{"payment_intent.payment_failed", doc{"id": "pi_1", "metadata": ours}, failed},
		{"payment_intent.canceled", doc{"id": "pi_1", "metadata": ours}, failed},
		{"payment_intent.created", doc{"id": "pi_1", "metadata": ours}, none},
		{"charge.refunded", doc{"id": "ch_1", "payment_intent": "pi_1", "amount_refunded": 5}, payment.Event{Kind: payment.Refunded, Payment: "pi_1"}},
		{"charge.refunded", doc{"id": "ch_1", "payment_intent": nil}, none},
		{"refund.failed", doc{"id": "re_1", "payment_intent": "pi_1", "status": "failed"}, payment.Event{Kind: payment.Refunded, Payment: "pi_1"}},
		{"charge.dispute.created", dispute("needs_response", "usd", "pi_1"), payment.Event{Kind: payment.DisputeOpened, Payment: "pi_1", Dispute: d}},
		{"charge.dispute.funds_withdrawn", dispute("needs_response", "usd", "pi_1"), payment.Event{Kind: payment.DisputeFundsWithdrawn, Payment: "pi_1", Dispute: d}},
		{"charge.dispute.funds_reinstated", dispute("won", "usd", "pi_1"), none},
		{"charge.dispute.closed", dispute("won", "usd", "pi_1"), payment.Event{Kind: payment.DisputeWon, Payment: "pi_1", Dispute: d}},
		{"charge.dispute.closed", dispute("warning_closed", "usd", doc{"id": "pi_1"}), payment.Event{Kind: payment.DisputeWon, Payment: "pi_1", Dispute: d}},
		{"charge.dispute.closed", dispute("lost", "usd", "pi_1"), payment.Event{Kind: payment.DisputeLost, Payment: "pi_1", Dispute: d}},
		{"charge.dispute.closed", dispute("lost", "eur", "pi_1"), none},
		{"charge.dispute.closed", dispute("lost", "usd", nil), none},
		{"invented.later", doc{"id": 7, "metadata": "text"}, none},
	} {
		f := newFake(t)
		f.emit("evt_1", c.kind, c.object, 0)
		got, err := f.provider(t, 0).Event(f.delivered[0].Header, f.delivered[0].Body, clock)
		c.want.ID = "evt_1"
		if err != nil || got != c.want {
			t.Errorf("%s %v: %+v, %v; want %+v", c.kind, c.object, got, err, c.want)
		}
		// The library's own check agrees, with its check of the version switched off.
		if _, err := webhook.ConstructEventWithOptions(f.delivered[0].Body, f.delivered[0].Header.Get("Stripe-Signature"), hookSecret,
			webhook.ConstructEventOptions{IgnoreTolerance: true, IgnoreAPIVersionMismatch: true}); err != nil {
			t.Errorf("%s: %v", c.kind, err)
		}
	}
}

func TestEventsThatCannotBeRead(t *testing.T) {
	p := newFake(t).provider(t, 0)
	for _, body := range []string{
		``, `[]`, `"event"`, `{`, `{}`, `{"object":"event"}`, `{"id":"evt_1","object":"v2.core.event"}`,
		`{"id":"evt_1","object":"event","type":"charge.refunded"}`,
		`{"id":"evt_1","object":"event","type":"charge.refunded","data":{"object":[]}}`,
		`{"id":"evt_1","object":"event","type":"charge.refunded","data":{"object":{"payment_intent":7}}}`,
		`{"id":"evt_1","object":"event","type":"charge.dispute.closed","data":{"object":{"status":"odd","payment_intent":"pi_1"}}}`,
		`{"id":"evt_1","object":"event","type":"charge.dispute.created","data":{"object":{"currency":"usd","amount":-5,"payment_intent":"pi_1"}}}`,
		`{"id":"evt_1","object":"event","type":"charge.dispute.created","data":{"object":{"currency":"usd","amount":9223372036854775807,"payment_intent":"pi_1"}}}`,
	} {
		if got, err := p.Event(signed([]byte(body)), []byte(body), clock); !errors.Is(err, payment.ErrEvent) {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

func FuzzEvent(f *testing.F) {
	for _, s := range []string{`{}`, `{"id":"e","object":"event","type":"charge.refunded","data":{"object":{"payment_intent":{"id":"pi"}}}}`,
		`{"id":"e","object":"event","type":"payment_intent.succeeded","data":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, err := (&fake{t: t}).provider(t, 0).Event(signed(body), body, clock)
		if err == nil && (e.ID == "" || e.Kind == "" || e.Kind != payment.Ignored && e.Payment == "") {
			t.Errorf("%s: %+v", body, e)
		}
		if err != nil && json.Valid(body) && !errors.Is(err, payment.ErrEvent) {
			t.Errorf("%s: %v", body, err)
		}
	})
}
