package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// Statement is one moment of an account's books. What its methods return belongs
// together, however much is written meanwhile. It is for one goroutine, and only
// inside the function that it was given to.
type Statement struct {
	Tx      pgx.Tx // read-only
	account string
}

// Statement has read look at the account's books. It holds a connection until read
// returns; the database ends it when read does something else for 30 s.
func (db *DB) Statement(ctx context.Context, account string, read func(*Statement) error) error {
	snapshot := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return Fail("read statement", pgx.BeginTxFunc(ctx, db.pool, snapshot, func(tx pgx.Tx) error {
		return read(&Statement{tx, account})
	}))
}

// Account is whose books they are.
func (s *Statement) Account() string { return s.account }

// Range is the time from From until just before To; a zero time is no bound.
type Range struct{ From, To time.Time }

// Bounds are both as times that the database compares.
func (r Range) Bounds() (from, to time.Time) {
	if r.To.IsZero() {
		r.To = time.Date(9999, time.January, 1, 0, 0, 0, 0, time.UTC)
	}
	return r.From, r.To
}
