// Package tasks keeps synthesis that accounts have asked for and do not wait for, and has the
// ledger charge for it.
//
// A task is work of the ledger (ledger.Tx.StartWork): its whole price is held from the submission
// on, and becomes a charge in the transaction that stores that its result is there. Nodes work on
// it by claims, of which the latest alone counts, so it outlives every process that has it and is
// charged once. Where a task's row and its session are locked the account's wallet is too, in the order
// wallet, task, session; a claim locks the task alone.
package tasks

import (
	"context"
	"errors"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// MaxTasks is how many tasks of an account may wait or run at once.
const MaxTasks = 5

// Lease is how long a claim of a task lasts after Touch, which its claimant
// calls once a second.
const Lease = 45 * time.Second

// queueLease is how long a task may wait in the queue before it is queued again,
// in case the queue has lost it: that does no harm, for only one can claim it.
const queueLease = time.Hour

// Status is how far a task is. It never goes back.
type Status string

// The states of a task.
const (
	Pending    Status = "pending"
	Processing Status = "processing"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// Script is what a task is to say and how.
type Script struct {
	Text     string
	Voice    string
	Language string
	Format   string // what the result is written as; its meaning is the worker's business
	Speed    float64
	Steps    int
}

// Task is synthesis that an account has asked for and does not wait for.
type Task struct {
	ID        string
	Account   string
	Status    Status
	Script          // without the text, which only its claimant gets
	Chars     int64 // Unicode code points of the text
	Progress  int   // per cent; it never falls
	Claim     int64 // how often it was claimed
	Attempts  int   // of these, those that were not given up in good order
	CreatedAt time.Time
	EndedAt   *time.Time // completed or failed
	ExpiresAt *time.Time // completed: when its result goes
	Duration  time.Duration
	// ErrorCode and ErrorMessage say why it failed, for the client to read.
	ErrorCode, ErrorMessage string
}

// Submission asks for a task. Its price is that of the card, which must be
// stored, whatever is in force when it completes.
type Submission struct {
	Node    store.Node // that takes it on, though any may work on it
	Account string
	Key     string // of the account, that asks; empty: none does
	Card    *billing.RateCard
	Script
	Chars int64 // Unicode code points of the text, above 0
}

// Store keeps tasks. Several goroutines may use it.
type Store struct {
	db     *store.DB
	ledger *ledger.Ledger
}

// New returns a Store in a database.
func New(db *store.DB) *Store { return &Store{db, ledger.New(db)} }

// Submit takes a task on: its whole price is held until it ends. It refuses
// as ledger.StartSession does, but with ErrTasks instead of ErrConcurrency: tasks do not
// count among sessions.
func (s *Store) Submit(ctx context.Context, sub Submission, enqueue store.Enqueue) (*Task, error) {
	if sub.Chars <= 0 {
		return nil, store.Invalid("a task needs a text")
	}
	start := ledger.Start{Node: sub.Node, Account: sub.Account, Key: sub.Key, Terms: billing.Terms{Kind: billing.TTS}, Card: sub.Card}
	start.Expect[billing.TTSChars] = sub.Chars
	t := &Task{Account: sub.Account, Status: Pending, Script: sub.Script, Chars: sub.Chars}
	t.Text = ""
	err := s.ledger.Locked(ctx, "submit task", sub.Account, func(w *ledger.Tx) error {
		work, err := w.StartWork(ctx, start)
		if err != nil {
			return err
		}
		t.ID, t.CreatedAt = store.NewID(store.TaskID, w.Now()), w.Now()
		unfinished, err := store.Scalar[int](ctx, w, "select count(*) from tts_tasks where account_id = $1 and ended_at is null", sub.Account)
		if err != nil {
			return err
		}
		if unfinished >= MaxTasks {
			return store.ErrTasks
		}
		_, err = w.Exec(ctx, `insert into tts_tasks (id, account_id, session_id, status, voice, language, format, speed, steps,
			body, chars, created_at, touched_at) values ($1, $2, $3, 'pending', $4, $5, $6, $7, $8, $9, $10, $11, $11)`,
			t.ID, sub.Account, work.ID, sub.Voice, sub.Language, sub.Format, sub.Speed, sub.Steps, sub.Text, sub.Chars, w.Now())
		if err != nil {
			return err
		}
		return enqueue(ctx, w, sub.Account, t.ID)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// The columns of a Task before and after its text.
const (
	beforeText = "id, account_id, status"
	afterText  = `voice, language, format, speed, steps, chars, progress, claim, attempts,
	created_at, ended_at, expires_at, duration_ms * interval '1 ms', error_code, error_message`
)

// Task returns a task of the account.
func (s *Store) Task(ctx context.Context, account, id string) (*Task, error) {
	return store.First[Task](ctx, s.db, "read task", "select "+beforeText+", '', "+afterText+" from tts_tasks where account_id = $1 and id = $2", account, id)
}

// orphaned is a claim whose owner is dead: a life of its node that is over, or one
// that gave no sign since $1.
const orphaned = `(t.node_id is not null and (t.touched_at < $1
	or not exists (select from nodes n where n.node_id = t.node_id and n.epoch = t.node_epoch)))`

// Claim makes node the one that works on a task, and returns it with its text.
// ErrNotFound: there is nothing to do, for it has ended, was cancelled, or another
// node has it. ErrFenced: a younger process has the node's name, and there may be
// much to do for others.
func (s *Store) Claim(ctx context.Context, n store.Node, account, id string) (*Task, error) {
	now := s.db.Time(ctx)
	t, err := store.First[Task](ctx, s.db, "claim task", `update tts_tasks t set status = 'processing', node_id = $4, node_epoch = $5, touched_at = $6,
			claim = claim + 1, attempts = attempts + 1
		where t.account_id = $2 and t.id = $3 and t.ended_at is null and (t.node_id is null or `+orphaned+`)
			and exists (select from nodes where node_id = $4 and epoch = $5)
		returning `+beforeText+", body, "+afterText, now.Add(-Lease), account, id, n.ID, n.Epoch, now)
	if !errors.Is(err, store.ErrNotFound) {
		return t, err
	}
	if fenced := s.db.NodeLives(ctx, n); fenced != nil {
		err = fenced
	}
	return nil, err
}

// Touch says that the task is being worked on and how far it is. ErrFenced: it
// was cancelled, or others work on it; stop.
func (s *Store) Touch(ctx context.Context, t *Task, progress int) error {
	return store.Fail("touch task", store.ErrFenced.IfUnchanged(s.db.Pool().Exec(ctx,
		`update tts_tasks set progress = greatest(progress, $4), touched_at = $5
		where account_id = $1 and id = $2 and claim = $3 and node_id is not null and ended_at is null`, t.Account, t.ID, t.Claim, progress, s.db.Time(ctx))))
}

// Release ends the work on a task that is not through; any node may
// claim it again. One given up in good order does not count as an
// attempt. A task that is not the caller's any more is left alone.
func (s *Store) Release(ctx context.Context, t *Task, inGoodOrder bool) error {
	return s.db.Do(ctx, "release task", `update tts_tasks set node_id = null, node_epoch = null, touched_at = $5,
			attempts = attempts - case when $4 then 1 else 0 end
		where account_id = $1 and id = $2 and claim = $3 and node_id is not null and ended_at is null`, t.Account, t.ID, t.Claim, inGoodOrder, s.db.Time(ctx))
}

// Requeue puts in line again what the dead have left: tasks whose node lives
// a new life or has been silent for Lease. It returns how many. Any node may
// call it at any time.
func (s *Store) Requeue(ctx context.Context, enqueue store.Enqueue) (int, error) {
	now := s.db.Time(ctx)
	return s.db.Requeue(ctx, "requeue tasks", enqueue, `update tts_tasks t set node_id = null, node_epoch = null, touched_at = $3
		where t.ended_at is null and (`+orphaned+` or t.node_id is null and t.touched_at < $2)
		returning account_id, id`, now.Add(-Lease), now.Add(-queueLease), now)
}

// Forget removes tasks that ended before a time, and returns how many. What
// they cost stays in the ledger.
func (s *Store) Forget(ctx context.Context, before time.Time) (int64, error) {
	return s.db.Exec(ctx, "forget tasks", "delete from tts_tasks where ended_at < $1", before)
}
