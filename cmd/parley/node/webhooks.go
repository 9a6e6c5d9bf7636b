package node

import (
	"context"
	"errors"
	"net/http"
	"time"

	"parley/api/webhook"
	"parley/store"
	"parley/store/jobs"
	webhookstore "parley/store/webhook"
)

// What webhooks are told is put in line by the transaction that makes it true, which
// queues a job; what that did not get done, and what is to be tried again, the next
// round finds. The database says what is due, so that it outlives whoever was about to
// send it.
const (
	webhooksEvery   = 5 * time.Second
	webhookSenders  = 8 // jobs at once on a node: a slow receiver holds up one, for five seconds
	webhooksTime    = time.Minute
	webhooksRound   = 30 * time.Second // then a job takes nothing further
	forgetEvery     = time.Minute
	webhookNoteTime = 5 * time.Second // for what came of it, also when the node stops
)

type webhooks struct{}

// Kind implements jobs.Args.
func (webhooks) Kind() string { return "webhooks" }

type forgetDeliveries struct{}

// Kind implements jobs.Args.
func (forgetDeliveries) Kind() string { return "forget_deliveries" }

// handleWebhooks has events delivered to webhooks. Call it before the queue opens.
func (n *Node) handleWebhooks() {
	jobs.Handle(n.jobs, jobs.Limits{Workers: webhookSenders, Timeout: webhooksTime}, n.tellWebhooks)
	jobs.Every(n.jobs, webhooksEvery, webhooks{})
	jobs.Handle(n.jobs, jobs.Limits{Workers: 1, Timeout: webhooksTime}, n.forgetDeliveries)
	jobs.Every(n.jobs, forgetEvery, forgetDeliveries{})
}

func (n *Node) forgetDeliveries(ctx context.Context, _ forgetDeliveries) error {
	for begun := time.Now(); time.Since(begun) < webhooksRound; {
		old, err := n.hooks.Forget(ctx)
		if err != nil {
			return err
		}
		deleted, err := n.hooks.Purge(ctx)
		if err != nil || old+deleted == 0 {
			return err
		}
	}
	return nil
}

// tellWebhooks sends what is due.
func (n *Node) tellWebhooks(ctx context.Context, _ webhooks) error {
	for begun := time.Now(); time.Since(begun) < webhooksRound; {
		d, err := n.hooks.Claim(ctx)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case errors.Is(err, store.ErrUnsealed):
			n.log.Error("a webhook is not told of an event: its secret does not open", "webhook", d.Webhook, "event", d.Event)
			err = n.attempted(ctx, d, webhookstore.Attempt{At: n.db.Now(), Failure: "the webhook's secret cannot be read; rotate it"})
		case err == nil:
			err = n.tell(ctx, d)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// tell makes one attempt. Between the receiver's answer and our note this process may
// die: then it is told again, under the same identifier.
func (n *Node) tell(ctx context.Context, d *webhookstore.DueDelivery) error {
	begun := time.Now()
	a := webhookstore.Attempt{At: n.db.Now()}
	header := http.Header{"User-Agent": {"Parley"}}
	body, err := webhook.Body(ctx, n.db, d)
	if err == nil {
		err = webhook.Sign(header, d.Secrets, d.Event, a.At, body)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		a.Failure, a.Unsent, a.Final = "what it is about is not there any more", true, true
		return n.attempted(ctx, d, a)
	case errors.Is(err, store.ErrUnavailable) || ctx.Err() != nil:
		return err // nothing is wrong with the event: the claim runs out
	case err != nil:
		n.log.Error("a webhook's body cannot be made", "webhook", d.Webhook, "event", d.Event, "kind", d.Kind, "try", d.Try, "err", err)
		a.Failure, a.Unsent = "what it is told could not be put together", true
		return n.attempted(ctx, d, a)
	}
	answer, err := n.poster.Post(ctx, d.URL, header, body)
	if err != nil && ctx.Err() != nil {
		return ctx.Err() // the node stops; the claim runs out
	}
	a.Status, a.Answer, a.TookMS = answer.Status, answer.Text, time.Since(begun).Milliseconds()
	if err != nil {
		a.Failure = err.Error()
	}
	if !a.OK() {
		n.log.Debug("a webhook did not take an event", "webhook", d.Webhook, "event", d.Event, "kind", d.Kind, "try", d.Try, "status", a.Status)
	}
	return n.attempted(ctx, d, a)
}

// attempted notes what came of an attempt, also while the node stops.
func (n *Node) attempted(ctx context.Context, d *webhookstore.DueDelivery, a webhookstore.Attempt) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), webhookNoteTime)
	defer cancel()
	return n.hooks.Attempted(ctx, d, a)
}
