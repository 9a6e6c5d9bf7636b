package ledger_test

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// adopted is a session that a node has adopted from another.
func (f *fixture) adopted(s *ledger.Session, by store.Node) (*ledger.Session, ledger.Progress) {
	f.T.Helper()
	there, err := f.OpenSession(f.Context(), s.Account, s.ID, by)
	f.OK(err)
	p, err := f.AdoptSession(f.Context(), there, s.Node)
	f.OK(err)
	return there, p
}

// TestAdoptSession: a session goes on with another node where its books are, at the prices that it began with. The former node
// stores nothing more of it.
func TestAdoptSession(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, outboundES)
	used := billing.Usage{billing.AgentTime: 70_000, billing.LineTime: 70_000}
	f.OK(f.LineMinute(f.Context(), s, 2))
	f.MustCheckpoint(s, 7, used)
	f.OK(f.PutRateCard(f.At(t0.Add(time.Minute)), cardWith(t, map[string]string{"version: 2026-01-15.1": "version: 2026-03-01.5"}))) // the other node never had the one before
	other := f.Register("node-b")

	there, p := f.adopted(s, other)
	if p != (ledger.Progress{Seq: 7, Permitted: 2}) || there.Terms != s.Terms || there.Card.Version() != s.Card.Version() || there.Tariff != s.Tariff || there.Key != s.Key {
		t.Errorf("adopted at %+v: %+v, want %+v", p, there, s)
	}
	late := ledger.Checkpoint{Session: s, Seq: 8, StartedAt: t0, Usage: billing.Usage{billing.AgentTime: 600_000, billing.LineTime: 600_000}}
	if _, err := f.Checkpoint(f.Context(), late); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a checkpoint of the former node: %v", err)
	}
	if err := f.LineMinute(f.Context(), s, 3); !errors.Is(err, store.ErrFenced) {
		t.Errorf("a line minute of the former node: %v", err)
	}
	if _, err := f.CloseSession(f.Context(), s, ledger.Closing{Reason: "failed"}); !errors.Is(err, store.ErrFenced) {
		t.Errorf("its end at the former node: %v", err)
	}
	if owner, err := f.CallOwner(f.Context(), acc, s.ID); err != nil || owner != other {
		t.Errorf("its owner is %v, %v", owner, err)
	}
	_, lost, err := f.RegisterNode(f.At(t0.Add(2*time.Minute)), f.Node.ID, "") // the former node begins anew
	if f.OK(err); len(lost) != 0 {
		t.Errorf("closed with the former node's life: %v", lost)
	}

	f.OK(f.LineMinute(f.Context(), there, 3))
	more := billing.Usage{billing.AgentTime: 130_000, billing.LineTime: 130_000}
	f.MustCheckpoint(there, p.Seq+1, more)
	if cost, want := f.CloseWith(there, more), price(t, outboundES, more); cost != want {
		t.Errorf("it cost %v, want %v", cost, want)
	}
	f.Want(acc, billing.Pots{Paid: 10*usd - price(t, outboundES, more), Bonus: 5 * usd})
	f.Verified()
}

// TestAdoptSessionOnce: of several nodes one has a session, and it can be given back.
func TestAdoptSessionOnce(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, inboundES)
	nodes := []store.Node{f.Register("node-b"), f.Register("node-c"), f.Register("node-d")}
	errs := make([]error, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			there := *s
			there.Node = n
			_, errs[i] = f.AdoptSession(f.Context(), &there, s.Node)
		})
	}
	all.Wait()
	has := slices.Index(errs, nil)
	for i, err := range errs {
		if i != has && !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: %v", nodes[i].ID, err)
		}
	}
	if has < 0 {
		t.Fatal("no node has it")
	}
	_, err := f.AdoptSession(f.Context(), s, nodes[has])
	f.OK(err)
	f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000})
	f.CloseWith(s, billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000})
	f.Verified()
}

// TestAdoptSessionRefused: a session that is over, of another account or of a node that has it no more is not adopted, and none by a
// node that has a younger process.
func TestAdoptSessionRefused(t *testing.T) {
	f := setup(t)
	acc, stranger := f.NewAccount(10*usd), f.NewAccount(10*usd)
	s, over := f.Start(acc, inboundES), f.Start(acc, inboundES)
	f.CloseWith(over, billing.Usage{})
	old := f.Register("node-b")
	young := f.Register("node-b")
	for name, try := range map[string]struct {
		s          *ledger.Session
		account    string
		from, node store.Node
	}{
		"over":                     {over, acc, f.Node, young},
		"another account's":        {s, stranger, f.Node, young},
		"of another life":          {s, acc, store.Node{ID: f.Node.ID, Epoch: f.Node.Epoch - 1}, young},
		"of another node":          {s, acc, young, young},
		"by a life that is over":   {s, acc, f.Node, old},
		"by a node that never was": {s, acc, f.Node, store.Node{ID: "node-z", Epoch: young.Epoch}},
	} {
		there := *try.s
		there.Account, there.Node = try.account, try.node
		if _, err := f.AdoptSession(f.Context(), &there, try.from); !errors.Is(err, store.ErrFenced) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.OpenSession(f.Context(), stranger, s.ID, young); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another account reads it: %v", err)
	}
	if _, err := f.OpenSession(f.Context(), acc, over.ID, young); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("one that is over is read: %v", err)
	}
	f.MustCheckpoint(s, 1, billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000})
	f.CloseWith(s, billing.Usage{billing.AgentTime: 1000, billing.LineTime: 1000})
	f.Verified()
}
