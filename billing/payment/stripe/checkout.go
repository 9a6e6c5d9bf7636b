package stripe

import (
	"context"

	stripego "github.com/stripe/stripe-go/v85"

	"parley/billing/payment"
)

// Checkout implements payment.Provider. The customer is made first, so that it is
// known before anybody pays.
func (p *Provider) Checkout(ctx context.Context, r payment.CheckoutRequest) (payment.Checkout, error) {
	cents, err := payment.Check(r.Amount, r.TopUp)
	if err != nil {
		return payment.Checkout{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if r.Customer == "" {
		params := &stripego.CustomerCreateParams{Metadata: map[string]string{metaAccount: r.Account}}
		params.SetIdempotencyKey("customer-" + r.Account)
		c, err := p.api.V1Customers.Create(ctx, params)
		if err != nil {
			return payment.Checkout{}, requestError("create customer", err)
		}
		r.Customer = c.ID
	}
	params := sessionParams(r, cents)
	params.SetIdempotencyKey("topup-" + r.TopUp)
	s, err := p.api.V1CheckoutSessions.Create(ctx, params)
	if err != nil {
		return payment.Checkout{}, requestError("create checkout", err)
	}
	return payment.Checkout{ID: s.ID, URL: s.URL, Customer: r.Customer}, nil
}

// sessionParams describes the page. Only cards are offered, for only they can be
// charged later; prices are shown and paid in dollars.
func sessionParams(r payment.CheckoutRequest, cents int64) *stripego.CheckoutSessionCreateParams {
	meta := map[string]string{metaAccount: r.Account, metaTopUp: r.TopUp}
	return &stripego.CheckoutSessionCreateParams{
		Mode:               stripego.String("payment"),
		Customer:           stripego.String(r.Customer),
		ClientReferenceID:  stripego.String(r.TopUp),
		Metadata:           meta,
		SuccessURL:         stripego.String(r.SuccessURL),
		CancelURL:          stripego.String(r.CancelURL),
		PaymentMethodTypes: []*string{stripego.String("card")},
		AdaptivePricing:    &stripego.CheckoutSessionCreateAdaptivePricingParams{Enabled: stripego.Bool(false)},
		PaymentIntentData: &stripego.CheckoutSessionCreatePaymentIntentDataParams{
			SetupFutureUsage: stripego.String("off_session"),
			Metadata:         meta,
		},
		LineItems: []*stripego.CheckoutSessionCreateLineItemParams{{
			Quantity: stripego.Int64(1),
			PriceData: &stripego.CheckoutSessionCreateLineItemPriceDataParams{
				Currency:    stripego.String("usd"),
				UnitAmount:  stripego.Int64(cents),
				ProductData: &stripego.CheckoutSessionCreateLineItemPriceDataProductDataParams{Name: stripego.String("Prepaid balance")},
			},
		}},
	}
}

// fromSession reads a session; before the customer tries to pay it has no PaymentIntent.
func fromSession(s *stripego.CheckoutSession) (payment.Payment, error) {
	if s.PaymentIntent != nil {
		return fromIntent(s.PaymentIntent)
	}
	if s.Metadata[metaAccount] == "" || s.Mode != stripego.CheckoutSessionModePayment {
		return payment.Payment{}, payment.ErrNotFound
	}
	amount, err := payment.FromCents(s.AmountTotal)
	if err != nil {
		return payment.Payment{}, err
	}
	out := payment.Payment{TopUp: s.ClientReferenceID, Account: s.Metadata[metaAccount], Amount: amount, State: payment.Pending}
	if s.Customer != nil {
		out.Customer = s.Customer.ID
	}
	if s.Status == stripego.CheckoutSessionStatusExpired {
		out.State = payment.Canceled
	}
	return out, nil
}
