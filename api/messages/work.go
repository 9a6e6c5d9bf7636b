package messages

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/sip/carrier"
	"parley/store"
	"parley/store/jobs"
	"parley/store/messages"
)

const (
	every    = 5 * time.Second // how often a mailbox is looked into
	workers  = 4               // jobs at once on a node: a slow carrier holds up one message each
	timeout  = time.Minute
	round    = 25 * time.Second // then a job takes nothing further: the carrier has half a minute for the last
	saveTime = 5 * time.Second  // to store an outcome, also when the node stops
	expire   = 10 * time.Minute // how often texts are deleted that were kept long enough
)

type sendArgs struct{}

// Kind implements jobs.Args.
func (sendArgs) Kind() string { return "messages" }

type expireArgs struct{}

// Kind implements jobs.Args.
func (expireArgs) Kind() string { return "expire_messages" }

// Enqueue queues a round in a transaction.
func Enqueue(ctx context.Context, tx pgx.Tx, q *jobs.Queue) error {
	return q.Insert(ctx, tx, sendArgs{})
}

// Work adds the desk's kinds of jobs to a queue that is not open yet.
func (d *Desk) Work(q *jobs.Queue) {
	jobs.Handle(q, jobs.Limits{Workers: workers, Timeout: timeout}, func(ctx context.Context, _ sendArgs) error { return d.Round(ctx) })
	if _, box := d.Carrier.(carrier.Mailbox); box {
		jobs.Every(q, every, sendArgs{})
	} else {
		jobs.WhenDue(q, messages.IsDue, sendArgs{})
	}
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: timeout}, func(ctx context.Context, _ expireArgs) error {
		_, err := d.Store.Expire(ctx)
		return err
	})
	jobs.Every(q, expire, expireArgs{})
}

// Round takes what a mailbox has, and turns to the carrier about every message that it is time for.
func (d *Desk) Round(ctx context.Context) error {
	if d.Carrier == nil {
		return nil
	}
	var fetched error
	if box, ok := d.Carrier.(carrier.Mailbox); ok {
		fetched = d.fetch(ctx, box)
	}
	return errors.Join(fetched, jobs.Drain(ctx, round, func(ctx context.Context) (*messages.Due, error) { return d.Store.Claim(ctx, d.Carrier.Name()) }, d.attend))
}

func (d *Desk) fetch(ctx context.Context, box carrier.Mailbox) error {
	list, err := box.Received(ctx)
	for i := 0; err == nil && i < len(list); i++ {
		err = d.receive(ctx, &list[i])
	}
	return err
}

// attend does with a message what comes next.
func (d *Desk) attend(ctx context.Context, m *messages.Due) error {
	switch {
	case m.Status == messages.Sent:
		return d.look(ctx, m)
	case m.HandedAt != nil: // its process has died, or nobody knows
		return d.Store.Unclear(ctx, m)
	}
	sent, err := d.Carrier.Send(ctx, carrier.Message{Reference: m.ID, From: m.Number, To: m.Peer, Text: m.Text})
	save, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	log := d.Log.With("message", m.ID, "carrier", d.Carrier.Name())
	refused, isRefusal := errors.AsType[*carrier.Refusal](err)
	switch {
	case err == nil:
		return d.Store.Reported(save, m, news(&sent))
	case isRefusal:
		log.Info("a text message was refused by the carrier")
		return d.Store.Refused(save, m, refused.Reason)
	case errors.Is(err, carrier.ErrUnavailable) && !errors.Is(err, carrier.ErrUnclear):
		log.Warn("a text message could not be handed over and is tried again", "err", err)
		return d.Store.NotHanded(save, m)
	}
	log.Warn("nobody knows whether a text message was sent: it waits for the carrier's word", "err", err)
	return d.Store.Unclear(save, m)
}

// look asks the carrier whether a message was delivered.
func (d *Desk) look(ctx context.Context, m *messages.Due) error {
	seen, err := d.Carrier.Delivery(ctx, m.Ref)
	if err != nil || seen.State == carrier.Sent {
		return d.Store.Look(ctx, m)
	}
	return d.Store.Reported(ctx, m, news(&seen))
}

// states are those of a carrier, as the store has them.
var states = map[carrier.MessageState]messages.Status{carrier.Sent: messages.Sent, carrier.Delivered: messages.Delivered, carrier.Undelivered: messages.Failed}

func news(s *carrier.Delivery) messages.News {
	return messages.News{Ref: s.ID, ID: s.Reference, State: states[s.State], Reason: s.Reason}
}

// Notice takes what a carrier's webhook says of messages. What is about none of ours is no error.
func (d *Desk) Notice(ctx context.Context, n carrier.Notice) error {
	if d.Carrier == nil {
		return nil
	}
	if n.Delivery != nil {
		if err := d.Store.Told(ctx, d.Carrier.Name(), news(n.Delivery)); !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	if n.Received != nil {
		return d.receive(ctx, n.Received)
	}
	return nil
}

func (d *Desk) receive(ctx context.Context, r *carrier.Received) error {
	err := d.Store.Receive(ctx, messages.Arrival{Node: d.Node, Carrier: d.Carrier.Name(), Ref: r.ID, From: r.From, To: r.To, Text: r.Text, At: r.At, Card: d.Card()})
	if errors.Is(err, store.ErrNotFound) {
		d.Log.Warn("a text message came in for a number that no account has", "carrier", d.Carrier.Name())
		return nil
	}
	return err
}
