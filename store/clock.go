package store

import (
	"context"
	"sync/atomic"
	"time"

	"parley/store/internal/at"
)

// clock follows the database's: what it said when it was read last, and since then the
// process's own clock that only counts. The clock on the wall of this machine, which may
// be wrong by days and be set at any time, has no part in it.
type clock struct{ last atomic.Pointer[reading] }

// reading is what the database's clock said at a moment.
type reading struct{ here, there time.Time }

// now is the database's time; before the first reading this machine's.
func (c *clock) now() time.Time {
	r := c.last.Load()
	if r == nil {
		return time.Now()
	}
	return r.at(time.Now())
}

func (r *reading) at(here time.Time) time.Time { return r.there.Add(here.Sub(r.here)) }

// read takes an answer of the database to a question that was asked at a moment. How long
// the answer took on its way is not known: a time that is right within half of what both
// ways took is kept, so that time does not jump back and forth.
func (c *clock) read(asked, there time.Time) {
	here := time.Now()
	half := here.Sub(asked) / 2
	next := &reading{here, there.Add(half)}
	if r := c.last.Load(); r != nil && r.at(here).Sub(next.there).Abs() <= half {
		return
	}
	c.last.Store(next)
}

// Now is the time by the database's clock, as it was read with the last heartbeat and goes
// on since. It decides about money, leases, expiry and schedules, on every node alike, and
// is as precise as the database keeps it.
// Several goroutines may call it. It sends no query.
func (db *DB) Now() time.Time { return db.clock.now().UTC().Truncate(time.Microsecond) }

// Time is Now for what the packages of the store do on behalf of ctx. A test sets another
// time by storetest.At.
func (db *DB) Time(ctx context.Context) time.Time {
	if set, ok := ctx.Value(at.Key{}).(time.Time); ok {
		return set
	}
	return db.Now()
}

// readClock asks the database for the time, and so whether it answers.
func (db *DB) readClock(ctx context.Context) error {
	asked := time.Now()
	there, err := Value[time.Time](ctx, db, "ping", "select clock_timestamp()")
	if err == nil {
		db.clock.read(asked, there)
	}
	return err
}
