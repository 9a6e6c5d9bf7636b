package history

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Who had what was said in a call deleted.
const (
	byRequest = "request"
	byExpiry  = "expiry"
)

// ForgetCall deletes what was said in a call of the account: transcript, log, functions, completions, recording,
// what it can be replayed from, signalling, headers, summary, extracted data and the note; a customer database
// that was not told of the call yet is not. Of a call that lasts nothing is kept either.
// That there was the call stays: with whom, when, how it sounded and what it cost. Files of the recording
// go with the next round of the node that had it, or of another that has them. ErrNotFound: there is no such call.
// Deleting it again changes nothing.
func (h *Store) ForgetCall(ctx context.Context, account, call string) error {
	return h.forget(ctx, account, call, byRequest, h.db.Time(ctx))
}

func (h *Store) forget(ctx context.Context, account, call, by string, now time.Time) error {
	return h.db.Tx(ctx, "forget call", func(tx pgx.Tx) error {
		err := store.ErrNotFound.IfUnchanged(tx.Exec(ctx,
			`update calls set deleted_at = coalesce(deleted_at, $3), deleted_by = coalesce(deleted_by, $4), transcript = '[]', note = null, headers = null, origin = null
			where session_id = $2 and account_id = $1`, account, call, now, by))
		if err != nil {
			return err
		}
		b := &pgx.Batch{}
		b.Queue("delete from call_logs where session_id = $1", call)
		b.Queue("delete from call_events where session_id = $1", call)
		b.Queue("delete from call_completions where session_id = $1", call)
		b.Queue("delete from call_functions where session_id = $1", call)
		b.Queue("delete from call_words where session_id = $1", call)
		b.Queue("delete from call_replays where session_id = $1", call)
		b.Queue("update call_wire set sip = '[]', sip_dropped = 0 where session_id = $1", call)
		b.Queue(deleteRecording, account, call, now, by)
		b.Queue(`update call_analyses set state = 'skipped', reason = $2, detail = '', summary = null, data = null, next_at = null,
			done_at = coalesce(done_at, $3) where session_id = $1`, call, store.AnalysisDeleted, now)
		b.Queue("update campaign_rows set summary = null, headers = null where account_id = $1 and session_id = $2", account, call)
		b.Queue("update crm_notes set state = 'never' where session_id = $1 and state = 'waiting'", call)
		return store.Send(ctx, tx, b)
	})
}

// ExpireCalls deletes what was said in calls that their accounts have kept long enough, a
// thousand of each account at most, and returns how many there were.
func (h *Store) ExpireCalls(ctx context.Context) (int, error) {
	now := h.db.Time(ctx)
	type keeper struct {
		Account string
		Days    int
	}
	keepers, err := store.List[keeper](ctx, h.db, "list accounts that forget",
		"select id, conversation_days from accounts where conversation_days is not null order by id")
	if err != nil {
		return 0, err
	}
	n := 0
	for _, k := range keepers {
		until := now.AddDate(0, 0, -k.Days)
		due, err := store.List[string](ctx, h.db, "list calls to forget", `select c.session_id from calls c join sessions s on s.id = c.session_id
			where c.account_id = $1 and c.deleted_at is null and c.session_id < $2 and s.ended_at <= $3 order by c.session_id limit $4`,
			k.Account, store.FloorID(store.SessionID, until.Add(time.Millisecond)), until, sweep)
		if err != nil {
			return n, err
		}
		for _, call := range due {
			if err := h.forget(ctx, k.Account, call, byExpiry, now); err != nil {
				return n, err
			}
			n++
		}
	}
	return n, nil
}
