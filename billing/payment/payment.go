// Package payment is how a customer's money gets in: Provider, what every
// payment provider does for us, the values it speaks in, and the signature of
// its webhooks. It holds no balance and decides no credit; that is the ledger.
//
// The pieces meet like this:
//
//	top-up         the ledger makes a top-up with an id of its own -> Checkout ->
//	               the customer pays on Checkout.URL, and the card is kept for later
//	auto-recharge  the ledger makes an attempt with an id of its own -> Charge with
//	               that id as Key, nobody present
//	webhook        raw header and body -> Event -> store Event.ID (a second one with
//	               the same id is a duplicate), answer 2xx, work later
//	work           Event.Payment -> Payment -> what that says is done, keyed by
//	               Payment.ID
//
// An event is a hint: it comes late, twice, before an older one or never, so it
// only says where to look. Credit is given when Payment says Succeeded, once for
// each Payment.ID, whether an event, the answer of Charge, or a look-up because
// no event came (Payment also takes a Checkout.ID) led there. Payment.Refunded is
// cumulative for the same reason: post the difference to what was posted before.
//
// Disputes cannot be re-read, so their events are believed, in any order: one
// that was won or lost never opens again, whatever comes after, and money moves
// only at DisputeFundsWithdrawn and, back, at DisputeWon, if it was withdrawn.
package payment

import (
	"context"
	"net/http"
	"time"

	"parley/billing"
)

// Provider takes payments by card. Its methods may be called from several
// goroutines, return before long even when the context has no deadline, and
// return the errors of this package. Amounts are whole cents of US dollars above
// zero (ErrAmount); how little or much may be paid at once is the caller's rule.
type Provider interface {
	// Name is a short constant such as "stripe", fit for a column of the ledger.
	Name() string
	// Checkout makes a page on which the customer pays Amount, and allows the card
	// to be charged later. The same TopUp again gives the same page; with another amount it
	// is ErrKeyReused.
	Checkout(context.Context, CheckoutRequest) (Checkout, error)
	// Charge takes Amount from the card the customer saved last, with nobody present. The
	// same Key again moves no money and gives the first outcome, an error too; with another
	// amount or account it is ErrKeyReused. The payment may come back Processing.
	Charge(context.Context, ChargeRequest) (Payment, error)
	// Payment reads a payment from the provider, which alone decides what it is. The id is a
	// Payment.ID, Checkout.ID or Event.Payment. What we did not start is ErrNotFound.
	Payment(ctx context.Context, id string) (Payment, error)
	// Refund gives back Amount of a payment that succeeded, at most what is left
	// of it (ErrRefundTooLarge). Key works as for Charge.
	Refund(context.Context, RefundRequest) (Refund, error)
	// Event verifies a webhook that arrived at now and reads it. The body must be the bytes as they
	// came. Unsigned, wrongly signed, more than Tolerance old: ErrSignature. Signed, but not readable:
	// ErrEvent. What is of no interest is Ignored, without error, and deserves a 2xx too.
	Event(header http.Header, body []byte, now time.Time) (Event, error)
}

// CheckoutRequest asks for a page to pay on.
type CheckoutRequest struct {
	TopUp      string // our id of the top-up
	Account    string // our id of the account
	Customer   string // the provider's id of the customer, from an earlier Checkout; may be empty
	Amount     billing.Money
	SuccessURL string // where the customer lands after paying, which proves nothing
	CancelURL  string // where the customer lands after giving up
}

// Checkout is a page to pay on.
type Checkout struct {
	ID       string // no payment's id yet, but Payment takes it
	URL      string // send the customer here
	Customer string // keep it for Charge and the next Checkout
}

// ChargeRequest asks for money from a saved card.
type ChargeRequest struct {
	Key      string // idempotency key: our id of the attempt, at most 200 bytes
	Account  string // our id of the account
	Customer string // from Checkout or Payment; empty is ErrNoCard
	Amount   billing.Money
}

// State is how far a payment is.
type State string

// Only Processing moves on by itself, to Succeeded or Failed. A Pending payment
// waits for the customer; the other three are final.
const (
	Pending    State = "pending"
	Processing State = "processing"
	Succeeded  State = "succeeded"
	Failed     State = "failed"
	Canceled   State = "canceled"
)

// Payment is a payment as the provider sees it now.
type Payment struct {
	ID       string // the key of everything decided about it; empty while a checkout has none
	TopUp    string // CheckoutRequest.TopUp, or empty
	Key      string // ChargeRequest.Key, or empty
	Account  string
	Customer string
	Amount   billing.Money // once Succeeded: what was really received
	Refunded billing.Money // of it, so far; less again when a refund fails
	State    State
	Code     string // why the last try failed, such as insufficient_funds; or empty
}

// RefundRequest asks to give money back.
type RefundRequest struct {
	Key     string // idempotency key, at most 200 bytes
	Payment string // Payment.ID
	Amount  billing.Money
}

// Refund is money on its way back to the card.
type Refund struct {
	ID      string
	Payment string
	Amount  billing.Money
	State   State // Processing, Succeeded, Failed or Canceled
}
