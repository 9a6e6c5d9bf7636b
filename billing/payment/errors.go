package payment

import (
	"errors"
	"fmt"
	"math"

	"parley/billing"
)

// Errors of a Provider. Card refusals come as a *CardError that wraps one of the first three.
var (
	// ErrDeclined: the bank said no; CardError.Code says why.
	ErrDeclined = errors.New("the card was declined")
	// ErrAuthentication: the bank wants the customer present; charging again is no use.
	ErrAuthentication = errors.New("the bank wants the customer to authenticate")
	// ErrNoCard: there is no saved card to charge.
	ErrNoCard = errors.New("no saved card")
	// ErrUnknown: no answer in time, or one that says nothing. Money may have moved. Call again with
	// the same Key, which is safe, to learn the outcome; an event may tell it earlier.
	ErrUnknown = errors.New("the outcome of the payment request is unknown")
	// ErrRefused: the provider refused the request for a reason that is not the card's: our
	// credentials, its rate limit, an argument it does not know. No money moved.
	ErrRefused = errors.New("the payment provider refused the request")
	// ErrKeyReused: the key belongs to a request with other contents.
	ErrKeyReused = errors.New("idempotency key used for another request")
	// ErrNotFound: no such payment, or none of ours.
	ErrNotFound = errors.New("payment not found")
	// ErrRefundTooLarge: more than what is left of the payment.
	ErrRefundTooLarge = errors.New("refund is larger than what is left of the payment")
	// ErrAmount: not a positive whole number of cents.
	ErrAmount = errors.New("not a positive amount of whole cents")
	// ErrSignature: a webhook that the provider did not sign just now.
	ErrSignature = errors.New("webhook signature is missing, wrong or too old")
	// ErrEvent: a signed webhook that cannot be read.
	ErrEvent = errors.New("webhook cannot be read")
)

// CodeAuthentication is every provider's word for ErrAuthentication: the Code of the
// error and of the payment.
const CodeAuthentication = "authentication_required"

// CardError is a card that could not be charged.
type CardError struct {
	Err     error  // ErrDeclined, ErrAuthentication or ErrNoCard
	Code    string // the provider's word, such as insufficient_funds; may be empty
	Payment string // id of the failed payment; may be empty
}

func (e *CardError) Error() string {
	if e.Code == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + ": " + e.Code
}

func (e *CardError) Unwrap() error { return e.Err }

// Cents gives an amount in cents, exactly, or ErrAmount.
func Cents(m billing.Money) (int64, error) {
	if m <= 0 || m%billing.Cent != 0 {
		return 0, ErrAmount
	}
	return int64(m / billing.Cent), nil
}

// MaxKey bounds an idempotency key, in bytes: Stripe allows 255, with a prefix of ours.
const MaxKey = 200

// Check gives the amount of a request in cents, as Cents does, and refuses a key (ErrRefused) that
// is empty or too long.
func Check(amount billing.Money, key string) (cents int64, err error) {
	if cents, err = Cents(amount); err == nil && (key == "" || len(key) > MaxKey) {
		err = fmt.Errorf("%w: a key has 1 to %d bytes", ErrRefused, MaxKey)
	}
	return cents, err
}

// FromCents is the amount of so many cents, zero included, or ErrAmount when
// it is negative or does not fit.
func FromCents(cents int64) (billing.Money, error) {
	if cents < 0 || cents > math.MaxInt64/int64(billing.Cent) {
		return 0, ErrAmount
	}
	return billing.Money(cents) * billing.Cent, nil
}
