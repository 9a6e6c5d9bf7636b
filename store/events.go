package store

import (
	"cmp"
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Kinds of events, besides those of warnings.
const (
	// CallIncoming is asked of the webhook of the called number, and delivered to no other.
	CallIncoming   = "call.incoming"
	CallStarted    = "call.started"
	CallAnswered   = "call.answered"
	CallEnded      = "call.ended"
	CallTranscript = "call.transcript"
	CallSummarized = "call.summary"
	CallAnalyzed   = "call.analyzed"

	// Of text messages.
	MessageReceived  = "message.received"
	MessageDelivered = "message.delivered"
	MessageFailed    = "message.failed"
)

// Event is delivered to webhooks, once for each kind and thing.
type Event struct {
	ID            string // empty: EnqueueDeliveries makes one
	Account, Kind string
	About         string // the call, the message or the warning
}

// EnqueueDeliveries puts events of a moment in line for the webhooks that want them, within the
// transaction that makes them true (a transactional outbox). The lock keeps a webhook from being deleted between
// being found and being referred to; it is taken last of all.
func (db *DB) EnqueueDeliveries(ctx context.Context, tx pgx.Tx, at time.Time, events ...Event) error {
	var ids, accounts, kinds, abouts []string
	for _, e := range events {
		ids, accounts, kinds, abouts = append(ids, cmp.Or(e.ID, NewID(EventID, at))), append(accounts, e.Account), append(kinds, e.Kind), append(abouts, e.About)
	}
	tag, err := tx.Exec(ctx, `with w as materialized (select id, account_id, kinds from webhooks where account_id = any($2) and enabled and deleted_at is null order by id for key share)
		insert into webhook_deliveries (webhook_id, event_id, account_id, kind, about, created_at, next_at)
		select w.id, e.id, w.account_id, e.kind, e.about, $5, $5
		from w join unnest($1::text[], $2::text[], $3::text[], $4::text[]) as e(id, account, kind, about) on e.account = w.account_id
		where w.kinds = '{}' or e.kind = any(w.kinds)
		on conflict do nothing`, ids, accounts, kinds, abouts, at)
	if err != nil || tag.RowsAffected() == 0 {
		return err
	}
	return db.Enqueue(ctx, tx, DeliverEvents, "", "")
}
