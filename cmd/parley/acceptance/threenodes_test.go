package acceptance

import (
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestThreeNodes: of three servers on one database one registers with the carrier, and calls come to it. When it is killed another
// does; when that one drains the third does, while its call goes on. Operators see what has become of each.
func TestThreeNodes(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3)
	first := r.registered()
	t.Run("one registers", func(t *testing.T) {
		for _, s := range r.nodes { // all have looked by then
			eventually(t, "each shows the registration", func() bool { return s.metric(t, `parley_trunk_registered{trunk="carrier"}`) == 1 })
		}
		if n := r.carrier.everybody(); n != 1 {
			t.Errorf("%d nodes have registered", n)
		}
		for _, n := range r.seen(first) {
			if n.State != "serving" {
				t.Errorf("it is listed as %+v", n)
			}
		}
	})
	first.kill()
	second := r.registered(first)
	who := newCustomer(t, second, "20")
	t.Run("a dead one is silent", func(t *testing.T) {
		n := r.await(second, first, "silent", 0)
		if n.SilentSince == nil {
			t.Fatalf("it is listed as %+v", n)
		}
		t.Logf("silent for %s when another was registered", time.Since(*n.SilentSince).Round(time.Second))
	})
	talking, err := dialAt(t, second.addrs["sip"], newPhoneAt(t, carrierHost), who.number, "+34600000001")
	if err != nil {
		t.Fatal(err)
	}
	talking.awaitVoice("the first message", 0, 300*time.Millisecond)
	t.Run("one that drains is followed", func(t *testing.T) {
		second.signal(t, syscall.SIGTERM)
		third := r.registered(first, second)
		r.await(third, second, "draining", 1)
		mark := talking.mark()
		eventually(t, "its call goes on", func() bool { return talking.mark() > mark })
		talking.hangUp()
		if code := second.end(t); code != 0 {
			t.Errorf("it ends with %d:\n%s", code, second.tail(40))
		}
		if all := r.seen(third); slices.ContainsFunc(all, func(n seenNode) bool { return n.Address == second.addrs["http"] }) {
			t.Errorf("one that ended in good order is listed: %+v", all)
		}
		if r.registered() != third {
			t.Error("its successor is registered no more")
		}
	})
}
