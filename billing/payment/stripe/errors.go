package stripe

import (
	"errors"
	"fmt"
	"net/http"

	stripego "github.com/stripe/stripe-go/v85"

	"parley/billing/payment"
)

// requestError turns what the library returns into our errors. Of Stripe's own answer only its
// words for the kind of error are kept: the message can hold a part of the API key, and the
// attached objects hold client secrets.
func requestError(what string, err error) error {
	var e *stripego.Error
	if !errors.As(err, &e) { // no answer, or none of Stripe's
		return fmt.Errorf("%w: stripe: %s: %w", payment.ErrUnknown, what, err)
	}
	kind := payment.ErrRefused
	switch {
	case e.Type == stripego.ErrorTypeCard:
		id := ""
		if e.PaymentIntent != nil {
			id = e.PaymentIntent.ID
		}
		return cardError(cardCode(e), id)
	case e.HTTPStatusCode >= http.StatusInternalServerError,
		e.HTTPStatusCode == http.StatusConflict, // a request with the same key is still running
		e.Code == stripego.ErrorCodeIdempotencyKeyInUse, e.Code == stripego.ErrorCodeLockTimeout:
		kind = payment.ErrUnknown
	case e.Type == stripego.ErrorTypeIdempotency:
		kind = payment.ErrKeyReused
	}
	return fmt.Errorf("%w: stripe: %s: %d %s %s (request %s)", kind, what, e.HTTPStatusCode, e.Type, e.Code, e.RequestID)
}

func missing(err error) bool {
	var e *stripego.Error
	return errors.As(err, &e) && (e.HTTPStatusCode == http.StatusNotFound || e.Code == stripego.ErrorCodeResourceMissing)
}

func lookupError(what string, err error) error {
	if missing(err) {
		return payment.ErrNotFound
	}
	return requestError(what, err)
}

// customerError: a customer deleted at Stripe has no card.
func customerError(what string, err error) error {
	if missing(err) {
		return &payment.CardError{Err: payment.ErrNoCard}
	}
	return requestError(what, err)
}

// cardCode prefers the bank's word to Stripe's, which is mostly card_declined.
func cardCode(e *stripego.Error) string {
	switch {
	case e.Code == payment.CodeAuthentication:
		return payment.CodeAuthentication
	case e.DeclineCode != "":
		return string(e.DeclineCode)
	case e.Code != "":
		return string(e.Code)
	}
	return string(stripego.ErrorCodeCardDeclined)
}

func cardError(code, id string) error {
	kind := payment.ErrDeclined
	if code == payment.CodeAuthentication {
		kind = payment.ErrAuthentication
	}
	return &payment.CardError{Err: kind, Code: code, Payment: id}
}
