package ledger_test

import (
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
	"parley/store/ledger/statement"
	"parley/store/storetest"
)

func TestANewLifeClosesWhatTheOldLeftOpen(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	old := f.Node
	talked, ringing := f.Start(acc, outboundES), f.Start(acc, outboundES)
	used := billing.Usage{billing.AgentTime: 5000, billing.LineTime: 5000}
	f.MustCheckpoint(talked, 1, used)
	f.Node = f.Register("node-b")
	other := f.Start(acc, web)

	young, lost, err := f.RegisterNode(f.At(t0.Add(time.Second)), old.ID, "127.0.0.1:2")
	f.OK(err)
	if len(lost) != 2 || lost[0].Err != nil || lost[1].Err != nil || young.Epoch <= old.Epoch {
		t.Fatalf("closed %v, epoch %d after %d", lost, young.Epoch, old.Epoch)
	}
	f.Want(acc, billing.Pots{Paid: 10*usd - price(t, outboundES, used), Bonus: 5 * usd})
	for _, s := range []*ledger.Session{talked, ringing} {
		c, err := history.New(f.DB).Call(f.Context(), acc, s.ID)
		f.OK(err)
		if *c.EndReason != "failed" || *c.EndDetail != "node_lost" {
			t.Errorf("ended %s, %s", *c.EndReason, *c.EndDetail)
		}
	}

	// The old process is still there and does not know.
	more := ledger.Checkpoint{Session: talked, Seq: 9, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: 60_000}}
	if _, err := f.Checkpoint(f.Context(), more); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its checkpoint: %v", err)
	}
	if err := f.Heartbeat(f.Context(), old); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its heartbeat: %v", err)
	}
	if err := f.LineMinute(f.Context(), talked, 2); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its line minute: %v", err)
	}
	late := f.Request(acc, web)
	late.Node = old
	if _, err := f.StartSession(f.Context(), late); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its start: %v", err)
	}
	f.MustCheckpoint(other, 1, used) // another node goes on
	f.OK(f.Heartbeat(f.Context(), young))
	f.Verified()
}

// TestLostCallsEndAtTheirLastCheckpoint: what is shown of a call whose process died ends
// there, however late its books were closed; where it never had one, as it began. What it
// cost counts when it was posted.
func TestLostCallsEndAtTheirLastCheckpoint(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	talked, ringing := f.Start(acc, outboundES), f.Start(acc, outboundES)
	used := billing.Usage{billing.AgentTime: 10_000, billing.LineTime: 10_000}
	died, found := t0.Add(10*time.Second), t0.Add(48*time.Hour)
	_, err := f.Checkpoint(f.At(died), ledger.Checkpoint{Session: talked, Seq: 1, StartedAt: t0, Usage: used})
	f.OK(err)
	_, lost, err := f.RegisterNode(f.At(found), f.Node.ID, "")
	f.OK(err)
	if len(lost) != 2 {
		t.Fatalf("lost %v", lost)
	}
	for id, want := range map[string]time.Time{talked.ID: died, ringing.ID: t0} {
		c, err := history.New(f.DB).Call(f.Context(), acc, id)
		f.OK(err)
		if c.EndedAt == nil || !c.EndedAt.Equal(want) {
			t.Errorf("the call ended at %v, want %v", c.EndedAt, want)
		}
		r, err := statement.ReadReceipt(f.Context(), f.DB, acc, id)
		f.OK(err)
		if r.EndedAt == nil || !r.EndedAt.Equal(want) {
			t.Errorf("its receipt says %v, want %v", r.EndedAt, want)
		}
	}
	var posted billing.Money
	f.OK(f.Statement(f.Context(), acc, func(s *store.Statement) error {
		groups, err := statement.Usage(f.Context(), s, statement.UsagePage{By: statement.ByCall, Range: store.Range{From: found.Add(-time.Hour)}, Limit: 10})
		for _, g := range groups {
			posted += g.Amount
		}
		return err
	}))
	if posted != price(t, outboundES, used) {
		t.Errorf("usage of that day is %v", posted)
	}
	f.Verified()
}

// Whoever has the wrong epoch is fenced although the session is still open, as it
// is between the birth of a younger process and the end of what the old one left.
func TestSessionsOfAnotherLifeAreFenced(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, outboundES)
	before := f.Show(acc).Pots
	other := *s
	other.Node.Epoch--
	used := billing.Usage{billing.AgentTime: 60_000, billing.LineTime: 60_000}
	if _, err := f.Checkpoint(f.Context(), ledger.Checkpoint{Session: &other, Seq: 1, StartedAt: t0, Usage: used}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its checkpoint: %v", err)
	}
	if err := f.LineMinute(f.Context(), &other, 2); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its line minute: %v", err)
	}
	if _, err := f.CloseSession(f.Context(), &other, ledger.Closing{Reason: "user_hangup", StartedAt: t0, Usage: used}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its close: %v", err)
	}
	f.Want(acc, before)
	f.MustCheckpoint(s, 1, used) // the owner goes on
	f.Verified()
}

// A start that overlaps the birth of a younger process is either refused or closed
// by it; none stays behind.
func TestStartsRaceWithANewLife(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	lives := 100_000
	f.OK(f.ChangeAccount(f.Context(), acc, ledger.AccountChange{Concurrency: &lives}))
	together(40, func(i int) {
		if i%8 == 0 {
			if _, _, err := f.RegisterNode(f.Context(), f.Node.ID, ""); err != nil {
				t.Error(err)
			}
			return
		}
		if _, err := f.StartSession(f.Context(), f.Request(acc, web)); err != nil && !errors.Is(err, store.ErrFenced) {
			t.Error(err)
		}
	})
	if _, _, err := f.RegisterNode(f.Context(), f.Node.ID, ""); err != nil {
		t.Error(err)
	}
	if n := f.Show(acc).Live; n != 0 {
		t.Errorf("%d sessions of lives that are over", n)
	}
	f.Verified()
}

func TestSilentNodesAreReaped(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	silent := f.Node
	talked := f.Start(acc, outboundES)
	used := billing.Usage{billing.AgentTime: 5000, billing.LineTime: 5000}
	f.MustCheckpoint(talked, 1, used)
	f.Node = f.Register("node-b")
	f.Start(acc, web)
	f.OK(f.Heartbeat(f.Context(), f.Node)) // setting up may take a busy machine as long as a lease
	ledgertest.Steady(t, f.DB, "node-b", store.NodeLease)

	ledgertest.Silence(t, f.DB, silent.ID, store.NodeLease/3)
	if n := f.Reaped(f.Node); n != 0 {
		t.Errorf("%d closed of a node that has been silent for less than its lease", n)
	}
	ledgertest.Silence(t, f.DB, silent.ID, store.NodeLease+time.Second)
	if n := f.Reaped(silent); n != 0 {
		t.Errorf("a node that is silent itself closed %d", n)
	}
	if n := f.Reaped(f.Node); n != 1 {
		t.Errorf("%d closed, want the one of the silent node", n)
	}
	if n := f.Reaped(f.Node); n != 0 {
		t.Errorf("%d closed again", n)
	}
	a := f.Show(acc)
	if a.Live != 1 {
		t.Errorf("%d live; want the one of the node that lives", a.Live)
	}
	f.Want(acc, billing.Pots{Paid: 10*usd - price(t, outboundES, used), Bonus: 5 * usd})

	// It was cut off only, and comes back: its end changes nothing, and is no error.
	if err := f.Heartbeat(f.Context(), silent); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the silent node comes back: %v", err)
	}
	more := billing.Usage{billing.AgentTime: 20_000, billing.LineTime: 20_000}
	if amount := f.CloseWith(talked, more); amount != price(t, outboundES, used) {
		t.Errorf("closed late for %v, want what was charged", amount)
	}
	f.Want(acc, billing.Pots{Paid: 10*usd - price(t, outboundES, used), Bonus: 5 * usd})
	f.Verified()
}

// After an outage of the database all nodes look as if they were dead. Nobody closes
// anything then before a lease has passed, in which those that live are heard.
func TestNobodyIsReapedAfterACommonOutage(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	dead, other := f.Node, f.Register("node-b")
	f.Start(acc, web)
	me := f.Register("node-c")
	f.Node = other
	f.Start(acc, web)
	ledgertest.Steady(t, f.DB, me.ID, time.Hour)
	for _, n := range []store.Node{dead, other, me} {
		ledgertest.Silence(t, f.DB, n.ID, time.Minute)
	}
	if n := f.Reaped(me); n != 0 {
		t.Errorf("%d closed before the own heartbeat", n)
	}
	f.OK(f.Heartbeat(f.Context(), me))
	if n := f.Reaped(me); n != 0 {
		t.Errorf("%d closed after the first heartbeat", n)
	}
	f.OK(f.Heartbeat(f.Context(), other)) // it was away only
	ledgertest.Steady(t, f.DB, me.ID, store.NodeLease)
	f.OK(f.Heartbeat(f.Context(), me)) // in time: it does not begin anew
	if n := f.Reaped(me); n != 1 {
		t.Errorf("%d closed a lease later, want those of the dead node", n)
	}
	if _, err := f.ReapNodes(f.Context(), store.Node{ID: me.ID, Epoch: me.Epoch - 1}, nil); err != nil {
		t.Error(err) // an earlier life may not, and is told by its heartbeats
	}
	f.Verified()
}

// One session that cannot be closed keeps neither a node from starting nor the others open.
func TestASessionWithoutAPrice(t *testing.T) {
	url := storetest.URL(t)
	f := prepare(t, storetest.Open(t, url))
	acc := f.NewAccount(10 * usd)
	broken, other := f.Start(acc, web), f.Start(acc, web)
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())
	spoil := func(version string) {
		t.Helper()
		_, err := conn.Exec(t.Context(), "update sessions set price_version = $2 where id = $1", broken.ID, version)
		f.OK(err)
	}
	_, err = conn.Exec(t.Context(), `insert into rate_cards select '2026-01-01.9', '{}', sha256, added_at from rate_cards`)
	f.OK(err)
	spoil("2026-01-01.9")
	young, lost, err := f.RegisterNode(f.Context(), f.Node.ID, "")
	f.OK(err)
	for _, l := range lost {
		if l.ID == broken.ID != (l.Err != nil) || l.ID != broken.ID && l.ID != other.ID {
			t.Errorf("lost %v", l)
		}
	}
	if len(lost) != 2 {
		t.Fatalf("lost %v", lost)
	}
	spoil(card.Version())
	lost, err = f.Orphans(f.Context(), young, t0.Add(time.Hour))
	f.OK(err)
	if len(lost) != 1 || lost[0].ID != broken.ID {
		t.Fatalf("left %v", lost)
	}
	lost, err = f.CloseLost(f.Context(), lost)
	f.OK(err)
	f.OK(lost[0].Err)
	if n := f.Show(acc).Live; n != 0 {
		t.Errorf("%d places are taken", n)
	}
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
	acc := f.NewAccount(10 * usd)
	conn, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer conn.Close(t.Context())

	// The new life first: a start that had not seen it is refused.
	tx, err := conn.Begin(t.Context())
	f.OK(err)
	_, err = tx.Exec(t.Context(), "update nodes set epoch = nextval('node_epochs')")
	f.OK(err)
	started := make(chan error, 1)
	go func() {
		_, err := f.StartSession(f.Context(), f.Request(acc, web))
		started <- err
	}()
	watch, err := pgx.Connect(t.Context(), url)
	f.OK(err)
	defer watch.Close(t.Context())
	waitForLocks(t, watch, 1)
	f.OK(tx.Commit(t.Context()))
	if err := <-started; !errors.Is(err, store.ErrFenced) {
		t.Errorf("a start during a new life: %v", err)
	}

	// The start first: the new life waits for its end and closes it. A lock on the
	// calls keeps the start from ending.
	f.Node = f.Register(f.Node.ID)
	tx, err = conn.Begin(t.Context())
	f.OK(err)
	_, err = tx.Exec(t.Context(), "lock table calls in access exclusive mode")
	f.OK(err)
	go func() {
		_, err := f.StartSession(f.Context(), f.Request(acc, web))
		started <- err
	}()
	waitForLocks(t, watch, 1)
	lost := make(chan []ledger.Lost, 1)
	go func() {
		_, n, err := f.RegisterNode(f.Context(), f.Node.ID, "")
		if err != nil {
			t.Error(err)
		}
		lost <- n
	}()
	waitForLocks(t, watch, 2)
	f.OK(tx.Commit(t.Context()))
	f.OK(<-started)
	if n := <-lost; len(n) != 1 {
		t.Errorf("the new life closed %v; want the session that had just started", n)
	}
	f.Verified()
}

// TestAskDrain: a node learns by its next heartbeat that it is asked to drain; its next life is not.
func TestAskDrain(t *testing.T) {
	f := setup(t)
	f.OK(f.Heartbeat(f.Context(), f.Node))
	if f.Drains() {
		t.Error("it drains before anybody asks")
	}
	f.OK(f.AskDrain(f.Context(), f.Node.ID))
	f.OK(f.Heartbeat(f.Context(), f.Node))
	if !f.Drains() {
		t.Error("it is not asked")
	}
	if err := f.AskDrain(f.Context(), "nobody"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a node that never was: %v", err)
	}
	f.Node = f.Register(f.Node.ID)
	f.OK(f.Heartbeat(f.Context(), f.Node))
	if f.Drains() {
		t.Error("its next life drains")
	}
	f.OK(f.LeaveNode(f.Context(), f.Node))
	if err := f.AskDrain(f.Context(), f.Node.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a node that has left: %v", err)
	}
}
