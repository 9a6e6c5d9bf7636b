package ledger_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
	"parley/store/ledger/ledgertest"
)

// TestFenceDead: a life of a node ends by proof, and only that one, by a node that lives itself. What is not taken over is closed.
func TestFenceDead(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	dead := f.Node
	kept, left := f.Start(acc, outboundES), f.Start(acc, outboundES)
	used := billing.Usage{billing.AgentTime: 5000, billing.LineTime: 5000}
	f.MustCheckpoint(left, 1, used)
	former := f.Register("node-b")
	me, gone := f.Register("node-b"), f.Register("node-c")
	f.OK(f.LeaveNode(f.Context(), gone))
	refused := func(what string, me, dead store.Node) {
		t.Helper()
		lost, err := f.FenceDead(f.Context(), me, dead, func(context.Context, []ledger.Lost) []ledger.Lost {
			t.Errorf("%s: sessions are taken over", what)
			return nil
		})
		if !errors.Is(err, store.ErrFenced) || len(lost) > 0 {
			t.Errorf("%s: %v, %v", what, lost, err)
		}
	}
	refused("an earlier life", me, store.Node{ID: dead.ID, Epoch: dead.Epoch - 1})
	refused("a later life", me, store.Node{ID: dead.ID, Epoch: dead.Epoch + 1})
	refused("one that has left", me, gone)
	refused("by itself", dead, dead)
	refused("by a life that is over", former, dead)
	ledgertest.Silence(t, f.DB, me.ID, store.NodeLease+time.Second)
	refused("by a node that is silent itself", me, dead)
	f.OK(f.Heartbeat(f.Context(), dead)) // nothing of it has changed

	f.OK(f.Heartbeat(f.Context(), me))
	lost, err := f.FenceDead(f.At(t0.Add(time.Minute)), me, dead, func(_ context.Context, lost []ledger.Lost) []ledger.Lost {
		for _, l := range lost {
			if l.Node != dead || l.Account != acc {
				t.Errorf("lost is %+v", l)
			}
		}
		f.adopted(kept, me)
		return slices.DeleteFunc(lost, func(l ledger.Lost) bool { return l.ID == kept.ID })
	})
	f.OK(err)
	if len(lost) != 1 || lost[0].ID != left.ID || lost[0].Err != nil {
		t.Errorf("closed are %+v", lost)
	}
	if owner, err := f.CallOwner(f.Context(), acc, kept.ID); err != nil || owner != me {
		t.Errorf("the call that was taken over is of %v, %v", owner, err)
	}
	if err := f.Heartbeat(f.Context(), dead); !errors.Is(err, store.ErrFenced) {
		t.Errorf("the dead node comes back: %v", err)
	}
	refused("once more", me, dead)
	nodes, err := f.Nodes(f.Context())
	f.OK(err)
	if i := slices.IndexFunc(nodes, func(n store.SeenNode) bool { return n.ID == dead.ID }); i < 0 || nodes[i].State != store.NodeSilent {
		t.Errorf("it is listed among %+v", nodes)
	}
	if held, err := f.NameHeld(f.Context(), dead.ID, time.Hour); held != "" || err != nil {
		t.Errorf("its name is held by %s, %v", held, err)
	}
	kept.Node = me
	cost := f.CloseWith(kept, billing.Usage{billing.AgentTime: 9000, billing.LineTime: 9000})
	f.Want(acc, billing.Pots{Paid: 10*usd - cost - price(t, outboundES, used), Bonus: 5 * usd})
	f.Verified()
}

// TestOthersLeaveAFencedNodeAlone while the one that has fenced it off takes over its sessions; what is open a lease later is theirs.
func TestOthersLeaveAFencedNodeAlone(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	dead := f.Node
	f.Start(acc, web)
	me, other := f.Register("node-b"), f.Register("node-c")
	for _, n := range []store.Node{me, other} {
		f.OK(f.Heartbeat(f.Context(), n))
		ledgertest.Steady(t, f.DB, n.ID, store.NodeLease)
	}
	ledgertest.Silence(t, f.DB, dead.ID, time.Minute)
	rescues := 0
	lost, err := f.ReapNodes(f.Context(), me, func(_ context.Context, lost []ledger.Lost) []ledger.Lost {
		if rescues++; len(lost) != 1 {
			t.Errorf("lost are %+v", lost)
		}
		if n := f.Reaped(other); n != 0 {
			t.Errorf("another node closes %d of them meanwhile", n)
		}
		return nil
	})
	f.OK(err)
	if len(lost) != 0 || rescues != 1 || f.Show(acc).Live != 1 {
		t.Errorf("closed are %+v after %d rescues; %d live", lost, rescues, f.Show(acc).Live)
	}
	_, err = f.Pool().Exec(f.Context(), "update nodes set fenced_at = now() - $2::interval where node_id = $1", dead.ID, store.NodeLease+time.Second)
	f.OK(err)
	if n := f.Reaped(other); n != 1 {
		t.Errorf("a lease later %d are closed", n)
	}
	f.Verified()
}

// TestCloseLostLeavesAdoptedSessions: a session is closed only while it is of the life that is said to have had it.
func TestCloseLostLeavesAdoptedSessions(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	kept, left, unknown := f.Start(acc, inboundES), f.Start(acc, inboundES), f.Start(acc, web)
	lost := []ledger.Lost{{Account: acc, ID: kept.ID, Node: f.Node}, {Account: acc, ID: left.ID, Node: f.Node}, {Account: acc, ID: unknown.ID}}
	other := f.Register("node-b")
	there, _ := f.adopted(kept, other)
	closed, err := f.CloseLost(f.Context(), lost)
	f.OK(err)
	if len(closed) != 2 || closed[0].ID != left.ID || closed[1].ID != unknown.ID || closed[0].Err != nil || closed[1].Err != nil {
		t.Errorf("closed are %+v", closed)
	}
	if owner, err := f.CallOwner(f.Context(), acc, kept.ID); err != nil || owner != other {
		t.Errorf("the adopted one is of %v, %v", owner, err)
	}
	f.CloseWith(there, billing.Usage{})
	f.Verified()
}
