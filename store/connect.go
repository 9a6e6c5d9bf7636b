package store

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// startup are the parameters that a connection may name as it begins. PgBouncer refuses
// all others there, or takes them for those of any client; they are set afterwards, so the
// store works behind it in session mode. In transaction mode it does not: settings,
// prepared statements and advisory locks of a session would be another's.
var startup = []string{"application_name", "client_encoding", "options", "replication"}

// SetAfterwards takes the other parameters out of cfg and returns a function that sets
// them on a new connection, for AfterConnect.
func SetAfterwards(cfg *pgxpool.Config) func(context.Context, *pgx.Conn) error {
	var names, values []string
	for _, name := range slices.Sorted(maps.Keys(cfg.ConnConfig.RuntimeParams)) {
		if !slices.Contains(startup, name) {
			names, values = append(names, name), append(values, cfg.ConnConfig.RuntimeParams[name])
			delete(cfg.ConnConfig.RuntimeParams, name)
		}
	}
	return func(ctx context.Context, c *pgx.Conn) error {
		if len(names) == 0 {
			return nil
		}
		_, err := c.Exec(ctx, "select set_config(name, value, false) from unnest($1::text[], $2::text[]) as p (name, value)", names, values)
		return err
	}
}

// nameConnections gives the connections of a pool a name that no other process's have, so that others see in
// pg_stat_activity whether this process has any. It returns the name; empty where the operator has given one, which all
// nodes may have.
func nameConnections(cfg *pgxpool.Config) string {
	if cfg.ConnConfig.RuntimeParams["application_name"] != "" {
		return ""
	}
	var process [8]byte
	rand.Read(process[:])
	name := fmt.Sprintf("parley %x", process)
	cfg.ConnConfig.RuntimeParams["application_name"] = name
	return name
}

// LeaveStandby has connections end whose server takes no writes any more: with several hosts in the address the next
// connection finds the one that does. The others of the pool end as they are used.
func LeaveStandby(cfg *pgxpool.Config) {
	before := cfg.ConnConfig.OnPgError
	cfg.ConnConfig.OnPgError = func(c *pgconn.PgConn, e *pgconn.PgError) bool { return e.Code != readOnly && before(c, e) }
}

// A migration waits lockPatience for a table that others use, and everybody who comes after
// it waits that long behind it; then it lets them pass, and tries again until
// migratePatience is over.
const (
	lockPatience    = 2 * time.Second
	lockPause       = time.Second
	migratePatience = 10 * time.Minute
)

// migrating returns a pool for migrations: they give up a lock soon, and work on what they
// have locked for as long as it takes.
func (db *DB) migrating(ctx context.Context) (*pgxpool.Pool, error) {
	cfg := db.pool.Config()
	cfg.MinIdleConns, cfg.MaxConns = 0, 2 // goose keeps its own lock on one
	before := cfg.AfterConnect
	cfg.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		if err := before(ctx, c); err != nil {
			return err
		}
		_, err := c.Exec(ctx, fmt.Sprintf("set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = %d", lockPatience.Milliseconds()))
		return err
	}
	return pgxpool.NewWithConfig(ctx, cfg)
}

// insist does f again while others have locked what it needs.
func insist(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, migratePatience)
	defer cancel()
	for {
		err := f()
		if !Locked(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(lockPause):
		}
	}
}
