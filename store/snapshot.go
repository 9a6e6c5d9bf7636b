package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Totals say what a database holds, so that a copy can be compared with it.
type Totals struct {
	// Rows counts those of every table of ours, and of the queue of jobs as "river.…".
	Rows map[string]int64 `json:"rows"`
	// Sums over all wallets, in US dollars to the last digit, such as "24.75".
	Paid    string `json:"paid"`
	Bonus   string `json:"bonus"`
	Accrued string `json:"accrued"` // by sessions in progress, not yet posted
	Held    string `json:"held"`    // by sessions in progress
}

// Snapshot is one state of the database. While it is held, other connections can
// join it by its ID (SET TRANSACTION SNAPSHOT, pg_dump --snapshot).
type Snapshot struct {
	ID       string
	Postgres int   // major version of the server
	Schema   int64 // number of the last migration
	Bytes    int64 // size of the database on disk
	Totals   Totals
}

// Snapshot runs f while it holds one state of the database. It takes no lock that
// anybody else's work waits for, but vacuuming has to wait for f.
// The error of f is returned as it is; ErrNotFound means that the schema is not here.
func (db *DB) Snapshot(ctx context.Context, f func(Snapshot) error) error {
	var own error // of f
	err := db.Frozen(ctx, func(tx pgx.Tx) error {
		var s Snapshot
		err := tx.QueryRow(ctx, `select pg_export_snapshot(), current_setting('server_version_num')::int / 10000, pg_database_size(current_database())`).
			Scan(&s.ID, &s.Postgres, &s.Bytes)
		if err != nil {
			return err
		}
		if s.Schema, err = schemaOf(ctx, tx); err != nil {
			return err
		}
		if s.Schema == 0 {
			return fmt.Errorf("%w: there are no accounts in this database", ErrNotFound)
		}
		if s.Totals, err = totals(ctx, tx); err != nil {
			return err
		}
		own = f(s)
		return own
	})
	if own != nil {
		return own
	}
	return Fail("snapshot", err)
}

// Totals counts what the database holds now.
func (db *DB) Totals(ctx context.Context) (t Totals, err error) {
	err = db.Frozen(ctx, func(tx pgx.Tx) error {
		t, err = totals(ctx, tx)
		return err
	})
	return t, Fail("totals", err)
}

// frozen runs f on one state of the database, for as long as it takes.
func (db *DB) Frozen(ctx context.Context, f func(tx pgx.Tx) error) error {
	return pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0"); err != nil {
			return err
		}
		return f(tx)
	})
}

func totals(ctx context.Context, tx pgx.Tx) (t Totals, err error) {
	const sum = "trim_scale(coalesce(sum(%s), 0) * 0.000000001)::text"
	sums := fmt.Sprintf(sum+","+sum+","+sum+","+sum, "paid_nano", "bonus_nano", "accrued_any_nano + accrued_paid_nano", "held_nano")
	if err := tx.QueryRow(ctx, "select "+sums+" from wallets").Scan(&t.Paid, &t.Bonus, &t.Accrued, &t.Held); err != nil {
		return t, err
	}
	type table struct {
		Schema, Name string
		Ours         bool
	}
	tables, err := Rows[table](ctx, tx,
		`select n.nspname, c.relname, n.nspname = current_schema() from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where c.relkind = 'r' and c.relpersistence = 'p' and n.nspname in (current_schema(), 'river') order by 1, 2`)
	if err != nil {
		return t, err
	}
	t.Rows = make(map[string]int64, len(tables))
	for _, x := range tables {
		name := x.Name
		if !x.Ours {
			name = x.Schema + "." + x.Name
		}
		if t.Rows[name], err = Scalar[int64](ctx, tx, "select count(*) from "+pgx.Identifier{x.Schema, x.Name}.Sanitize()); err != nil {
			return t, err
		}
	}
	return t, nil
}
