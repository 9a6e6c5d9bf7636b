package stripe

import (
	"fmt"

	stripego "github.com/stripe/stripe-go/v85"

	"parley/billing/payment"
)

// fromIntent reads a PaymentIntent, with latest_charge expanded where Refunded
// matters. Without our metadata, or in another currency, it is not ours.
func fromIntent(pi *stripego.PaymentIntent) (payment.Payment, error) {
	if pi.Metadata[metaAccount] == "" || pi.Currency != stripego.CurrencyUSD {
		return payment.Payment{}, payment.ErrNotFound
	}
	out := payment.Payment{
		ID:      pi.ID,
		TopUp:   pi.Metadata[metaTopUp],
		Key:     pi.Metadata[metaKey],
		Account: pi.Metadata[metaAccount],
		State:   state(pi),
		Code:    failure(pi),
	}
	if pi.Customer != nil {
		out.Customer = pi.Customer.ID
	}
	cents := pi.Amount
	if out.State == payment.Succeeded {
		cents = pi.AmountReceived
	}
	var refunded int64
	if pi.LatestCharge != nil {
		refunded = pi.LatestCharge.AmountRefunded
	}
	var err error
	if out.Amount, err = payment.FromCents(cents); err != nil {
		return payment.Payment{}, fmt.Errorf("stripe: payment %s: %w", pi.ID, err)
	}
	if out.Refunded, err = payment.FromCents(refunded); err != nil {
		return payment.Payment{}, fmt.Errorf("stripe: payment %s: %w", pi.ID, err)
	}
	return out, nil
}

// state maps the life of a PaymentIntent (docs.stripe.com/payments/paymentintents/lifecycle).
// After a decline it waits for another card: on a page the customer may have
// one, but for a charge with nobody present that is the end.
func state(pi *stripego.PaymentIntent) payment.State {
	switch pi.Status {
	case stripego.PaymentIntentStatusSucceeded:
		return payment.Succeeded
	case stripego.PaymentIntentStatusProcessing:
		return payment.Processing
	case stripego.PaymentIntentStatusCanceled:
		return payment.Canceled
	}
	if pi.Metadata[metaKey] != "" && failure(pi) != "" {
		return payment.Failed
	}
	return payment.Pending
}

// failure is the code of the last failed try, unless the payment went on.
func failure(pi *stripego.PaymentIntent) string {
	switch pi.Status {
	case stripego.PaymentIntentStatusRequiresAction:
		return payment.CodeAuthentication
	case stripego.PaymentIntentStatusRequiresPaymentMethod, stripego.PaymentIntentStatusCanceled:
		if pi.LastPaymentError != nil {
			return cardCode(pi.LastPaymentError)
		}
	}
	return ""
}
