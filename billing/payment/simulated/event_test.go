package simulated_test

import (
	"errors"
	"net/http"
	"testing"

	"parley/billing"
	"parley/billing/payment"
	"parley/billing/payment/simulated"
)

func TestEvent(t *testing.T) {
	b := newBench(t, nil)
	read := func(body string) (payment.Event, error) {
		h := http.Header{}
		h.Set(simulated.SignatureHeader, payment.Sign(secret, []byte(body), b.clock()))
		return b.Event(h, []byte(body), b.clock())
	}
	for _, c := range []struct {
		body string
		want payment.Event
	}{
		{`{"id":"e","object":"event","type":"refunded","payment":"p"}`, payment.Event{ID: "e", Kind: payment.Refunded, Payment: "p"}},
		{`{"id":"e","object":"event","type":"invented","payment":"p"}`, payment.Event{ID: "e", Kind: payment.Ignored}},
		{`{"id":"e","object":"event","type":"dispute_won","payment":"p","dispute":{"ref":"d","amount":2.5,"reason":"r"}}`,
			payment.Event{ID: "e", Kind: payment.DisputeWon, Payment: "p", Dispute: payment.Dispute{Ref: "d", Amount: 250 * billing.Cent, Reason: "r"}}},
	} {
		if got, err := read(c.body); err != nil || got != c.want {
			t.Errorf("%s: %+v, %v", c.body, got, err)
		}
	}
	for _, body := range []string{``, `[]`, `{}`, `{"id":"e","object":"event","type":"refunded"}`,
		`{"id":"e","object":"event","type":"dispute_won","payment":"p"}`,
		`{"id":"e","object":"event","type":"dispute_won","payment":"p","dispute":{"amount":"2.5"}}`} {
		if got, err := read(body); !errors.Is(err, payment.ErrEvent) {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}
