package topup

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"parley/api"
	"parley/billing/payment"
	"parley/store"
	"parley/store/jobs"
)

const (
	lookEvery   = time.Minute
	lookTimeout = 2 * time.Minute
	lookBatch   = 100 // in one round
)

type lookArgs struct{}

// Kind implements jobs.Args.
func (lookArgs) Kind() string { return "topup_look" }

// HandleLooks has the queue ask about open top-ups, before it is opened. desk is called
// when the queue runs.
func HandleLooks(q *jobs.Queue, desk func() *Service) {
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: lookTimeout}, func(ctx context.Context, _ lookArgs) error { return desk().LookForPaid(ctx) })
	jobs.Every(q, lookEvery, lookArgs{})
}

// LookForPaid asks the provider about top-ups that have been open for a while: an event
// may have been lost, or the customer has paid and gone. One that cannot be settled does
// not keep the others; a provider that does not answer is left alone until the next round.
func (d *Service) LookForPaid(ctx context.Context) (failed error) {
	for range lookBatch {
		due, err := d.Payments.DueTopUp(ctx, d.Provider.Name())
		if errors.Is(err, store.ErrNotFound) {
			return failed
		}
		if err != nil {
			return errors.Join(failed, err)
		}
		t, err := d.look(ctx, due.Checkout, payment.Event{})
		switch {
		case errors.Is(err, errForeign):
			d.Log.Warn("the payment provider does not know a top-up", "topup", due.ID, "account", due.Account)
		case errors.Is(err, api.ErrPayments) || ctx.Err() != nil:
			return errors.Join(failed, err)
		case err != nil:
			failed = errors.Join(failed, err)
		case !t.State.Open():
			d.Log.Warn("no event has told of a top-up that is settled", "topup", t.ID, "account", t.Account, "state", t.State, "paid", t.Paid.String())
		}
	}
	return failed
}

// maxEvent bounds a webhook's body, in bytes; providers' own are a few thousand.
const maxEvent = 64 << 10

// receive takes a webhook. The answer is 2xx only when what it led to is stored, so
// that the provider sends it again otherwise; nothing of it is kept before.
func (d *Service) receive(w http.ResponseWriter, r *http.Request) error {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return api.ReadError(err)
	}
	event, err := d.Provider.Event(r.Header, body, d.Store.Now())
	if err != nil {
		api.LogOf(r.Context(), d.Log).Warn("a payment webhook was refused", "err", err)
		what := "the webhook cannot be read"
		if errors.Is(err, payment.ErrSignature) {
			what = "the signature is missing, wrong or too old"
		}
		return api.Bad("%s", what)
	}
	if event.Kind != payment.Ignored {
		err = d.apply(r, event)
	}
	if err != nil {
		api.LogOf(r.Context(), d.Log).Error("a payment event could not be applied", "event", event.ID, "kind", event.Kind, "err", err)
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// apply settles what an event is about, unless that was done.
func (d *Service) apply(r *http.Request, event payment.Event) error {
	done, err := d.Payments.EventApplied(r.Context(), d.Provider.Name(), event.ID)
	if err != nil || done {
		return err
	}
	t, err := d.look(r.Context(), event.Payment, event)
	if errors.Is(err, errForeign) {
		api.LogOf(r.Context(), d.Log).Warn("a payment event is about no top-up of ours", "event", event.ID, "kind", event.Kind)
		return nil
	}
	if err == nil {
		api.LogOf(r.Context(), d.Log).Info("payment", "event", event.Kind, "topup", t.ID, "account", t.Account, "state", t.State, "paid", t.Paid.String(), "refunded", t.Refunded.String())
	}
	return err
}
