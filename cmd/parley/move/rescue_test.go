package move

import (
	"context"
	"strings"
	"testing"

	"parley/media/isolate/isolatetest"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// keeping has a host store what other nodes need of its calls.
func (h *host) keeping() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = h.Keep(ctx) }()
	h.Cleanup(func() { stop(); <-done })
}

// keeps has a host store that, and waits until others could take its call over, which it returns.
func (h *host) keeps(account string) ledger.Lost {
	h.Helper()
	h.keeping()
	var lost ledger.Lost
	h.eventually("other nodes could take the call over", func() bool {
		for _, c := range h.cfg.Maker.Movable() {
			lost = ledger.Lost{Account: account, ID: c.Session.ID(), Node: h.cfg.Life}
		}
		has, err := h.cfg.Passports.Has(h.Context(), []string{lost.ID})
		h.ok(err)
		return has[lost.ID]
	})
	return lost
}

// dies fences a host off, as others do with a node that they take for dead.
func (h *host) dies() {
	h.Helper()
	h.ok(h.db.Must(h.Context(), "fence", "update nodes set "+store.NewEpoch+" where node_id = $1", h.cfg.Life.ID))
}

// said is what the agent has said in a call.
func (h *host) said(account, id string) (all string) {
	h.Helper()
	c, err := history.New(h.db).Call(h.Context(), account, id)
	h.ok(err)
	for _, l := range c.Transcript {
		if l.Role == "agent" {
			all += l.Text + "\n"
		}
	}
	return all
}

// TestRescue: the call of a node that is taken for dead goes on at another, which says so to the caller. The former node, which lives after
// all, leaves it without a word, and there is one bill.
func TestRescue(t *testing.T) {
	one, two, account := pair(t)
	c := one.call(nil, one, two)
	lost := one.keeps(account)
	two.keeping()
	one.eventually("the greeting is heard", func() bool { return strings.Contains(one.said(account, lost.ID), "Hello.") })
	one.dies()
	if left := two.Rescue(t.Context(), []ledger.Lost{lost}); len(left) != 0 || two.manager.Live() != 1 {
		t.Fatalf("left are %v; %d calls go on at the other node", left, two.manager.Live())
	}
	one.eventually("the former node has left the call", func() bool { return one.manager.Live() == 0 })
	two.eventually("the agent is back", func() bool { return strings.Contains(two.said(account, lost.ID), "lost you") })
	c.hangUp(two, account)
	if said := two.said(account, lost.ID); strings.Count(said, "Hello.") != 1 {
		t.Errorf("the agent said %q", said)
	}
	two.eventually("nothing is left of it", func() bool {
		has, err := two.cfg.Passports.Has(t.Context(), []string{lost.ID})
		two.ok(err)
		return !has[lost.ID]
	})
}

// TestRescueTwice: a call whose nodes die is taken over twice in a row, and then left to its end.
func TestRescueTwice(t *testing.T) {
	one, two, account := pair(t)
	one.call(nil, one, two)
	lost := one.keeps(account)
	for range 2 {
		_, err := one.cfg.Passports.Take(t.Context(), account, lost.ID)
		one.ok(err)
	}
	one.dies()
	if left := two.Rescue(t.Context(), []ledger.Lost{lost}); len(left) != 1 || two.manager.Live() != 0 {
		t.Errorf("left are %v; %d calls are at the other node", left, two.manager.Live())
	}
}

// TestRescueOfACallerWhoHasGone: the far end does not know the call any more. It ends in the books, and once.
func TestRescueOfACallerWhoHasGone(t *testing.T) {
	one, two, account := pair(t)
	c := one.call(two, one) // to which the other node is somebody else
	lost := one.keeps(account)
	one.dies()
	if left := two.Rescue(t.Context(), []ledger.Lost{lost}); len(left) != 0 {
		t.Errorf("left are %v", left)
	}
	two.eventually("it is over", func() bool {
		owner, err := two.cfg.Ledger.CallOwner(t.Context(), account, lost.ID)
		two.ok(err)
		return owner == store.Node{}
	})
	if two.manager.Live() != 0 {
		t.Errorf("%d calls go on", two.manager.Live())
	}
	one.eventually("the former node ends it", func() bool { return one.manager.Live() == 0 })
	<-c.over
}

// TestNobodyIsLeft: where no node takes the calls of a dead one they are returned, to be closed.
func TestNobodyIsLeft(t *testing.T) {
	one, two, account := pair(t)
	one.call(nil, one, two)
	lost := one.keeps(account)
	one.dies()
	two.manager.Refuse(func() bool { return true })
	if left := two.Rescue(t.Context(), []ledger.Lost{lost, {Account: account, ID: "ses_none", Node: one.cfg.Life}}); len(left) != 2 {
		t.Errorf("left are %v", left)
	}
	_, err := two.cfg.Ledger.CloseLost(t.Context(), []ledger.Lost{lost})
	two.ok(err)
	one.eventually("the former node hangs up", func() bool { return one.manager.Live() == 0 })
}

// panicOfARescue: a call that was not taken over by a fault is, when it is tried again.
func panicOfARescue(t *testing.T, one, two *host, account string, site isolatetest.Site) {
	t.Helper()
	lost := one.keeps(account)
	fired := isolatetest.Inject(t, site.Name)
	one.dies()
	if left := two.Rescue(t.Context(), []ledger.Lost{lost}); len(left) != 1 {
		t.Fatalf("left are %v", left)
	}
	<-fired
	if left := two.Rescue(t.Context(), []ledger.Lost{lost}); len(left) != 0 {
		t.Fatalf("left are then %v", left)
	}
}
