package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kinds of events, besides those of warnings.
const (
	CallStarted    = "call.started"
	CallAnswered   = "call.answered"
	CallEnded      = "call.ended"
	CallTranscript = "call.transcript"
	CallSummarized = "call.summary"
	CallAnalyzed   = "call.analyzed"
)

// Event is something of which webhooks are told, once of a kind and a thing.
type Event struct {
	ID, Account, Kind string
	About             string // the call, or the warning
}

func event(account, kind, about string, now time.Time) Event {
	return Event{NewID(EventID, now), account, kind, about}
}

// EnqueueDeliveries puts events in line for the webhooks that want them, within the
// transaction that makes them true (a transactional outbox). The lock keeps a webhook from being deleted between
// being found and being referred to; it is taken last of all.
func (db *DB) EnqueueDeliveries(ctx context.Context, tx pgx.Tx, now time.Time, events ...Event) error {
	var ids, accounts, kinds, abouts []string
	for _, e := range events {
		ids, accounts, kinds, abouts = append(ids, e.ID), append(accounts, e.Account), append(kinds, e.Kind), append(abouts, e.About)
	}
	tag, err := tx.Exec(ctx, `with w as materialized (select id, account_id, kinds from webhooks where account_id = any($2) and enabled and deleted_at is null order by id for key share)
		insert into webhook_deliveries (webhook_id, event_id, account_id, kind, about, created_at, next_at)
		select w.id, e.id, w.account_id, e.kind, e.about, $5, $5
		from w join unnest($1::text[], $2::text[], $3::text[], $4::text[]) as e(id, account, kind, about) on e.account = w.account_id
		where w.kinds = '{}' or e.kind = any(w.kinds)
		on conflict do nothing`, ids, accounts, kinds, abouts, now)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return db.Enqueue(ctx, tx, DeliverEvents, "", "")
}

// enqueueEnd enqueues the events of the end of a session, if it is a conversation. That it was
// answered is told before, by a checkpoint, unless none came.
func (db *DB) enqueueEnd(ctx context.Context, tx pgx.Tx, account string, s *session, now time.Time) error {
	if !s.terms.Kind.Agent() {
		return nil
	}
	var events []Event
	if s.startedAt != nil {
		events = append(events, event(account, CallAnswered, s.id, now))
	}
	events = append(events, event(account, CallEnded, s.id, now))
	if s.startedAt != nil {
		events = append(events, event(account, CallTranscript, s.id, now))
	}
	return db.EnqueueDeliveries(ctx, tx, now, events...)
}

// enqueueAnswered enqueues the answers of conversations whose clock was not known to run before
// these checkpoints. Their own transaction does not, which others wait for; what is lost
// between the two is told by the session's end.
func (db *DB) enqueueAnswered(ctx context.Context, cs []Checkpoint, results []CheckpointResult, now time.Time) error {
	var events []Event
	for i, r := range results {
		if s := cs[i].Session; r.Err == nil && r.starts && s.Terms.Kind.Agent() {
			events = append(events, event(s.Account, CallAnswered, s.ID, now))
		}
	}
	if len(events) == 0 {
		return nil
	}
	return db.Tx(ctx, "enqueue answers", func(tx pgx.Tx) error { return db.EnqueueDeliveries(ctx, tx, now, events...) })
}
