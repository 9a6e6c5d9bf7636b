package topup

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing/payment"
	"parley/media/isolate"
	"parley/store"
	"parley/store/jobs"
	"parley/store/payments"
)

const (
	rechargeWorkers = 4               // charges at once on one node; each waits for the provider
	rechargeTimeout = 2 * time.Minute // more than two requests to a provider may take
	rechargeSweep   = 30 * time.Second
	// refusedFor is how long a provider may refuse a charge for reasons of ours, such as
	// a wrong key, until the attempt has failed.
	refusedFor = 24 * time.Hour
)

// Recharges charges saved cards for accounts whose balance has fallen below their
// threshold. The store makes the attempts; any node may charge one, and several may at
// once, for its identifier is the provider's idempotency key.
type Recharges struct {
	Store    *store.DB
	Payments *payments.Store
	Queue    *jobs.Queue
	// Provider takes the money. It is called when the queue runs.
	Provider func() payment.Provider
	Log      *slog.Logger
}

type rechargeArgs struct {
	Account string `json:"account"`
	Attempt string `json:"attempt"`
}

// Kind implements jobs.Args.
func (rechargeArgs) Kind() string { return "recharge" }

type rechargeSweepArgs struct{}

// Kind implements jobs.Args.
func (rechargeSweepArgs) Kind() string { return "recharge_sweep" }

// Handle adds the work to the queue, before it is opened. Call Watch when it is.
func (r *Recharges) Handle() {
	jobs.Handle(r.Queue, jobs.Limits{Workers: rechargeWorkers, Timeout: rechargeTimeout}, r.charge)
	jobs.Handle(r.Queue, jobs.Limits{Workers: 1, Timeout: rechargeTimeout}, r.sweep)
	jobs.Every(r.Queue, rechargeSweep, rechargeSweepArgs{})
}

// Enqueue puts an attempt in line, once the queue is open. nil, where no payments are taken, does nothing.
func (r *Recharges) Enqueue(ctx context.Context, tx pgx.Tx, account, attempt string) error {
	if r == nil {
		return nil
	}
	return r.Queue.Insert(ctx, tx, rechargeArgs{account, attempt})
}

// sweep finds what was lost: attempts whose worker died or gave up, and those that
// nobody has made, such as a new month's.
func (r *Recharges) sweep(ctx context.Context, _ rechargeSweepArgs) error {
	n, err := r.Payments.SweepRecharges(ctx, r.Enqueue)
	if n > 0 {
		r.Log.Warn("automatic recharges without an outcome are tried again", "attempts", n)
	}
	return err
}

// charge charges one attempt and settles the outcome. An outcome that is not known
// fails the job, which tries again with the same key and so learns it; an event may
// tell it earlier.
func (r *Recharges) charge(ctx context.Context, args rechargeArgs) error {
	a, err := r.Payments.BeginRecharge(ctx, args.Account, args.Attempt)
	if err != nil || a == nil {
		return err
	}
	p := r.Provider()
	if a.Provider != p.Name() { // the operator has changed it: this one has no card
		return r.fail(ctx, a, payments.RechargeNoCard, "")
	}
	look, err := r.Payments.NextReadVersion(ctx)
	if err != nil {
		return err
	}
	paid, err := p.Charge(ctx, payment.ChargeRequest{Key: a.ID, Account: a.Account, Customer: a.Customer, Amount: a.Amount})
	if refused, ok := errors.AsType[*payment.CardError](err); ok {
		return r.fail(ctx, a, failureOf(refused), refused.Code)
	}
	if errors.Is(err, payment.ErrRefused) && r.Store.Now().Sub(a.MadeAt) > refusedFor {
		r.Log.Error("the payment provider refuses an automatic recharge", "attempt", a.ID, "account", a.Account, "err", err)
		return r.fail(ctx, a, payments.RechargeRefused, "")
	}
	if err != nil {
		return err
	}
	t, err := r.Payments.ReconcilePayment(ctx, payments.PaymentRead{Provider: p.Name(), Version: look, Payment: paid})
	if err == nil {
		r.Log.Info("automatic recharge", "attempt", a.ID, "topup", t.ID, "account", t.Account, "state", t.State, "paid", t.Paid.String())
	}
	return err
}

func (r *Recharges) fail(ctx context.Context, a *payments.RechargeAttempt, why payments.RechargeFailure, code string) error {
	r.Log.Info("automatic recharge failed", "attempt", a.ID, "account", a.Account, "reason", why, "code", code)
	return r.Payments.FailRecharge(ctx, a.Account, a.ID, why, code)
}

// failureOf is what a card that could not be charged means.
func failureOf(e *payment.CardError) payments.RechargeFailure {
	switch {
	case errors.Is(e, payment.ErrAuthentication):
		return payments.RechargeAuthentication
	case errors.Is(e, payment.ErrNoCard):
		return payments.RechargeNoCard
	}
	return payments.RechargeDeclined
}

const (
	// refundEvery is how long a refund waits at most before the provider is asked.
	refundEvery = 2 * time.Second
	// refundLife is shorter than providers remember an idempotency key. A refund whose
	// outcome is not known by then is not tried again: the look at the payment says
	// whether it happened.
	refundLife = 20 * time.Hour
)

// Run carries out what operators ask for until ctx ends. Several nodes may do so at
// once: the provider gives back once for each refund.
func (d *Service) Run(ctx context.Context) error {
	return isolate.Every(ctx, refundEvery, func() {
		if err := d.PayBack(ctx); err != nil && ctx.Err() == nil {
			d.Log.Warn("refunds were not made", "err", err)
		}
	})
}

// PayBack tells the provider of the refunds that are asked for, each once. One that
// fails does not keep the others.
func (d *Service) PayBack(ctx context.Context) error {
	asked, err := d.Payments.AskedRefunds(ctx, d.Provider.Name())
	for i := range asked {
		err = errors.Join(err, d.payBack(ctx, &asked[i]))
	}
	return err
}

func (d *Service) payBack(ctx context.Context, r *payments.Refund) error {
	made, err := d.Provider.Refund(ctx, payment.RefundRequest{Key: r.ID, Payment: r.Payment, Amount: r.Amount})
	switch {
	case errors.Is(err, payment.ErrUnknown) && d.Store.Now().Sub(r.CreatedAt) < refundLife, ctx.Err() != nil:
		return err // the same again is safe
	case err != nil:
		r.State, r.Code = payments.RefundFailed, code(err)
	case made.State == payment.Failed || made.State == payment.Canceled:
		r.State, r.Code = payments.RefundFailed, string(made.State)
	default:
		r.State = payments.RefundDone
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
