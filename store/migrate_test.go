package store_test

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"parley/store"
	"parley/store/storetest"
)

// A migration that cannot have its lock lets those pass who wait behind it, and is done
// when it can.
func TestMigrationYieldsToWriters(t *testing.T) {
	url := storetest.URL(t)
	db := storetest.Open(t, url)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	connect := func() *pgx.Conn {
		c, err := pgx.Connect(t.Context(), url)
		ok(err)
		t.Cleanup(func() { c.Close(context.WithoutCancel(t.Context())) })
		return c
	}
	slow, other := connect(), connect()
	_, err := other.Exec(t.Context(), "drop schema public cascade; create schema public")
	ok(err)
	old := stdlib.OpenDB(*other.Config())
	defer old.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, old, os.DirFS("migrations"))
	ok(err)
	_, err = p.UpTo(t.Context(), 43) // the next one refers to wallets
	ok(err)
	tx, err := slow.Begin(t.Context())
	ok(err)
	_, err = tx.Exec(t.Context(), "update wallets set suspended = suspended")
	ok(err)
	done := make(chan error, 1)
	go func() { done <- db.Migrate(t.Context()) }()
	for waits := false; !waits; time.Sleep(10 * time.Millisecond) {
		ok(other.QueryRow(t.Context(), "select exists (select from pg_locks where relation = 'wallets'::regclass and not granted)").Scan(&waits))
	}
	// The transaction before it goes on, so this one gets its lock because it gave up.
	_, err = other.Exec(t.Context(), "update wallets set suspended = suspended where account_id = 'nobody'")
	ok(err)
	select {
	case err := <-done:
		t.Fatalf("migrated while a table was in use: %v", err)
	default:
	}
	ok(tx.Commit(t.Context()))
	ok(<-done)
	if is, err := db.Schema(t.Context()); err != nil || is != store.SchemaVersion() {
		t.Errorf("schema %d, %v", is, err)
	}
}
