package stripe

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"parley/billing/payment"
)

// event is the little that is read of a webhook. The library's types belong to one API version and
// an endpoint may be set to another; these fields have had their names in all of them for years.
type event struct {
	ID     string `json:"id"`
	Object string `json:"object"`
	Type   string `json:"type"`
	Data   struct {
		Object json.RawMessage `json:"object"`
	} `json:"data"`
}

// object is the session, intent, charge or dispute inside an event.
type object struct {
	ID            string            `json:"id"`
	Metadata      map[string]string `json:"metadata"`
	Mode          string            `json:"mode"`
	PaymentStatus string            `json:"payment_status"`
	PaymentIntent reference         `json:"payment_intent"`
	Currency      string            `json:"currency"`
	Amount        int64             `json:"amount"`
	Reason        string            `json:"reason"`
	Status        string            `json:"status"`
}

// reference is an id, or an object with one when the endpoint expands it.
type reference string

func (r *reference) UnmarshalJSON(b []byte) error {
	var whole struct {
		ID string `json:"id"`
	}
	if len(b) > 0 && b[0] == '{' {
		err := json.Unmarshal(b, &whole)
		*r = reference(whole.ID)
		return err
	}
	return json.Unmarshal(b, (*string)(r))
}

// Event implements payment.Provider. Stripe signs each delivery anew, so a late
// one verifies too (docs.stripe.com/webhooks#replay-attacks).
func (p *Provider) Event(header http.Header, body []byte, now time.Time) (payment.Event, error) {
	if err := payment.Verify(p.secret, header.Get("Stripe-Signature"), body, now); err != nil {
		return payment.Event{}, err
	}
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		return payment.Event{}, fmt.Errorf("%w: %w", payment.ErrEvent, err)
	}
	if e.Object != "event" || e.ID == "" {
		return payment.Event{}, fmt.Errorf("%w: not an event with its contents", payment.ErrEvent)
	}
	read := readers[e.Type]
	if read == nil {
		return payment.Event{ID: e.ID, Kind: payment.Ignored}, nil
	}
	var o object
	if err := json.Unmarshal(e.Data.Object, &o); err != nil {
		return payment.Event{}, fmt.Errorf("%w: %s: %w", payment.ErrEvent, e.ID, err)
	}
	out, err := read(o)
	if err != nil {
		return payment.Event{}, fmt.Errorf("%w: %s: %w", payment.ErrEvent, e.ID, err)
	}
	if out.Kind == "" || out.Payment == "" {
		return payment.Event{ID: e.ID, Kind: payment.Ignored}, nil
	}
	out.ID = e.ID
	return out, nil
}

// readers are the events we listen to (docs.stripe.com/api/events/types); an
// endpoint needs to be subscribed to no others.
var readers = map[string]func(object) (payment.Event, error){
	"checkout.session.completed":               session(payment.PaymentSucceeded),
	"checkout.session.async_payment_succeeded": session(payment.PaymentSucceeded),
	"checkout.session.async_payment_failed":    session(payment.PaymentFailed),
	"checkout.session.expired":                 session(payment.PaymentFailed),
	"payment_intent.succeeded":                 intent(payment.PaymentSucceeded),
	"payment_intent.payment_failed":            intent(payment.PaymentFailed),
	"payment_intent.canceled":                  intent(payment.PaymentFailed),
	"charge.refunded":                          refund,
	"refund.failed":                            refund,
	"charge.dispute.created":                   dispute(payment.DisputeOpened),
	"charge.dispute.funds_withdrawn":           dispute(payment.DisputeFundsWithdrawn),
	"charge.dispute.closed":                    disputeClosed,
}

// session: one that is complete but unpaid waits for a slow way of paying, and
// another event will follow; one that expired may never have had a payment.
func session(kind payment.Kind) func(object) (payment.Event, error) {
	return func(o object) (payment.Event, error) {
		unpaid := kind == payment.PaymentSucceeded && o.PaymentStatus != "paid"
		if o.Metadata[metaAccount] == "" || o.Mode != "payment" || unpaid {
			return payment.Event{}, nil
		}
		id := string(o.PaymentIntent)
		if id == "" {
			id = o.ID
		}
		return payment.Event{Kind: kind, Payment: id}, nil
	}
}

func intent(kind payment.Kind) func(object) (payment.Event, error) {
	return func(o object) (payment.Event, error) {
		if o.Metadata[metaAccount] == "" {
			return payment.Event{}, nil
		}
		return payment.Event{Kind: kind, Payment: o.ID}, nil
	}
}

// refund, like dispute, does not say whose it is: reading the payment will. A
// charge and a refund both name their payment.
func refund(o object) (payment.Event, error) {
	return payment.Event{Kind: payment.Refunded, Payment: string(o.PaymentIntent)}, nil
}

func dispute(kind payment.Kind) func(object) (payment.Event, error) {
	return func(o object) (payment.Event, error) {
		if o.Currency != "usd" { // all we charge is in dollars
			return payment.Event{}, nil
		}
		amount, err := payment.FromCents(o.Amount)
		return payment.Event{
			Kind:    kind,
			Payment: string(o.PaymentIntent),
			Dispute: payment.Dispute{Ref: o.ID, Amount: amount, Reason: o.Reason},
		}, err
	}
}

// disputeClosed: an inquiry that ends without becoming a dispute is
// warning_closed, one that was headed off is prevented; both cost nothing.
func disputeClosed(o object) (payment.Event, error) {
	switch o.Status {
	case "lost":
		return dispute(payment.DisputeLost)(o)
	case "won", "warning_closed", "prevented":
		return dispute(payment.DisputeWon)(o)
	}
	return payment.Event{}, fmt.Errorf("dispute closed as %q", o.Status)
}
