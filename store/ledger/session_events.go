package ledger

import (
	"context"
	"errors"
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

// wantAnalysis puts an answered call that ends in line to be analyzed, if its agent wanted
// that, and says whether it will have a summary.
func (w *Tx) wantAnalysis(ctx context.Context, s *session) (summary bool, err error) {
	if s.startedAt == nil || !s.terms.Kind.Agent() {
		return false, nil
	}
	err = w.QueryRow(ctx, `with v as (
			select c.session_id, c.account_id, coalesce(v.settings -> 'analysis' ->> 'summary', '') = 'true' as summary, v.settings -> 'analysis' -> 'extract' is not null as extract
			from calls c join agent_versions v on v.agent_id = c.agent_id and v.version = c.agent_version and v.account_id = c.account_id
			where c.session_id = $2 and c.account_id = $1 and c.deleted_at is null),
		i as (insert into call_analyses (session_id, account_id, state, next_at, created_at)
			select session_id, account_id, 'waiting', $3, $3 from v where summary or extract on conflict do nothing)
		select summary from v where summary or extract`, w.account, s.id, w.now).Scan(&summary)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return summary, err
	}
	return summary, w.ledger.db.Enqueue(ctx, w, store.AnalyzeCalls, "", "")
}
