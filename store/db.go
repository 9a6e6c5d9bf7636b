// Package store keeps everything that outlives a process in PostgreSQL: accounts,
// keys, agents, numbers, calls, background tasks, and the ledger with its rule for money.
//
// The ledger is double entry and only grows. Sessions in progress do not write to
// it: they accrue on their own row and their wallet, by cumulative checkpoints,
// and are posted when they close. Every transaction that moves money locks the
// wallet row first, then sessions, then lots, each by ascending identifier, at
// READ COMMITTED: see wallet.go. Verify recomputes all of it.
//
// Every query about an account's things names the account in its condition, so
// what belongs to somebody else is not found. Methods are given the time, and
// may be called from several goroutines.
package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"parley/billing"
)

// DB is the store.
type DB struct {
	pool  *pgxpool.Pool
	cards sync.Map // version to *billing.RateCard; cards never change
	force atomic.Pointer[billing.RateCard]
	// warned is called by a transaction that records a warning; nil: nobody is told.
	warned func(ctx context.Context, tx pgx.Tx) error
	// delivering is called by a transaction that puts events in line for webhooks: see OnDelivery.
	delivering func(ctx context.Context, tx pgx.Tx) error
	// recharging puts an attempt at an automatic recharge in line: see OnRecharge.
	recharging Enqueue
	// summarizing puts the summary of a call in line: see OnRowAnswered.
	summarizing Enqueue
	// analyzing has what is due of analyses done soon: see OnAnalysis.
	analyzing func(ctx context.Context, tx pgx.Tx) error
}

// Connections: enough that calls do not wait for each other's disk, few enough
// that several nodes fit PostgreSQL's default of 100. pool_max_conns in the URL
// overrides it.
const maxConns = 20

// statementTimeout ends what hangs; the longest query of ours, a verification of
// all history, lifts it for itself.
const statementTimeout = 30 * time.Second

// Open connects to the database at url. The schema must be there (Migrate).
func Open(ctx context.Context, url string) (*DB, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err) // pgx blanks the password
	}
	if !strings.Contains(url, "pool_max_conns") {
		cfg.MaxConns = maxConns
	}
	cfg.MinIdleConns = min(2, cfg.MaxConns)
	cfg.HealthCheckPeriod = 10 * time.Second
	setDefault(cfg, "application_name", "parley")
	setDefault(cfg, "default_transaction_isolation", "read committed") // a server's default may be another
	setDefault(cfg, "statement_timeout", fmt.Sprint(statementTimeout.Milliseconds()))
	setDefault(cfg, "idle_in_transaction_session_timeout", fmt.Sprint(statementTimeout.Milliseconds()))
	cfg.AfterConnect = func(_ context.Context, c *pgx.Conn) error {
		c.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
		return nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fail("open the database", err)
	}
	db := &DB{pool: pool}
	if err := db.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return db, nil
}

// Connect opens one connection to the database at url, whatever is in it. The URL may have
// parameters of the pool, which a connection by itself would send to the database.
func Connect(ctx context.Context, url string) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}

func setDefault(cfg *pgxpool.Config, name, value string) {
	if _, ok := cfg.ConnConfig.RuntimeParams[name]; !ok {
		cfg.ConnConfig.RuntimeParams[name] = value
	}
}

// Close waits for connections in use and closes them all.
func (db *DB) Close() { db.pool.Close() }

// Ping says whether the database answers.
func (db *DB) Ping(ctx context.Context) error { return fail("ping", db.pool.Ping(ctx)) }

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date. Several processes may call it at once:
// one does the work while the others wait.
func (db *DB) Migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120)) // ask each second, for two minutes
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	conn := stdlib.OpenDBFromPool(db.pool)
	defer conn.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, conn, dir, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	_, err = p.Up(ctx)
	return fail("migrate", err)
}

// tx runs f in a READ COMMITTED transaction that is committed unless f fails.
func (db *DB) tx(ctx context.Context, op string, f func(pgx.Tx) error) error {
	// The level is named because a server's default may be another.
	return fail(op, pgx.BeginTxFunc(ctx, db.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted}, f))
}

// one runs a query that returns one row.
func (db *DB) one(ctx context.Context, op, sql string, args []any, into ...any) error {
	return fail(op, db.pool.QueryRow(ctx, sql, args...).Scan(into...))
}

// must runs a command that has to change at least one row, else ErrNotFound.
func (db *DB) must(ctx context.Context, op, sql string, args ...any) error {
	tag, err := db.pool.Exec(ctx, sql, args...)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrNotFound
	}
	return fail(op, err)
}

// list collects all rows of a query.
func list[T any](ctx context.Context, db *DB, op string, row pgx.RowToFunc[T], sql string, args ...any) ([]T, error) {
	rows, err := db.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fail(op, err)
	}
	out, err := pgx.CollectRows(rows, row)
	return out, fail(op, err)
}

// first returns the first row of a query, or ErrNotFound.
func first[T any](ctx context.Context, db *DB, op string, row pgx.RowToFunc[T], sql string, args ...any) (*T, error) {
	found, err := list(ctx, db, op, row, sql, args...)
	if err == nil && len(found) == 0 {
		err = fail(op, ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// Page is a part of a list, newest first.
type Page struct {
	After string // identifier of the last item of the page before; empty for the first
	Limit int    // at most this many; 0 is all
}

// clause is what follows "where ...". Identifiers begin with their time, so their
// order is age.
func (p Page) clause(id string, args []any) (string, []any) {
	sql := ""
	if p.After != "" {
		args = append(args, p.After)
		sql = fmt.Sprintf(" and %s < $%d", id, len(args))
	}
	sql += " order by " + id + " desc"
	if p.Limit > 0 {
		args = append(args, p.Limit)
		sql += fmt.Sprintf(" limit $%d", len(args))
	}
	return sql, args
}
