// Package store opens the PostgreSQL database of a server, migrates it, and has what all
// packages below it share: errors, identifiers, the database's clock, transactions (DB.Tx),
// statements of one moment (DB.Statement), the queue of jobs (Enqueuer), nodes with their
// leases, and events for webhooks. It also keeps agents, do-not-call lists, rate cards,
// warnings and idempotency keys.
//
// Money is in package ledger, batches of calls in campaign, people and their keys in people,
// calls after the fact in history, webhooks in webhook. None of them but campaign knows the
// ledger.
//
// Every query about an account's things names the account in its condition, so that another
// account's are not found. Methods read the time from DB.Time, once each, and take none but
// that of an event; they may be called from several goroutines. Leases of nodes are counted in
// SQL.
package store

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
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
	clock clock
	cards sync.Map // version to *billing.RateCard; cards never change
	force atomic.Pointer[billing.RateCard]

	livesMu sync.Mutex
	lives   []int64 // the epochs that this process has registered

	// connections is the application_name of this process's connections; empty: the operator has given them one.
	connections string

	queue Enqueuer // nil: see UseQueue
	hints *Hints
	beat  atomic.Pointer[beat] // nil: there was no heartbeat
	// maxRecharge is the most of one: see MaxRecharge.
	maxRecharge billing.Money
}

// Connections: enough that calls do not wait for each other's disk, few enough
// that several nodes fit PostgreSQL's default of 100. pool_max_conns in the URL
// overrides it.
const maxConns = 20

// statementTimeout ends what hangs; the longest query of ours, a verification of
// all history, lifts it for itself.
const statementTimeout = 30 * time.Second

const (
	// LockTimeout is how long a statement waits for a row that another transaction has. All
	// are short: one that holds a row for longer belongs to a process that is cut off.
	LockTimeout = 2 * time.Second
	// idleTimeout ends such a transaction, and gives back what it has locked, well
	// before calls are ended because their books cannot be kept.
	idleTimeout = 5 * time.Second
)

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
	connections := nameConnections(cfg)
	setDefault(cfg, "default_transaction_isolation", "read committed") // a server's default may be another
	setDefault(cfg, "statement_timeout", fmt.Sprint(statementTimeout.Milliseconds()))
	setDefault(cfg, "idle_in_transaction_session_timeout", fmt.Sprint(idleTimeout.Milliseconds()))
	setDefault(cfg, "lock_timeout", fmt.Sprint(LockTimeout.Milliseconds()))
	LeaveStandby(cfg)
	set := SetAfterwards(cfg)
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		c.TypeMap().RegisterType(&pgtype.Type{Name: "timestamptz", OID: pgtype.TimestamptzOID,
			Codec: &pgtype.TimestamptzCodec{ScanLocation: time.UTC}})
		return set(ctx, c)
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, Fail("open the database", err)
	}
	db := &DB{pool: pool, connections: connections, hints: NewHints(), maxRecharge: DefaultMaxRecharge}
	for range 2 { // the first answer waits for a connection, which tells little of the time
		if err := db.readClock(ctx); err != nil {
			pool.Close()
			return nil, err
		}
	}
	return db, nil
}

// Connect opens one connection to the database at url, whatever is in it. The URL may have
// parameters of the pool, which a connection by itself would send to the database; others
// are set once it is open.
func Connect(ctx context.Context, url string) (*pgx.Conn, error) {
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	set := SetAfterwards(cfg)
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, err
	}
	if err := set(ctx, conn); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return conn, nil
}

func setDefault(cfg *pgxpool.Config, name, value string) {
	if _, ok := cfg.ConnConfig.RuntimeParams[name]; !ok {
		cfg.ConnConfig.RuntimeParams[name] = value
	}
}

// DefaultMaxRecharge bounds what a stolen credential can have a card charged at once.
const DefaultMaxRecharge = 500 * billing.USD

// MaxRecharge is the most that one automatic recharge charges, whatever its account has
// set.
func (db *DB) MaxRecharge() billing.Money { return db.maxRecharge }

// LimitRecharges sets MaxRecharge, which is DefaultMaxRecharge without it. Call it
// before db is used by several goroutines.
func (db *DB) LimitRecharges(most billing.Money) { db.maxRecharge = most }

// Pool is for the packages of the store, where the helpers below do not suffice.
func (db *DB) Pool() *pgxpool.Pool { return db.pool }

// Close waits for connections in use and closes them all.
func (db *DB) Close() { db.pool.Close() }

// Ping says whether the database answers.
func (db *DB) Ping(ctx context.Context) error { return Fail("ping", db.pool.Ping(ctx)) }

//go:embed migrations/*.sql
var migrations embed.FS

// Migrate brings the schema up to date. Several processes may call it at once:
// one does the work while the others wait. Servers may be at work meanwhile: none waits
// for it longer than two seconds at a time.
func (db *DB) Migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 120)) // ask each second, for two minutes
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	pool, err := db.migrating(ctx)
	if err != nil {
		return Fail("migrate", err)
	}
	defer pool.Close()
	conn := stdlib.OpenDBFromPool(pool)
	defer conn.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, conn, dir, goose.WithSessionLocker(locker))
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return Fail("migrate", insist(ctx, func() error {
		_, err := p.Up(ctx)
		return err
	}))
}

// commitPatience is how long a commit is waited for; see Tx.
const commitPatience = 5 * time.Second

// Tx runs f in a READ COMMITTED transaction that is committed unless f fails, or ctx has
// ended by then. A commit that was sent is waited for, though ctx ends meanwhile: who asked
// may give up, and what happened is known all the same. Where it is not, because the
// connection is lost, the error is an unknownOutcome.
func (db *DB) Tx(ctx context.Context, op string, f func(pgx.Tx) error) error {
	// The level is named because a server's default may be another.
	tx, err := db.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return Fail(op, err)
	}
	defer func() { _ = tx.Rollback(ctx) }() // after a commit it does nothing
	after, end := follows(tx)
	defer end() // before the connection is another's
	if err = f(tx); err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return Fail(op, err)
	}
	sure, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitPatience)
	defer cancel()
	end()
	if err = tx.Commit(sure); err != nil && !refused(err) {
		err = unknownOutcome{err}
	}
	if err == nil {
		for _, f := range *after {
			f()
		}
	}
	return Fail(op, err)
}

// unknownOutcome is the error of a commit that may have happened.
type unknownOutcome struct{ error }

// Unwrap returns what went wrong.
func (u unknownOutcome) Unwrap() error { return u.error }

// refused says whether the database said that a commit did not happen.
func refused(err error) bool {
	_, answered := errors.AsType[*pgconn.PgError](err)
	return answered && !away(err) || errors.Is(err, pgx.ErrTxCommitRollback)
}

// One runs a query that returns one row.
func (db *DB) One(ctx context.Context, op, sql string, args []any, into ...any) error {
	return Fail(op, db.pool.QueryRow(ctx, sql, args...).Scan(into...))
}

// Must runs a command that has to change at least one row, else ErrNotFound.
func (db *DB) Must(ctx context.Context, op, sql string, args ...any) error {
	return Fail(op, ErrNotFound.IfUnchanged(db.pool.Exec(ctx, sql, args...)))
}

// Exec runs a command and returns how many rows it changed.
func (db *DB) Exec(ctx context.Context, op, sql string, args ...any) (int64, error) {
	tag, err := db.pool.Exec(ctx, sql, args...)
	return tag.RowsAffected(), Fail(op, err)
}

// Do runs a command that may change any number of rows.
func (db *DB) Do(ctx context.Context, op, sql string, args ...any) error {
	return Fail(op, Do(ctx, db.pool, sql, args...))
}

// Do runs a command of q that may change any number of rows.
func Do(ctx context.Context, q Queryer, sql string, args ...any) error {
	_, err := q.Exec(ctx, sql, args...)
	return err
}

// Send runs what was queued, in one round trip.
func Send(ctx context.Context, tx pgx.Tx, b *pgx.Batch) error {
	return tx.SendBatch(ctx, b).Close()
}

// Queryer is a pool or a transaction.
type Queryer interface {
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// List collects all rows of a query; for T see Rows.
func List[T any](ctx context.Context, db *DB, op, sql string, args ...any) ([]T, error) {
	out, err := Rows[T](ctx, db.pool, sql, args...)
	return out, Fail(op, err)
}

// ListPage collects a page of a query that ends with its condition, by identifiers; for T see Rows.
func ListPage[T any](ctx context.Context, db *DB, op string, p Page, id, sql string, args ...any) ([]T, error) {
	out, err := PageRows[T](ctx, db.pool, p, id, sql, args...)
	return out, Fail(op, err)
}

// PageRows does the same with a query of q.
func PageRows[T any](ctx context.Context, q Queryer, p Page, id, sql string, args ...any) ([]T, error) {
	where, args := p.clause(id, args)
	return Rows[T](ctx, q, sql+where, args...)
}

// Rows collects all rows of a query of q. A T that is a struct has a row's columns in the
// order of its exported fields, those of embedded structs in their place and those with the
// tag db:"-" left out; any other T is the only column.
func Rows[T any](ctx context.Context, q Queryer, sql string, args ...any) ([]T, error) {
	rows, err := q.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	if reflect.TypeFor[T]().Kind() == reflect.Struct {
		return pgx.CollectRows(rows, pgx.RowToStructByPos[T])
	}
	return pgx.CollectRows(rows, pgx.RowTo[T])
}

// Row returns the first row of a query of q, or pgx.ErrNoRows; for T see Rows.
func Row[T any](ctx context.Context, q Queryer, sql string, args ...any) (*T, error) {
	found, err := Rows[T](ctx, q, sql, args...)
	if err == nil && len(found) == 0 {
		err = pgx.ErrNoRows
	}
	if err != nil {
		return nil, err
	}
	return &found[0], nil
}

// First returns the first row of a query, or ErrNotFound; for T see Rows.
func First[T any](ctx context.Context, db *DB, op, sql string, args ...any) (*T, error) {
	found, err := Row[T](ctx, db.pool, sql, args...)
	if errors.Is(err, pgx.ErrNoRows) {
		err = ErrNotFound
	}
	return found, Fail(op, err)
}

// Scalar returns the only column of the first row of a query of q, or pgx.ErrNoRows.
func Scalar[T any](ctx context.Context, q Queryer, sql string, args ...any) (v T, err error) {
	err = q.QueryRow(ctx, sql, args...).Scan(&v)
	return v, err
}

// Value returns the only column of the first row of a query, or ErrNotFound.
func Value[T any](ctx context.Context, db *DB, op, sql string, args ...any) (T, error) {
	v, err := Scalar[T](ctx, db.pool, sql, args...)
	return v, Fail(op, err)
}

// Page is a part of a list, newest first.
type Page struct {
	After string // identifier of the last item of the page before, or its Place; empty for the first
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
	return p.Bound(sql+" order by "+id+" desc", args)
}

// Bound adds the limit to a query that ends with its order.
func (p Page) Bound(sql string, args []any) (string, []any) {
	if p.Limit > 0 {
		args = append(args, p.Limit)
		sql += fmt.Sprintf(" limit $%d", len(args))
	}
	return sql, args
}
