package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// How the session of a task ends, in the words of media.EndReason.
const (
	reasonCompleted = "completed"
	reasonAsked     = "api_hangup"
	detailEngine    = "engine"
	detailCancelled = "cancelled"
)

// Complete ends a task whose result, of length d, is there and stays for
// life; its text is charged for in the same transaction, and only then.
// Completing again changes nothing. ErrFenced: it was cancelled, or others work on
// it: the result is not wanted.
func (s *Store) Complete(ctx context.Context, t *Task, d, life time.Duration) error {
	return s.finish(ctx, "complete task", t, func(now time.Time, b *pgx.Batch, chars int64) ledger.Closing {
		b.Queue(`update tts_tasks set status = 'completed', progress = 100, body = '', ended_at = $2, expires_at = $3, duration_ms = $4
			where id = $1 and account_id = $5`, t.ID, now, now.Add(life), d.Milliseconds(), t.Account)
		c := ledger.Closing{Reason: reasonCompleted, StartedAt: now}
		c.Usage[billing.TTSChars] = chars
		return c
	})
}

// Fail ends a task that cannot be done; nothing is charged. code and message
// are for the client. Failing again changes nothing. ErrFenced: as Complete.
func (s *Store) Fail(ctx context.Context, t *Task, code, message string) error {
	return s.finish(ctx, "fail task", t, func(now time.Time, b *pgx.Batch, _ int64) ledger.Closing {
		b.Queue(`update tts_tasks set status = 'failed', body = '', ended_at = $2, error_code = $3, error_message = $4
			where id = $1 and account_id = $5`, t.ID, now, code, message, t.Account)
		return ledger.Closing{Reason: store.ReasonFailed, Detail: detailEngine}
	})
}

// finish ends a task by what end queues and its session by what end returns.
func (s *Store) finish(ctx context.Context, op string, t *Task, end func(now time.Time, b *pgx.Batch, chars int64) ledger.Closing) error {
	return s.ledger.Locked(ctx, op, t.Account, func(w *ledger.Tx) error {
		k, err := lock(ctx, w, t.Account, t.ID)
		switch {
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return err
		case err != nil || k.Claim != t.Claim:
			return store.ErrFenced
		case k.Ended:
			return nil
		}
		b := &pgx.Batch{}
		c := end(w.Now(), b, k.Chars)
		if err := store.Send(ctx, w, b); err != nil {
			return err
		}
		return w.EndWork(ctx, k.Session, c)
	})
}

// Cancel removes a task of the account that has not ended; nothing is
// charged. ErrTaskEnded: it has. ErrNotFound: there is none.
func (s *Store) Cancel(ctx context.Context, account, id string) error {
	return s.ledger.Locked(ctx, "cancel task", account, func(w *ledger.Tx) error {
		k, err := lock(ctx, w, account, id)
		if err != nil {
			return err
		}
		if k.Ended {
			return store.ErrTaskEnded
		}
		if _, err := w.Exec(ctx, "delete from tts_tasks where account_id = $1 and id = $2", account, id); err != nil {
			return err
		}
		return w.EndWork(ctx, k.Session, ledger.Closing{Reason: reasonAsked, Detail: detailCancelled})
	})
}

// locked is a task whose row and wallet are.
type locked struct {
	Session string
	Claim   int64
	Chars   int64
	Ended   bool
}

// lock reads and locks a task of the account whose wallet is locked.
func lock(ctx context.Context, w *ledger.Tx, account, id string) (*locked, error) {
	return store.Row[locked](ctx, w, `select session_id, claim, chars, ended_at is not null from tts_tasks
		where account_id = $1 and id = $2 for update`, account, id)
}
