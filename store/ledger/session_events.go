package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// enqueueEnd enqueues the events of the end of a session, if it is a conversation. That it was
// answered is an event of a checkpoint, unless none came.
func (w *Tx) enqueueEnd(ctx context.Context, s *session) error {
	if !s.terms.Kind.Agent() {
		return nil
	}
	var events []store.Event
	if s.startedAt != nil {
		events = append(events, store.Event{Account: w.account, Kind: store.CallAnswered, About: s.id})
	}
	events = append(events, store.Event{Account: w.account, Kind: store.CallEnded, About: s.id})
	if s.startedAt != nil {
		events = append(events, store.Event{Account: w.account, Kind: store.CallTranscript, About: s.id})
	}
	return w.ledger.db.EnqueueDeliveries(ctx, w, w.now, events...)
}

// enqueueAnswered enqueues the answers of conversations whose clock was not known to run before
// these checkpoints. Their own transaction does not, which others wait for; what is lost
// between the two comes with the session's end.
func (l *Ledger) enqueueAnswered(ctx context.Context, cs []Checkpoint, results []CheckpointResult, now time.Time) error {
	var events []store.Event
	for i, r := range results {
		if s := cs[i].Session; r.Err == nil && r.starts && s.Terms.Kind.Agent() {
			events = append(events, store.Event{Account: s.Account, Kind: store.CallAnswered, About: s.ID})
		}
	}
	if len(events) == 0 {
		return nil
	}
	return l.db.Tx(ctx, "enqueue answers", func(tx pgx.Tx) error { return l.db.EnqueueDeliveries(ctx, tx, now, events...) })
}
