package carrier

import "errors"

// Errors of a Carrier.
var (
	// ErrNotAvailable: the number is not for sale: sold, withdrawn, never offered.
	ErrNotAvailable = errors.New("the number is not available")
	// ErrRefused: the carrier will not do it, and not do it later either; a *Refusal says why.
	ErrRefused = errors.New("the carrier refused")
	// ErrUnavailable: the carrier cannot be reached, is too busy, or does not take our credentials. Try
	// again later; nothing is known about what was asked for.
	ErrUnavailable = errors.New("the carrier cannot be reached")
	// ErrUnclear: the request may have been carried out all the same; an ErrUnavailable, too.
	ErrUnclear = errors.New("outcome unclear")
	// ErrNotFound: no such order, no such message, or no such number of ours.
	ErrNotFound = errors.New("the carrier does not know it")
	// ErrReferenceReused: the reference belongs to an order of another number.
	ErrReferenceReused = errors.New("order reference used for another number")
	// ErrSignature: a webhook that the carrier did not sign just now, or one seen before.
	ErrSignature = errors.New("webhook signature is missing, wrong, too old or used")
	// ErrNotice: a signed webhook that cannot be read.
	ErrNotice = errors.New("webhook cannot be read")
)

// Refusal is an ErrRefused with the carrier's words.
type Refusal struct {
	Reason string // for people; without secrets
}

func (e *Refusal) Error() string { return ErrRefused.Error() + ": " + e.Reason }

func (e *Refusal) Unwrap() error { return ErrRefused }

// Refused makes a Refusal.
func Refused(reason string) error { return &Refusal{Reason: reason} }
