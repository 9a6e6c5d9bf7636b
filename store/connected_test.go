package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"parley/store"
	"parley/store/storetest"
)

// TestNodeConnected: a node sees whether the process of another has connections to the database, unless an operator has named them.
func TestNodeConnected(t *testing.T) {
	url := storetest.URL(t)
	db, other, named := storetest.Open(t, url), storetest.Open(t, url), storetest.Open(t, url+"&application_name=voice")
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	begin := func(db *store.DB, name string) store.Node {
		t.Helper()
		n, err := db.BeginEpoch(t.Context(), name, "")
		ok(err)
		return n
	}
	connected := func(n store.Node) bool {
		t.Helper()
		yes, err := db.NodeConnected(t.Context(), n)
		ok(err)
		return yes
	}
	me, it, ops := begin(db, "me"), begin(other, "it"), begin(named, "ops")
	for n, want := range map[store.Node]bool{me: true, it: true, ops: false} {
		if got := connected(n); got != want {
			t.Errorf("%s is connected: %t", n.ID, got)
		}
	}
	other.Close()
	for end := time.Now().Add(time.Minute); connected(it); time.Sleep(time.Millisecond) { // the server takes a moment
		if time.Now().After(end) {
			t.Fatal("it is still connected")
		}
	}
	if !connected(me) {
		t.Error("the connections of all are counted")
	}
	over := func(what string, n store.Node) {
		t.Helper()
		if _, err := db.NodeConnected(t.Context(), n); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	over("an earlier life", store.Node{ID: me.ID, Epoch: me.Epoch - 1})
	ok(db.LeaveNode(t.Context(), it))
	over("one that has left", it)
	_, err := db.Pool().Exec(t.Context(), "update nodes set heartbeat_at = now() - interval '1 hour' where node_id = 'ops'")
	ok(err)
	over("one that is silent", ops)
}

// TestOtherNodesAreKnownByTheirAddress: a heartbeat sees when a node is reached elsewhere.
func TestOtherNodesAreKnownByTheirAddress(t *testing.T) {
	db := storetest.New(t)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	me, err := db.BeginEpoch(t.Context(), "me", "")
	ok(err)
	it, err := db.BeginEpoch(t.Context(), "it", "")
	ok(err)
	hinted := 0
	db.Hints().On(store.HintNodes, func() { hinted++ })
	ok(db.Heartbeat(t.Context(), me))
	before, _ := db.OtherNodes()
	ok(db.IntroduceNode(t.Context(), it, "127.0.0.1:8080", "1"))
	ok(db.Heartbeat(t.Context(), me))
	after, known := db.OtherNodes()
	if !known || after == before || hinted != 2 {
		t.Errorf("%q, then %q; %d hints", before, after, hinted)
	}
	ok(db.Heartbeat(t.Context(), me))
	if again, _ := db.OtherNodes(); again != after || hinted != 2 {
		t.Errorf("%q, then %q; %d hints", after, again, hinted)
	}
}

// TestNodeConnectedThroughAPooler: PgBouncer in session mode passes the name of connections on for as long as their client has them.
func TestNodeConnectedThroughAPooler(t *testing.T) {
	url := storetest.URL(t)
	db, other := storetest.Open(t, url), storetest.Open(t, storetest.Pooled(t, url, "session", 20))
	it, err := other.BeginEpoch(t.Context(), "it", "")
	if err != nil {
		t.Fatal(err)
	}
	if yes, err := db.NodeConnected(t.Context(), it); err != nil || !yes {
		t.Errorf("it is connected: %t, %v", yes, err)
	}
	other.Close()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		yes, err := db.NodeConnected(t.Context(), it)
		if err != nil {
			t.Fatal(err)
		}
		if !yes {
			return
		}
		if time.Now().After(end) {
			t.Fatal("it is still connected")
		}
	}
}

// TestADeadProcessHoldsNoName: a process that has no connections is not waited for; one that beats has its name.
func TestADeadProcessHoldsNoName(t *testing.T) {
	url := storetest.URL(t)
	db, dead, alive := storetest.Open(t, url), storetest.Open(t, url), storetest.Open(t, url)
	if _, err := dead.BeginEpoch(t.Context(), "dead", "127.0.0.1:1"); err != nil {
		t.Fatal(err)
	}
	n, err := alive.BeginEpoch(t.Context(), "alive", "127.0.0.1:2")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	if held, err := db.NameHeld(t.Context(), "dead", time.Hour); err != nil || held != "" {
		t.Errorf("the name of a dead process is held at %q, %v", held, err)
	}
	over, beats := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-over:
				beats <- nil
				return
			case <-time.After(10 * time.Millisecond):
				if err := alive.Heartbeat(context.Background(), n); err != nil {
					beats <- err
					return
				}
			}
		}
	}()
	if held, err := db.NameHeld(t.Context(), "alive", time.Hour); err != nil || held != "127.0.0.1:2" {
		t.Errorf("the name of a live process is held at %q, %v", held, err)
	}
	close(over)
	if err := <-beats; err != nil {
		t.Error(err)
	}
}
