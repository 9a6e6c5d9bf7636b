package trunks_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"parley/store"
	"parley/store/trunks"
)

// registrars are nodes of one database.
type registrars struct {
	*fixture
	nodes []store.Node
}

func newRegistrars(t *testing.T) *registrars {
	t.Helper()
	f := &registrars{fixture: setup(t)}
	for _, name := range []string{"a", "b"} {
		f.born(name)
	}
	return f
}

// born begins a life of a node.
func (f *registrars) born(name string) store.Node {
	f.t.Helper()
	n, err := f.db.BeginEpoch(f.t.Context(), name, "127.0.0.1:1")
	f.ok(err)
	f.nodes = append(f.nodes, n)
	return n
}

// set changes what the database knows of a node.
func (f *registrars) set(n store.Node, what string) {
	f.t.Helper()
	_, err := f.db.Pool().Exec(f.t.Context(), "update nodes set "+what+" where node_id = $1", n.ID)
	f.ok(err)
}

// holders asks for a node who registers some trunks, and returns that as "trunk node contact former".
func (f *registrars) holders(me store.Node, names ...string) string {
	f.t.Helper()
	all, _, err := f.Registrars(f.t.Context(), me, names)
	f.ok(err)
	var text []string
	for _, r := range all {
		text = append(text, strings.TrimSpace(fmt.Sprint(r.Trunk, " ", r.ID, " ", r.Contact, r.Former)))
	}
	return strings.Join(text, ", ")
}

func (f *registrars) want(got, want string) {
	f.t.Helper()
	if got != want {
		f.t.Errorf("registrars are %q; want %q", got, want)
	}
}

// TestRegistrars: the first node that asks has a trunk until its lease is over; what it reports others read, and who comes next
// learns what stands at the carrier.
func TestRegistrars(t *testing.T) {
	f := newRegistrars(t)
	a, b := f.nodes[0], f.nodes[1]
	f.want(f.holders(a, "one", "two"), "one a, two a")
	f.want(f.holders(b, "one", "three"), "one a, three b")
	until := f.db.Now().Add(time.Minute)
	f.ok(f.Report(t.Context(), a, map[string]trunks.Standing{"one": {Until: &until, Contact: "sip:a"}, "two": {Error: "403"}, "three": {Contact: "sip:a"}}))
	f.want(f.holders(b, "one", "three"), "one a sip:a, three b")
	all, lease, err := f.Registrars(t.Context(), b, []string{"one", "two"})
	f.ok(err)
	if len(all) != 2 || !all[0].Until.Equal(until) || all[1].Error != "403" || lease <= 0 || lease > store.NodeLease {
		t.Errorf("for %s: %+v", lease, all)
	}
	f.want(f.holders(a, "one"), "one a sip:a") // what a no longer has is nobody's
	f.want(f.holders(b, "two"), "two b")
	f.want(f.holders(b), "")
	f.want(f.holders(a, "one", "two"), "one a sip:a, two a")
	f.want(f.holders(a, "one"), "one a sip:a")
	f.want(f.holders(b, "two"), "two b")

	f.set(a, "heartbeat_at = now() - interval '14 s'")
	f.want(f.holders(b, "one", "two"), "one a sip:a, two b")
	f.set(a, "heartbeat_at = now() - interval '16 s'")
	f.want(f.holders(b, "one", "two"), "one a sip:a, two b") // b itself has not been there for long
	f.set(b, "steady_since = now() - interval '7 s'")
	f.want(f.holders(b, "one", "two"), "one b sip:a, two b")
	f.want(f.holders(a, "one", "two"), "one b sip:a, two b")
	f.ok(f.Report(t.Context(), a, map[string]trunks.Standing{"one": {Contact: "sip:z"}})) // it is not a's any more
	f.set(b, "heartbeat_at = now() - interval '16 s'")
	f.set(a, "heartbeat_at = now(), steady_since = now() - interval '7 s'")
	f.want(f.holders(a, "one"), "one a sip:a") // b did not get to register
	if _, _, err := f.Registrars(t.Context(), store.Node{ID: "a", Epoch: a.Epoch - 1}, []string{"one"}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("an earlier life is told %v", err)
	}
}

// TestRegistrarDrains: others take at once what a node has that drains; it keeps what nobody takes, and takes nothing.
func TestRegistrarDrains(t *testing.T) {
	f := newRegistrars(t)
	a, b := f.nodes[0], f.nodes[1]
	f.want(f.holders(a, "one", "two"), "one a, two a")
	others, err := f.db.DrainNode(t.Context(), a)
	if f.ok(err); !others {
		t.Error("it is told that there is no other")
	}
	f.want(f.holders(a, "one", "two", "three"), "one a, two a")
	f.want(f.holders(b, "one"), "one b")
	f.want(f.holders(a, "one", "two", "three"), "one b, two a")
	if others, err := f.db.DrainNode(t.Context(), b); err != nil || others {
		t.Errorf("the last one is told %v, %v", others, err)
	}
	f.want(f.holders(f.born("a"), "two", "three"), "three a, two a")
}

// TestRegistrarReborn: the next life of a node has its trunks at once.
func TestRegistrarReborn(t *testing.T) {
	f := newRegistrars(t)
	f.want(f.holders(f.nodes[0], "one"), "one a")
	f.ok(f.Report(t.Context(), f.nodes[0], map[string]trunks.Standing{"one": {Contact: "sip:a"}}))
	f.want(f.holders(f.born("a"), "one"), "one a sip:a")
}
