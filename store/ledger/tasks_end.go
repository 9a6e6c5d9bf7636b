package ledger

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"

	"parley/store"
)

// How the session of a task ends, in the words of media.EndReason.
const (
	reasonCompleted = "completed"
	reasonAsked     = "api_hangup"
	detailEngine    = "engine"
	detailCancelled = "cancelled"
)

// CompleteTask ends a task whose result, of length d, is there and stays for
// life; its text is charged for in the same transaction, and only then.
// Completing again changes nothing. ErrFenced: it was cancelled, or others work on
// it: the result is not wanted.
func (l *Ledger) CompleteTask(ctx context.Context, t *Task, d, life time.Duration) error {
	return l.finish(ctx, "complete task", t, func(now time.Time, b *pgx.Batch, chars int64) Closing {
		b.Queue(`update tts_tasks set status = 'completed', progress = 100, body = '', ended_at = $2, expires_at = $3, duration_ms = $4
			where id = $1 and account_id = $5`, t.ID, now, now.Add(life), d.Milliseconds(), t.Account)
		c := Closing{Reason: reasonCompleted, StartedAt: now}
		c.Usage[billing.TTSChars] = chars
		return c
	})
}

// FailTask ends a task that cannot be done; nothing is charged. code and message
// are for the client. Failing again changes nothing. ErrFenced: as CompleteTask.
func (l *Ledger) FailTask(ctx context.Context, t *Task, code, message string) error {
	return l.finish(ctx, "fail task", t, func(now time.Time, b *pgx.Batch, _ int64) Closing {
		b.Queue(`update tts_tasks set status = 'failed', body = '', ended_at = $2, error_code = $3, error_message = $4
			where id = $1 and account_id = $5`, t.ID, now, code, message, t.Account)
		return Closing{Reason: store.ReasonFailed, Detail: detailEngine}
	})
}

// finish ends a task by what end queues and its session by what end returns.
func (l *Ledger) finish(ctx context.Context, op string, t *Task, end func(now time.Time, b *pgx.Batch, chars int64) Closing) error {
	return l.db.Tx(ctx, op, func(tx pgx.Tx) error {
		k, err := l.lockTask(ctx, tx, t.Account, t.ID)
		switch {
		case err != nil && !errors.Is(err, pgx.ErrNoRows):
			return err
		case err != nil || k.claim != t.Claim:
			return store.ErrFenced
		case k.ended:
			return nil
		}
		b := &pgx.Batch{}
		c := end(k.now, b, k.chars)
		if err := store.Send(ctx, tx, b); err != nil {
			return err
		}
		return k.end(ctx, k.session, c)
	})
}

// CancelTask removes a task of the account that has not ended; nothing is
// charged. ErrTaskEnded: it has. ErrNotFound: there is none.
func (l *Ledger) CancelTask(ctx context.Context, account, id string) error {
	return l.db.Tx(ctx, "cancel task", func(tx pgx.Tx) error {
		k, err := l.lockTask(ctx, tx, account, id)
		if err != nil {
			return err
		}
		if k.ended {
			return store.ErrTaskEnded
		}
		if _, err := tx.Exec(ctx, "delete from tts_tasks where account_id = $1 and id = $2", account, id); err != nil {
			return err
		}
		return k.end(ctx, k.session, Closing{Reason: reasonAsked, Detail: detailCancelled})
	})
}

// lockedTask is a task, its wallet and its session, all locked.
type lockedTask struct {
	*Tx
	session *session
	claim   int64
	chars   int64
	ended   bool
}

func (l *Ledger) lockTask(ctx context.Context, tx pgx.Tx, account, id string) (k lockedTask, err error) {
	if k.Tx, err = l.lock(ctx, tx, account); err != nil {
		return k, err
	}
	// The task's row before its session's: all who lock
	// them hold the wallet, but for TouchTask, which wants only the first.
	var session string
	err = tx.QueryRow(ctx, `select session_id, claim, chars, ended_at is not null from tts_tasks
		where account_id = $1 and id = $2 for update`, account, id).Scan(&session, &k.claim, &k.chars, &k.ended)
	if err != nil {
		return k, err
	}
	k.session, err = k.lockSession(ctx, session)
	return k, err
}
