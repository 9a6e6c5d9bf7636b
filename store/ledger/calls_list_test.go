package ledger_test

import (
	"fmt"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// TestCallsAreFound: by each thing that a list may be asked for, alone and with pages.
func TestCallsAreFound(t *testing.T) {
	f := setup(t)
	mine, theirs := f.NewAccount(50*usd), f.NewAccount(50*usd)
	lola, ana := f.NewAgent(mine).ID, f.NewAgent(mine).ID
	names := map[string]string{} // identifier to what the test calls it
	begin := func(name, account, agent string, terms billing.Terms, from, to string, at time.Time) *ledger.Session {
		t.Helper()
		r := f.Request(account, terms)
		r.Agent, r.From, r.To = agent, from, to
		s, err := f.StartSession(f.At(at), r)
		f.OK(err)
		names[s.ID] = name
		return s
	}
	end := func(s *ledger.Session, reason string) {
		_, err := f.CloseSession(f.At(t0.Add(time.Hour)), s, ledger.Closing{Reason: reason})
		f.OK(err)
	}
	const us, maria, jose = "+34911234567", "+34612345678", "+34612345679"
	end(begin("a", mine, lola, inboundES, maria, us, t0), "user_hangup")
	end(begin("b", mine, ana, outboundES, us, maria, t0.Add(time.Second)), "no_answer")
	end(begin("c", mine, lola, outboundES, us, jose, t0.Add(2*time.Second+300*time.Microsecond)), "user_hangup")
	begin("d", mine, "", web, "", "", t0.Add(3*time.Second))
	begin("e", mine, ana, inboundES, "0034612345678", us, t0.Add(4*time.Second))
	begin("x", theirs, "", inboundES, maria, us, t0.Add(4*time.Second))

	between := func(from, to time.Duration) store.Range {
		r := store.Range{From: t0.Add(from)}
		if to > 0 {
			r.To = t0.Add(to)
		}
		return r
	}
	for i, c := range []struct {
		p    history.CallPage
		want string
	}{
		{history.CallPage{}, "edcba"},
		{history.CallPage{Direction: billing.Outbound}, "cb"},
		{history.CallPage{Direction: billing.Web}, "d"},
		{history.CallPage{Agent: lola}, "ca"},
		{history.CallPage{Agent: "ag_nobody"}, ""},
		{history.CallPage{Number: maria}, "eba"},
		{history.CallPage{Number: us}, "ecba"},
		{history.CallPage{EndReason: "user_hangup"}, "ca"},
		{history.CallPage{State: history.LiveCalls}, "ed"},
		{history.CallPage{State: history.EndedCalls}, "cba"},
		{history.CallPage{Range: between(time.Second, 0)}, "edcb"},
		{history.CallPage{Range: between(0, 2*time.Second)}, "ba"},
		{history.CallPage{Range: between(2*time.Second, 3*time.Second)}, "c"},
		{history.CallPage{Range: between(2*time.Second+300*time.Microsecond, 2*time.Second+301*time.Microsecond)}, "c"},
		{history.CallPage{Range: between(2*time.Second+301*time.Microsecond, 3*time.Second)}, ""},
		{history.CallPage{Range: between(2*time.Second, 2*time.Second+300*time.Microsecond)}, ""},
		{history.CallPage{Range: store.Range{From: time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}}, "edcba"},
		{history.CallPage{Number: maria, Direction: billing.Inbound, State: history.LiveCalls, Agent: ana, Range: between(time.Second, time.Minute)}, "e"},
		{history.CallPage{Number: maria, EndReason: "busy"}, ""},
	} {
		for _, limit := range []int{0, 1} {
			got := ""
			for p := c.p; ; {
				p.Limit = limit
				part, err := history.New(f.DB).Calls(f.Context(), mine, p)
				f.OK(err)
				for _, call := range part {
					got += names[call.ID]
					p.After = call.ID
				}
				if limit == 0 || len(part) < limit {
					break
				}
			}
			if got != c.want {
				t.Errorf("case %d, limit %d: %q; want %q: %s", i, limit, got, c.want, fmt.Sprintf("%+v", c.p))
			}
		}
	}
}
