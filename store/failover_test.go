package store_test

import (
	"errors"
	"log/slog"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/store"
	"parley/store/private"
	"parley/store/storetest"
)

// twin is one of two servers of PostgreSQL. They are no copies of each other: what is in one was written there.
type twin struct {
	t    *testing.T
	url  *url.URL
	conn *pgx.Conn
}

func newTwin(t *testing.T) *twin {
	t.Helper()
	dir := filepath.Join(storetest.Dir(t), "data")
	storetest.Cluster(t, dir)
	c, err := private.Start(t.Context(), private.Options{Dir: private.Dir(dir), Log: slog.New(slog.DiscardHandler), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop() })
	w := &twin{t: t}
	if w.url, err = url.Parse(c.URL()); err == nil {
		w.conn, err = pgx.Connect(t.Context(), c.URL())
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// takesWrites says whether the server is the primary, as far as clients can see.
func (w *twin) takesWrites(yes bool) {
	w.t.Helper()
	readOnly := map[bool]string{true: "off", false: "on"}[yes]
	_, err := w.conn.Exec(w.t.Context(), "alter system set default_transaction_read_only = "+readOnly)
	if err == nil {
		_, err = w.conn.Exec(w.t.Context(), "select pg_reload_conf()")
	}
	for now := ""; err == nil && now != readOnly; time.Sleep(time.Millisecond) {
		err = w.conn.QueryRow(w.t.Context(), "show default_transaction_read_only").Scan(&now)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// has says whether a node has begun a life there.
func (w *twin) has(node string) (yes bool) {
	w.t.Helper()
	if err := w.conn.QueryRow(w.t.Context(), "select exists (select from nodes where node_id = $1)", node).Scan(&yes); err != nil {
		w.t.Fatal(err)
	}
	return yes
}

// TestFailover: of several servers in the address the one is found that takes writes; when it takes none any more the database is away
// until another does, and connections that are open to the first are not kept.
func TestFailover(t *testing.T) {
	t.Parallel()
	first, second := newTwin(t), newTwin(t)
	second.takesWrites(false)
	both := *first.url
	q, other := both.Query(), second.url.Query()
	q.Set("host", other.Get("host")+","+q.Get("host"))
	q.Set("target_session_attrs", "read-write")
	both.RawQuery = q.Encode()
	db := storetest.Open(t, both.String())
	if _, err := db.BeginEpoch(t.Context(), "before", "127.0.0.1:1"); err != nil || !first.has("before") || second.has("before") {
		t.Fatalf("the first write: %v; it is where it belongs: %t, and elsewhere: %t", err, first.has("before"), second.has("before"))
	}
	first.takesWrites(false)
	if _, err := db.BeginEpoch(t.Context(), "between", "127.0.0.1:1"); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("while there is none: %v", err)
	}
	second.takesWrites(true)
	tries, err := db.Pool().Config().MaxConns+1, error(store.ErrUnavailable) // each connection may be tried once
	for ; tries > 0 && errors.Is(err, store.ErrUnavailable); tries-- {
		_, err = db.BeginEpoch(t.Context(), "after", "127.0.0.1:1")
	}
	if err != nil {
		t.Fatal("the database does not come back: ", err)
	}
	if first.has("after") || !second.has("after") {
		t.Error("it was written to the first")
	}
}
