package stripe

import (
	"context"
	"errors"
	"fmt"

	stripego "github.com/stripe/stripe-go/v85"

	"parley/billing/payment"
)

// Charge implements payment.Provider.
func (p *Provider) Charge(ctx context.Context, r payment.ChargeRequest) (payment.Payment, error) {
	cents, err := payment.Check(r.Amount, r.Key)
	if err != nil {
		return payment.Payment{}, err
	}
	if r.Customer == "" {
		return payment.Payment{}, &payment.CardError{Err: payment.ErrNoCard}
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	pi, err := p.earlier(ctx, r)
	if err == nil && pi == nil {
		pi, err = p.newCharge(ctx, r, cents)
		// Two calls at once may differ in the newest card alone: the other one's payment counts.
		if errors.Is(err, payment.ErrKeyReused) {
			if pi, err = p.earlier(ctx, r); err == nil && pi == nil {
				err = payment.ErrKeyReused
			}
		}
	}
	if err != nil {
		return payment.Payment{}, err
	}
	if pi.Amount != cents || pi.Metadata[metaAccount] != r.Account {
		return payment.Payment{}, payment.ErrKeyReused
	}
	out, err := fromIntent(pi)
	if err == nil && out.State == payment.Failed {
		err = cardError(out.Code, out.ID)
	}
	return out, err
}

// earlier finds the payment that an earlier call with the same key made, or nil.
func (p *Provider) earlier(ctx context.Context, r payment.ChargeRequest) (*stripego.PaymentIntent, error) {
	params := &stripego.PaymentIntentListParams{Customer: stripego.String(r.Customer)}
	params.Limit = stripego.Int64(lookBack)
	params.AddExpand("data.latest_charge")
	list := p.api.V1PaymentIntents.List(ctx, params)
	if err := list.Err(); err != nil {
		return nil, customerError("list payments", err)
	}
	for _, pi := range list.Data() {
		if pi.Metadata[metaKey] == r.Key {
			return pi, nil
		}
	}
	return nil, nil
}

func (p *Provider) newCharge(ctx context.Context, r payment.ChargeRequest, cents int64) (*stripego.PaymentIntent, error) {
	card, err := p.newestCard(ctx, r.Customer)
	if err != nil {
		return nil, err
	}
	params := &stripego.PaymentIntentCreateParams{
		Amount:             stripego.Int64(cents),
		Currency:           stripego.String("usd"),
		Customer:           stripego.String(r.Customer),
		PaymentMethod:      stripego.String(card),
		PaymentMethodTypes: []*string{stripego.String("card")},
		Confirm:            stripego.Bool(true),
		OffSession:         stripego.Bool(true),
		Metadata:           map[string]string{metaAccount: r.Account, metaKey: r.Key},
	}
	params.SetIdempotencyKey("charge-" + r.Key)
	pi, err := p.api.V1PaymentIntents.Create(ctx, params)
	if err != nil {
		return nil, requestError("charge", err)
	}
	return pi, nil
}

// newestCard relies on Stripe's lists, which begin with the newest.
func (p *Provider) newestCard(ctx context.Context, customer string) (string, error) {
	params := &stripego.PaymentMethodListParams{Customer: stripego.String(customer), Type: stripego.String("card")}
	params.Limit = stripego.Int64(1)
	list := p.api.V1PaymentMethods.List(ctx, params)
	if err := list.Err(); err != nil {
		return "", customerError("list cards", err)
	}
	if len(list.Data()) == 0 {
		return "", &payment.CardError{Err: payment.ErrNoCard}
	}
	return list.Data()[0].ID, nil
}

// Refund implements payment.Provider. How much is left is Stripe's to say.
func (p *Provider) Refund(ctx context.Context, r payment.RefundRequest) (payment.Refund, error) {
	cents, err := payment.Check(r.Amount, r.Key)
	if err != nil {
		return payment.Refund{}, err
	}
	paid, err := p.Payment(ctx, r.Payment) // what is not ours is never touched
	if err != nil {
		return payment.Refund{}, err
	}
	if paid.State != payment.Succeeded {
		return payment.Refund{}, fmt.Errorf("%w: the payment is %s", payment.ErrRefused, paid.State)
	}
	r.Payment = paid.ID
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	params := &stripego.RefundListParams{PaymentIntent: stripego.String(r.Payment)}
	params.Limit = stripego.Int64(lookBack)
	list := p.api.V1Refunds.List(ctx, params)
	if err := list.Err(); err != nil {
		return payment.Refund{}, lookupError("list refunds", err)
	}
	for _, old := range list.Data() {
		if old.Metadata[metaKey] != r.Key {
			continue
		}
		if old.Amount != cents {
			return payment.Refund{}, payment.ErrKeyReused
		}
		return fromRefund(old, r)
	}
	create := &stripego.RefundCreateParams{
		PaymentIntent: stripego.String(r.Payment),
		Amount:        stripego.Int64(cents),
		Metadata:      map[string]string{metaKey: r.Key},
	}
	create.SetIdempotencyKey("refund-" + r.Key)
	refund, err := p.api.V1Refunds.Create(ctx, create)
	if err != nil {
		return payment.Refund{}, refundError(err)
	}
	return fromRefund(refund, r)
}

func fromRefund(s *stripego.Refund, r payment.RefundRequest) (payment.Refund, error) {
	amount, err := payment.FromCents(s.Amount)
	if err != nil {
		return payment.Refund{}, fmt.Errorf("stripe: refund %s: %w", s.ID, err)
	}
	state := payment.Processing // pending, or waiting for somebody
	switch s.Status {
	case stripego.RefundStatusSucceeded:
		state = payment.Succeeded
	case stripego.RefundStatusFailed:
		state = payment.Failed
	case stripego.RefundStatusCanceled:
		state = payment.Canceled
	}
	return payment.Refund{ID: s.ID, Payment: r.Payment, Amount: amount, State: state}, nil
}

// refundError tells an amount that is too large, for which Stripe has a parameter
// but no code, from other refusals.
func refundError(err error) error {
	var e *stripego.Error
	if errors.As(err, &e) && e.Type == stripego.ErrorTypeInvalidRequest &&
		(e.Param == "amount" || e.Code == stripego.ErrorCodeChargeAlreadyRefunded) {
		return payment.ErrRefundTooLarge
	}
	return requestError("refund", err)
}
