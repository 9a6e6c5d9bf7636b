// Package notify tells accounts what has happened: events to their webhooks (Webhooks), and
// warnings on the bus and by mail (Warnings).
//
// The transaction that makes something true stores the delivery or the warning and queues a job.
// A job claims what is due for the length of a lease and stores the outcome. A round every few
// seconds finds what the jobs left and what is to be tried again, so that nothing is lost with
// the process that was about to send it. A receiver may get an event twice, under one identifier.
package notify

import (
	"context"

	"github.com/jackc/pgx/v5"

	"parley/store/jobs"
)

// EnqueueDeliveries queues a round of deliveries in a transaction.
func EnqueueDeliveries(ctx context.Context, tx pgx.Tx, q *jobs.Queue) error {
	return q.Insert(ctx, tx, webhooks{})
}

// EnqueueWarnings queues publishing and mailing of warnings in a transaction.
func EnqueueWarnings(ctx context.Context, tx pgx.Tx, q *jobs.Queue) error {
	if err := q.Insert(ctx, tx, publishWarnings{}); err != nil {
		return err
	}
	return q.Insert(ctx, tx, mailWarnings{})
}
