package topup

import (
	"context"
	"errors"
	"time"

	"parley/billing/payment"
	"parley/store/ledger"
)

const (
	// refundEvery is how long a refund waits at most before the provider is told.
	refundEvery = 2 * time.Second
	// refundLife is shorter than providers remember an idempotency key. A refund whose
	// outcome is not known by then is not tried again: the look at the payment says
	// whether it happened.
	refundLife = 20 * time.Hour
)

// Run carries out what operators ask for until ctx ends. Several nodes may do so at
// once: the provider gives back once for each refund.
func (d *Service) Run(ctx context.Context) error {
	tick := time.NewTicker(refundEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := d.PayBack(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("refunds were not made", "err", err)
		}
	}
}

// PayBack tells the provider of the refunds that are asked for, each once. One that
// fails does not keep the others.
func (d *Service) PayBack(ctx context.Context) error {
	asked, err := ledger.New(d.Store).AskedRefunds(ctx, d.Provider.Name())
	for i := range asked {
		err = errors.Join(err, d.payBack(ctx, &asked[i]))
	}
	return err
}

func (d *Service) payBack(ctx context.Context, r *ledger.Refund) error {
	made, err := d.Provider.Refund(ctx, payment.RefundRequest{Key: r.ID, Payment: r.Payment, Amount: r.Amount})
	switch {
	case errors.Is(err, payment.ErrUnknown) && d.Store.Now().Sub(r.CreatedAt) < refundLife, ctx.Err() != nil:
		return err // the same again is safe
	case err != nil:
		r.State, r.Code = ledger.RefundFailed, code(err)
	case made.State == payment.Failed || made.State == payment.Canceled:
		r.State, r.Code = ledger.RefundFailed, string(made.State)
	default:
		r.State = ledger.RefundDone
	}
	t, err := d.settle(ctx, r.Payment, payment.Event{}, r)
	if err != nil {
		return err
	}
	d.Log.Info("refund", "refund", r.ID, "state", r.State, "code", r.Code, "topup", t.ID, "account", t.Account,
		"amount", r.Amount.String(), "refunded", t.Refunded.String())
	return nil
}

// code is a word for why a provider made no refund.
func code(err error) string {
	for _, c := range []struct {
		err  error
		word string
	}{
		{payment.ErrUnknown, "unknown"}, {payment.ErrRefundTooLarge, "too_large"}, {payment.ErrNotFound, "payment_not_found"},
	} {
		if errors.Is(err, c.err) {
			return c.word
		}
	}
	return "refused"
}
