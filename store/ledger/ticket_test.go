package ledger_test

import (
	"errors"
	"sync/atomic"
	"testing"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// byTicket asks for a conversation on node n with a ticket for limit of them.
func (f *fixture) byTicket(account string, n store.Node, ticket string, limit int) (*ledger.Session, error) {
	r := f.Request(account, web)
	r.Node, r.Ticket, r.TicketLimit = n, ticket, limit
	return f.StartSession(f.Context(), r)
}

// A ticket starts exactly as many conversations as it may, whichever nodes are
// asked, and none when one of them ends.
func TestTicketsAreCountedExactly(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(10*usd), f.NewAccount(10*usd)
	nodes := []store.Node{f.Node, f.Register("node-b")}
	sessions := make(chan *ledger.Session, 60)
	var refused atomic.Int32
	together(60, func(i int) {
		switch s, err := f.byTicket(acc, nodes[i%2], "tkt_1", 3); {
		case err == nil:
			sessions <- s
		case errors.Is(err, store.ErrTicketUsed):
			refused.Add(1)
		default:
			t.Error(err)
		}
	})
	close(sessions)
	if len(sessions) != 3 || refused.Load() != 57 || f.Show(acc).Live != 3 {
		t.Errorf("%d started, %d refused, %d live; want 3, 57, 3", len(sessions), refused.Load(), f.Show(acc).Live)
	}
	for s := range sessions {
		f.CloseWith(s, billing.Usage{billing.AgentTime: 1000})
	}
	if _, err := f.byTicket(acc, nodes[1], "tkt_1", 3); !errors.Is(err, store.ErrTicketUsed) {
		t.Errorf("after they have ended: %v", err)
	}
	for _, free := range []struct{ account, ticket string }{{acc, "tkt_2"}, {other, "tkt_1"}} {
		if _, err := f.byTicket(free.account, f.Node, free.ticket, 1); err != nil {
			t.Errorf("%s of %s: %v", free.ticket, free.account, err)
		}
	}
	f.Verified()
}

// What was given up before its clock began costs a ticket nothing; what is not
// over yet does.
func TestGivenUpConversationsAreGivenBack(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	for range 5 {
		s, err := f.byTicket(acc, f.Node, "tkt_1", 1)
		f.OK(err)
		if _, err := f.byTicket(acc, f.Node, "tkt_1", 1); !errors.Is(err, store.ErrTicketUsed) {
			t.Errorf("beside one that may begin: %v", err)
		}
		_, err = f.CloseSession(f.Context(), s, ledger.Closing{Reason: "user_hangup"})
		f.OK(err)
	}
	s, err := f.byTicket(acc, f.Node, "tkt_1", 1)
	f.OK(err)
	_, err = f.CloseSession(f.Context(), s, ledger.Closing{Reason: "user_hangup", StartedAt: t0})
	f.OK(err)
	if _, err := f.byTicket(acc, f.Node, "tkt_1", 1); !errors.Is(err, store.ErrTicketUsed) {
		t.Errorf("after one that began: %v", err)
	}
	f.Verified()
}

// A used ticket is the caller's fault and is told before what the account owes.
func TestTicketsAreCheckedFirst(t *testing.T) {
	f := setup(t)
	acc := f.NewAccount(10 * usd)
	_, err := f.byTicket(acc, f.Node, "tkt_1", 1)
	f.OK(err)
	f.OK(f.OpenDispute(f.Context(), acc, "dp_1"))
	if _, err := f.byTicket(acc, f.Node, "tkt_1", 1); !errors.Is(err, store.ErrTicketUsed) {
		t.Errorf("used and disputed: %v", err)
	}
	if _, err := f.byTicket(acc, f.Node, "tkt_2", 1); !errors.Is(err, store.ErrDisputed) {
		t.Errorf("disputed: %v", err)
	}
}
