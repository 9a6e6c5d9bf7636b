package payment

import "parley/billing"

// Kind is what an event is about.
type Kind string

// Kinds of events. The first three only say that Payment has news.
const (
	PaymentSucceeded Kind = "payment_succeeded"
	PaymentFailed    Kind = "payment_failed" // declined, canceled, or the page expired
	Refunded         Kind = "refunded"       // by us, or by hand at the provider; or a refund failed

	DisputeOpened         Kind = "dispute_opened"
	DisputeFundsWithdrawn Kind = "dispute_funds_withdrawn" // the provider took the money back
	DisputeWon            Kind = "dispute_won"             // or closed without a loss; the money is back if it was gone
	DisputeLost           Kind = "dispute_lost"

	Ignored Kind = "ignored"
)

// Event is a verified webhook.
type Event struct {
	ID      string // the same however often it is delivered
	Kind    Kind
	Payment string  // what to give to Provider.Payment; empty only when Ignored
	Dispute Dispute // zero unless Kind is one of the four about disputes
}

// Dispute is a customer's complaint to the bank about a payment.
type Dispute struct {
	Ref    string        // the provider's id of it, the key of everything decided about it
	Amount billing.Money // what is disputed: all of the payment or a part
	Reason string        // the provider's word for why, such as fraudulent; may be empty
}
