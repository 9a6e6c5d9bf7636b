package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"parley/store"
	"parley/store/private"
)

// errNotEmpty keeps a measurement away from a ledger in use.
var errNotEmpty = errors.New("the database is not empty: a measurement needs one of its own")

// databasePatience bounds making and starting a database on a busy machine.
const databasePatience = time.Minute

// openLedger opens an empty database with the schema in it, and bare connections to
// it: the one at address or, without one, that of a server of our own, which stop
// ends and removes.
func openLedger(ctx context.Context, address string) (db *store.DB, pool *pgxpool.Pool, stop func() error, err error) {
	stop = func() error { return nil }
	if address == "" {
		if address, stop, err = startServer(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	if pool, err = pgxpool.New(ctx, pooled(address)); err == nil {
		if db, err = openEmpty(ctx, pool, pooled(address)); err != nil {
			pool.Close()
		}
	}
	if err != nil {
		return nil, nil, nil, errors.Join(err, stop())
	}
	stopServer := stop
	return db, pool, func() error { db.Close(); pool.Close(); return stopServer() }, nil
}

// startServer starts a PostgreSQL that keeps its promises, in a directory that the
// account it runs under can reach.
func startServer(ctx context.Context) (address string, stop func() error, err error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return "", nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	ctx, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()
	c, err := private.Start(ctx, private.Options{Dir: filepath.Join(dir, "pg"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return "", nil, errors.Join(fmt.Errorf("start a database: %w", err), remove())
	}
	return c.URL(), func() error { return errors.Join(c.Stop(), remove()) }, nil
}

// openEmpty opens a database that has no tables yet and makes ours.
func openEmpty(ctx context.Context, pool *pgxpool.Pool, address string) (*store.DB, error) {
	var tables int
	if err := pool.QueryRow(ctx, `select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname <> 'information_schema' and n.nspname not like 'pg\_%'`).Scan(&tables); err != nil {
		return nil, err
	}
	if tables > 0 {
		return nil, errNotEmpty
	}
	db, err := store.Open(ctx, address)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// pooled gives each writer a connection, unless the address says how many there are.
func pooled(address string) string {
	const name = "pool_max_conns"
	if strings.Contains(address, name) {
		return address
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" { // name=value pairs
		return address + " " + name + "=" + strconv.Itoa(mostWriters)
	}
	q := u.Query()
	q.Set(name, strconv.Itoa(mostWriters))
	u.RawQuery = q.Encode()
	return u.String()
}
