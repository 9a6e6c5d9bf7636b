package store

import (
	"context"
	"time"
)

// tester is a test, or a run of a random one.
type tester interface {
	Helper()
	Fatal(args ...any)
}

// Silence has a node's last heartbeat be so much older.
func Silence(t tester, db *DB, node string, d time.Duration) {
	change(t, db, "update nodes set heartbeat_at = heartbeat_at - $2::interval where node_id = $1", node, d)
}

// Steady has a node's heartbeats have come without a gap for so much longer.
func Steady(t tester, db *DB, node string, d time.Duration) {
	change(t, db, "update nodes set steady_since = steady_since - $2::interval where node_id = $1", node, d)
}

func change(t tester, db *DB, sql string, args ...any) {
	t.Helper()
	if _, err := db.pool.Exec(context.Background(), sql, args...); err != nil {
		t.Fatal(err)
	}
}
