package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// answerLife is how long an answer is given again.
	answerLife = 24 * time.Hour
	// requestLease is how long a request is left to the process that works on it.
	requestLease = time.Minute
)

// IdempotencyKey is what a client gave a request, so that it can be sent again
// without being done again. BeginRequest comes first; then FinishRequest or DropRequest.
type IdempotencyKey struct {
	Account string // whose it is; of an operator's request the operator
	Route   string // keys of different routes are different
	Key     string
	Hash    [32]byte // of the request: the same key for another one is refused
	// Subject is what was begun under the key, perhaps by an earlier process that died;
	// empty: nothing. It is entered by the transaction that begins it.
	Subject string
	// TakenOver says that an earlier request began, and was cut off before its answer was kept.
	TakenOver bool

	begun time.Time
}

// Answer is what a request was answered with.
type Answer struct {
	Status int
	Body   []byte
	// Headers are those that belong to it.
	Headers map[string]string
}

// BeginRequest makes a request the caller's to do, or returns the answer it has had
// within 24 h. ErrIdempotency: the key was used for another request. ErrInProgress:
// another request works on it.
func (db *DB) BeginRequest(ctx context.Context, o *IdempotencyKey) (*Answer, error) {
	now := db.Time(ctx)
	o.begun = now
	tag, err := db.pool.Exec(ctx, `insert into idempotent_requests as r (account_id, route, key, hash, begun_at) values ($1, $2, $3, $4, $5)
		on conflict (account_id, route, key) do update set hash = $4, begun_at = $5, subject = null, status = null, body = null, headers = null
			where r.begun_at <= $6`, o.Account, o.Route, o.Key, o.Hash[:], now, now.Add(-answerLife))
	if err != nil {
		return nil, Fail("begin request", err)
	}
	if tag.RowsAffected() == 1 {
		return nil, nil
	}
	var same bool
	var a Answer
	var status *int
	err = db.One(ctx, "begin request", `select hash = $4, status, body, headers from idempotent_requests where account_id = $1 and route = $2 and key = $3`,
		[]any{o.Account, o.Route, o.Key, o.Hash[:]}, &same, &status, &a.Body, &a.Headers)
	switch {
	case errors.Is(err, ErrNotFound): // dropped this moment
		return nil, Fail("begin request", ErrInProgress)
	case err != nil:
		return nil, err
	case !same:
		return nil, Fail("begin request", ErrIdempotency)
	case status != nil:
		a.Status = *status
		return &a, nil
	}
	err = db.One(ctx, "take request over", `update idempotent_requests set begun_at = $4
		where account_id = $1 and route = $2 and key = $3 and status is null and begun_at <= $5 returning coalesce(subject, '')`,
		[]any{o.Account, o.Route, o.Key, now, now.Add(-requestLease)}, &o.Subject)
	if errors.Is(err, ErrNotFound) {
		err = Fail("begin request", ErrInProgress)
	}
	o.TakenOver = err == nil
	return nil, err
}

// begin queues the note of what the request has begun. A nil o had no key. It fails with
// ErrInProgress when the request has been taken over meanwhile: the other has begun it, or
// is about to.
func (o *IdempotencyKey) Begin(b *pgx.Batch, subject string) {
	if o == nil {
		return
	}
	b.Queue(`update idempotent_requests set subject = $4 where account_id = $1 and route = $2 and key = $3 and begun_at = $5 and subject is null`,
		o.Account, o.Route, o.Key, subject, o.begun).Exec(func(tag pgconn.CommandTag) error {
		if tag.RowsAffected() == 0 {
			return ErrInProgress
		}
		return nil
	})
}

// FinishRequest keeps the answer for repeated requests.
func (db *DB) FinishRequest(ctx context.Context, o *IdempotencyKey, a Answer) error {
	var headers any // null
	if len(a.Headers) > 0 {
		headers = a.Headers
	}
	return db.Do(ctx, "finish request", `update idempotent_requests set status = $4, body = $5, headers = $7
		where account_id = $1 and route = $2 and key = $3 and status is null and begun_at = $6`, o.Account, o.Route, o.Key, a.Status, a.Body, o.begun, headers)
}

// DropRequest ends the work on a request without an answer. One under which nothing was begun
// is forgotten: it may be sent again. Where something was, the key stays with it, and
// a repeated request takes it up at once: the lease ends here.
func (db *DB) DropRequest(ctx context.Context, o *IdempotencyKey) error {
	return db.Do(ctx, "drop request", `with mine as (select subject from idempotent_requests
			where account_id = $1 and route = $2 and key = $3 and status is null and begun_at = $4 for update),
		dropped as (delete from idempotent_requests where account_id = $1 and route = $2 and key = $3 and exists (select from mine where subject is null))
		update idempotent_requests set begun_at = begun_at - $5::interval
			where account_id = $1 and route = $2 and key = $3 and exists (select from mine where subject is not null)`,
		o.Account, o.Route, o.Key, o.begun, requestLease)
}

// RequestsToForget is the condition, of SQL, in which $1 is the time, under which ForgetRequests has something to do.
var RequestsToForget = fmt.Sprintf("exists (select from idempotent_requests where begun_at <= $1 - interval '%d seconds')", int(answerLife.Seconds()))

// ForgetRequests removes answers that are not given again.
func (db *DB) ForgetRequests(ctx context.Context) error {
	return db.Do(ctx, "forget requests", "delete from idempotent_requests where begun_at <= $1", db.Time(ctx).Add(-answerLife))
}
