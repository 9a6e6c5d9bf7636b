package ledger_test

import (
	"testing"
	"time"

	"parley/billing"
	"parley/store/storetest"
)

// The store works behind PgBouncer in session mode: migrations, settings of a session,
// prepared statements, locks.
func TestBehindPgBouncer(t *testing.T) {
	t.Parallel()
	url := storetest.Pooled(t, storetest.URL(t), "session", 50)
	db := storetest.Open(t, url)
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	f := prepare(t, db)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, web)
	f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 60_000})
	f.CloseWith(s, billing.Usage{billing.AgentTime: 61_000})
	if _, _, err := f.RegisterNode(f.At(t0.Add(time.Minute)), f.Node.ID, "127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	f.Verified()
}
