package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// Job is background work that a transaction makes due.
type Job string

// The jobs.
const (
	DeliverEvents  Job = "deliver events" // to webhooks
	SendWarnings   Job = "send warnings"
	ChargeRecharge Job = "charge recharge" // its ID is the attempt's
	SummarizeCall  Job = "summarize call"  // of a batch; its ID is the call's
	AnalyzeCalls   Job = "analyze calls"
	ReadDocument   Job = "read document" // its ID is the document's
	EmbedDocuments Job = "embed documents"
	SendMessages   Job = "send messages"
)

// Enqueuer puts a job in line within the transaction that makes it due. account and id
// are empty where the job has no ID.
type Enqueuer interface {
	Enqueue(ctx context.Context, tx pgx.Tx, job Job, account, id string) error
}

// Enqueue puts one kind of job in line within the transaction that makes it due.
type Enqueue func(ctx context.Context, tx pgx.Tx, account, id string) error

// UseQueue has q put jobs in line. Call it before db is used by several goroutines. Without
// it, as in a command, all but summaries and documents is found by the rounds that look for what is due.
func (db *DB) UseQueue(q Enqueuer) { db.queue = q }

// Enqueue puts a job in line, if there is a queue.
func (db *DB) Enqueue(ctx context.Context, tx pgx.Tx, job Job, account, id string) error {
	if db.queue == nil {
		return nil
	}
	return db.queue.Enqueue(ctx, tx, job, account, id)
}

// Requeue runs a command that returns accounts and identifiers, and enqueues a job for each in the same transaction. It
// returns how many there were.
func (db *DB) Requeue(ctx context.Context, op string, enqueue Enqueue, sql string, args ...any) (n int, err error) {
	type key struct{ Account, ID string }
	err = db.Tx(ctx, op, func(tx pgx.Tx) error {
		left, err := Rows[key](ctx, tx, sql, args...)
		for i := 0; err == nil && i < len(left); i++ {
			err = enqueue(ctx, tx, left[i].Account, left[i].ID)
		}
		n = len(left)
		return err
	})
	return n, err
}
