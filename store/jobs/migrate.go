package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

// schema keeps the library's tables apart from ours.
const schema = "river"

// migrationLock is the advisory lock of a migration; any number that
// nobody else uses.
const migrationLock = 0x7061726c_6a6f6273

// lockRetry is how often the lock is asked for. Waiting for it inside of a
// statement would block index builds of the one that holds it.
const lockRetry = 200 * time.Millisecond

// Migrate brings the tables in the database at url up to date, as opening a queue does.
func Migrate(ctx context.Context, url string, log *slog.Logger) error {
	pool, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := migrate(ctx, pool, log); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	return nil
}

// migrate brings the library's tables up to date. Several processes may call it at
// once: one does the work while the others wait.
func migrate(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	for {
		var mine bool
		if err := conn.QueryRow(ctx, "select pg_try_advisory_lock($1)", int64(migrationLock)).Scan(&mine); err != nil {
			return err
		}
		if mine {
			break
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(lockRetry):
		}
	}
	// A lock that cannot be given back goes with its connection.
	defer func() {
		if _, err := conn.Exec(context.WithoutCancel(ctx), "select pg_advisory_unlock($1)", int64(migrationLock)); err != nil {
			log.Warn("the lock of a migration was not released", "err", err)
		}
	}()
	// Asked first, for creating what is there already takes the right to create.
	var there bool
	if err := conn.QueryRow(ctx, "select exists (select from pg_namespace where nspname = $1)", schema).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := conn.Exec(ctx, "create schema "+schema); err != nil {
			return fmt.Errorf("create schema %s: %w", schema, err)
		}
	}
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Schema: schema, Logger: quiet(log)})
	if err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}
