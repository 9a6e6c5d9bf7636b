package verify

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
)

// Outcome is what a verification that was made came to.
type Outcome struct {
	EndedAt    time.Time
	Violations int
}

// Last is the outcome of the latest verification; nil: there was none.
func Last(ctx context.Context, db Database) (*Outcome, error) {
	o, err := store.Row[Outcome](ctx, db.Pool(), "select ended_at, violations from verifications order by id desc limit 1")
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return o, store.Fail("read the last verification", err)
}

// nightlyLock is the advisory lock of the process that verifies by Nightly.
const nightlyLock = 0x7061726c65790001

// Nightly does Recent between one and five o'clock UTC, once, or when a day has
// passed without. The report is nil when none is due, or another process makes it.
func Nightly(ctx context.Context, db Database) (r *Report, err error) {
	conn, err := db.Pool().Acquire(ctx)
	if err != nil {
		return nil, store.Fail("verify", err)
	}
	defer conn.Release()
	mine, err := store.Scalar[bool](ctx, conn, "select pg_try_advisory_lock($1)", int64(nightlyLock))
	if err != nil || !mine {
		return nil, store.Fail("verify", err)
	}
	defer func() { // a connection that this fails on is gone, and the lock with it
		_, _ = conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", int64(nightlyLock))
	}()
	due, err := store.Scalar[bool](ctx, conn, `select not exists (select from verifications where ended_at > now() - interval '26 hours'
		and (ended_at > now() - interval '18 hours' or extract(hour from now() at time zone 'UTC') not between 1 and 4))`)
	if err != nil || !due {
		return nil, store.Fail("verify", err)
	}
	return Recent(ctx, db)
}
