package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/storetest"
)

func TestANewLifeClosesWhatTheOldLeftOpen(t *testing.T) {
	f := setup(t)
	acc := f.account(10 * usd)
	old := f.node
	talked, ringing := f.start(acc, outboundES), f.start(acc, outboundES)
	used := billing.Usage{billing.AgentTime: 5000, billing.LineTime: 5000}
	f.checkpoint(talked, 1, used)
	f.node = f.register("node-b")
	other := f.start(acc, web)

	young, closed, err := f.RegisterNode(f.ctx(), old.ID, "127.0.0.1:2", t0.Add(time.Second))
	f.ok(err)
	if closed != 2 || young.Epoch <= old.Epoch {
		t.Fatalf("closed %d, epoch %d after %d", closed, young.Epoch, old.Epoch)
	}
	f.want(acc, billing.Pots{Paid: 10*usd - price(t, outboundES, used), Bonus: 5 * usd})
	for _, s := range []*store.Session{talked, ringing} {
		c, err := f.Call(f.ctx(), acc, s.ID)
		f.ok(err)
		if *c.EndReason != "failed" || *c.EndDetail != "node_lost" {
			t.Errorf("ended %s, %s", *c.EndReason, *c.EndDetail)
		}
	}

	// The old process is still there and does not know.
	more := store.Checkpoint{Session: talked, Seq: 9, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: 60_000}}
	if _, err := f.Checkpoint(f.ctx(), more, t0); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its checkpoint: %v", err)
	}
	if err := f.Heartbeat(f.ctx(), old, t0); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its heartbeat: %v", err)
	}
	if err := f.LineMinute(f.ctx(), talked, 2, t0); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its line minute: %v", err)
	}
	late := f.request(acc, web)
	late.Node = old
	if _, err := f.StartSession(f.ctx(), late, t0); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its start: %v", err)
	}
	f.checkpoint(other, 1, used) // another node goes on
	f.ok(f.Heartbeat(f.ctx(), young, t0))
	f.verified()
}

// Whoever has the wrong epoch is fenced although the session is still open, as it
// is between the birth of a younger process and the end of what the old one left.
func TestSessionsOfAnotherLifeAreFenced(t *testing.T) {
	f := setup(t)
	acc := f.account(10 * usd)
	s := f.start(acc, outboundES)
	before := f.show(acc).Pots
	other := *s
	other.Node.Epoch--
	used := billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000}
	if _, err := f.Checkpoint(f.ctx(), store.Checkpoint{Session: &other, Seq: 1, StartedAt: t0, Usage: used}, t0); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its checkpoint: %v", err)
	}
	if err := f.LineMinute(f.ctx(), &other, 2, t0); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its line minute: %v", err)
	}
	if _, err := f.CloseSession(f.ctx(), &other, store.Closing{Reason: "user_hangup", StartedAt: t0, Usage: used}, t0); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its close: %v", err)
	}
	f.want(acc, before)
	f.checkpoint(s, 1, used) // the owner goes on
	f.verified()
}

// A start that overlaps the birth of a younger process is either refused or closed
// by it; none stays behind.
func TestStartsRaceWithANewLife(t *testing.T) {
	f := setup(t)
	acc := f.account(10 * usd)
	lives := 100_000
	f.ok(f.ChangeAccount(f.ctx(), acc, store.AccountChange{Concurrency: &lives}, t0))
	together(40, func(i int) {
		if i%8 == 0 {
			if _, _, err := f.RegisterNode(f.ctx(), f.node.ID, "", t0); err != nil {
				t.Error(err)
			}
			return
		}
		if _, err := f.StartSession(f.ctx(), f.request(acc, web), t0); err != nil && !errors.Is(err, store.ErrFenced) {
			t.Error(err)
		}
	})
	if _, _, err := f.RegisterNode(f.ctx(), f.node.ID, "", t0); err != nil {
		t.Error(err)
	}
	if n := f.show(acc).Live; n != 0 {
		t.Errorf("%d sessions of lives that are over", n)
	}
	f.verified()
}

func TestSilentNodesAreReaped(t *testing.T) {
	f := setup(t)
	acc := f.account(10 * usd)
	silent := f.node
	f.start(acc, web)
	f.node = f.register("node-b")
	f.start(acc, web)
	const lease = 15 * time.Second
	f.ok(f.Heartbeat(f.ctx(), f.node, t0.Add(lease)))
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{lease, 0}, {lease + time.Second, 1}, {lease + 2*time.Second, 0}} {
		if n, err := f.ReapNodes(f.ctx(), lease, t0.Add(c.after)); err != nil || n != c.want {
			t.Errorf("after %v: reaped %d, %v; want %d", c.after, n, err, c.want)
		}
	}
	if err := f.Heartbeat(f.ctx(), silent, t0.Add(time.Hour)); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the silent node comes back: %v", err)
	}
	if n := f.show(acc).Live; n != 1 {
		t.Errorf("%d live; want 1", n)
	}
	f.verified()
}

// waitForLocks returns when n statements of the database wait for a lock.
func waitForLocks(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	for waiting := 0; waiting < n; {
		err := conn.QueryRow(t.Context(), `select count(*) from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock'`).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The two orders in which a start and a new life can meet, each held at the point
// where they wait for one another.
func TestStartAndNewLifeWaitForEachOther(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	acc := f.account(10 * usd)
	conn, err := pgx.Connect(t.Context(), url)
	f.ok(err)
	defer conn.Close(t.Context())

	// The new life first: a start that had not seen it is refused.
	tx, err := conn.Begin(t.Context())
	f.ok(err)
	_, err = tx.Exec(t.Context(), "update nodes set epoch = nextval('node_epochs')")
	f.ok(err)
	started := make(chan error, 1)
	go func() {
		_, err := f.StartSession(f.ctx(), f.request(acc, web), t0)
		started <- err
	}()
	watch, err := pgx.Connect(t.Context(), url)
	f.ok(err)
	defer watch.Close(t.Context())
	waitForLocks(t, watch, 1)
	f.ok(tx.Commit(t.Context()))
	if err := <-started; !errors.Is(err, store.ErrFenced) {
		t.Errorf("a start during a new life: %v", err)
	}

	// The start first: the new life waits for its end and closes it. A lock on the
	// calls keeps the start from ending.
	f.node = f.register(f.node.ID)
	tx, err = conn.Begin(t.Context())
	f.ok(err)
	_, err = tx.Exec(t.Context(), "lock table calls in access exclusive mode")
	f.ok(err)
	go func() {
		_, err := f.StartSession(f.ctx(), f.request(acc, web), t0)
		started <- err
	}()
	waitForLocks(t, watch, 1)
	lost := make(chan int, 1)
	go func() {
		_, n, err := f.RegisterNode(f.ctx(), f.node.ID, "", t0)
		if err != nil {
			t.Error(err)
		}
		lost <- n
	}()
	waitForLocks(t, watch, 2)
	f.ok(tx.Commit(t.Context()))
	f.ok(<-started)
	if n := <-lost; n != 1 {
		t.Errorf("the new life closed %d; want the session that had just started", n)
	}
	f.verified()
}
