package notify

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"parley/api/webhook"
	"parley/pipeline/tool"
	"parley/store"
	"parley/store/jobs"
	webhookstore "parley/store/webhook"
)

const (
	webhookSenders  = 8 // jobs at once on a node: a slow receiver holds up one, for five seconds
	webhooksTime    = time.Minute
	webhooksRound   = 30 * time.Second // then a job takes nothing further
	forgetEvery     = 10 * time.Minute
	webhookSaveTime = 5 * time.Second // to store an attempt, also when the node stops
)

type webhooks struct{}

// Kind implements jobs.Args.
func (webhooks) Kind() string { return "webhooks" }

type forgetDeliveries struct{}

// Kind implements jobs.Args.
func (forgetDeliveries) Kind() string { return "forget_deliveries" }

// Webhooks delivers events to the webhooks of accounts. All fields are set.
type Webhooks struct {
	Deliveries *webhookstore.Store
	// Body makes the request's body; store.ErrNotFound when what the event is about is gone.
	Body   func(ctx context.Context, d *webhookstore.DueDelivery) ([]byte, error)
	Poster *tool.Poster
	Now    func() time.Time // the database's clock
	Log    *slog.Logger
}

// Handle adds the kinds of jobs. Call it before the queue opens.
func (w *Webhooks) Handle(q *jobs.Queue) {
	jobs.Handle(q, jobs.Limits{Workers: webhookSenders, Timeout: webhooksTime}, w.deliver)
	jobs.WhenDue(q, webhookstore.Due, webhooks{})
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: webhooksTime}, w.forget)
	jobs.Every(q, forgetEvery, forgetDeliveries{})
}

func (w *Webhooks) forget(ctx context.Context, _ forgetDeliveries) error {
	for begun := time.Now(); time.Since(begun) < webhooksRound; {
		old, err := w.Deliveries.Forget(ctx)
		if err != nil {
			return err
		}
		if _, err := w.Deliveries.Expire(ctx); err != nil {
			return err
		}
		deleted, err := w.Deliveries.Purge(ctx)
		if err != nil || old+deleted == 0 {
			return err
		}
	}
	return nil
}

// deliver makes a round of the deliveries that are due.
func (w *Webhooks) deliver(ctx context.Context, _ webhooks) error {
	var sealed bool
	return jobs.Drain(ctx, webhooksRound, func(ctx context.Context) (*webhookstore.DueDelivery, error) {
		d, err := w.Deliveries.Claim(ctx)
		if sealed = errors.Is(err, store.ErrUnsealed); sealed {
			err = nil
		}
		return d, err
	}, func(ctx context.Context, d *webhookstore.DueDelivery) error {
		if sealed {
			w.Log.Error("an event is not delivered: the webhook's secret does not open", "webhook", d.Webhook, "event", d.Event)
			return w.attempted(ctx, d, webhookstore.Attempt{At: w.Now(), Failure: "the webhook's secret cannot be read; rotate it"})
		}
		return w.attempt(ctx, d)
	})
}

// attempt makes one attempt. When this process dies after the receiver has answered and before
// the attempt is stored, the event is delivered again, under the same identifier.
func (w *Webhooks) attempt(ctx context.Context, d *webhookstore.DueDelivery) error {
	begun := time.Now()
	a := webhookstore.Attempt{At: w.Now()}
	header := http.Header{"User-Agent": {"Parley"}}
	body, err := w.Body(ctx, d)
	if err == nil {
		err = webhook.Sign(header, d.Secrets, d.Event, a.At, body)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		a.Failure, a.Unsent, a.Final = "what the event is about was deleted", true, true
		return w.attempted(ctx, d, a)
	case errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil:
		return err // nothing is wrong with the event: the claim runs out
	case err != nil:
		w.Log.Error("a webhook's body cannot be made", "webhook", d.Webhook, "event", d.Event, "kind", d.Kind, "try", d.Try, "err", err)
		a.Failure, a.Unsent = "its event could not be put together", true
		return w.attempted(ctx, d, a)
	}
	answer, err := w.Poster.Post(ctx, d.URL, header, body)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // the node stops; the claim runs out
	}
	a.Status, a.Answer, a.TookMS = answer.Status, answer.Text, time.Since(begun).Milliseconds()
	if err != nil {
		a.Failure = err.Error()
	}
	if !a.OK() {
		w.Log.Debug("a webhook did not take an event", "webhook", d.Webhook, "event", d.Event, "kind", d.Kind, "try", d.Try, "status", a.Status)
	}
	return w.attempted(ctx, d, a)
}

// attempted stores an attempt, also while the node stops.
func (w *Webhooks) attempted(ctx context.Context, d *webhookstore.DueDelivery, a webhookstore.Attempt) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookSaveTime)
	defer cancel()
	return w.Deliveries.Attempted(ctx, d, a)
}
