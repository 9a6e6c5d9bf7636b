package node

import (
	"sync"
	"testing"

	"parley/api/callcenter"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
	"parley/sip/simulated"
	"parley/store/history"
	"parley/store/ledger"
)

// TestPanicEndsItsOutboundCall over real SIP: wherever a call that is placed has a fault, it
// ends as failed/internal, in the history too, and gives back its line and what was held for
// it; the call beside it goes on.
func TestPanicEndsItsOutboundCall(t *testing.T) {
	d := newDesk(t)
	d.node.network.Record(func(simulated.Heard) {})
	reached := isolatetest.Watch(t)
	d.ended(d.dial("05", "continue", ""), isGreeting) // it rings
	seen := reached()
	for _, site := range isolatetest.Sites(t, "../../..") {
		if site.Package() != "cmd/parley/outbound" || !site.Ends && site.Name != "cmd/parley/outbound/outbound" {
			continue
		}
		if !seen[site.Name] {
			t.Errorf("the call does not reach %s", site.Name)
			continue
		}
		t.Run(site.Name, func(t *testing.T) {
			began := isolatetest.Watch(t)
			beside := d.dial("05", "continue", "")
			greeted, once, over := make(chan struct{}), sync.Once{}, make(chan error, 1)
			reason := ""
			go func() {
				over <- d.node.cluster.Follow(t.Context(), d.who.Account, beside, func(c callcenter.Change) error {
					reason = c.State.EndReason
					if isGreeting(c) || c.Kind == callcenter.Over {
						once.Do(func() { close(greeted) })
					}
					return nil
				})
			}()
			<-greeted
			eventually(t, "it has begun, and the fault waits for the next", func() bool { return began()[site.Name] })
			before := isolate.Panics()[site.Name]
			isolatetest.Inject(t, site.Name)
			id := d.dial("05", "continue", "")
			if end := d.ended(id, nil); end.EndReason != "failed" || end.EndDetail != "internal" {
				t.Errorf("it ended %s/%s", end.EndReason, end.EndDetail)
			}
			if n := isolate.Panics()[site.Name] - before; n != 1 {
				t.Errorf("%d panics are counted, want 1", n)
			}
			eventually(t, "the history has its end", func() bool {
				c, err := history.New(d.node.db).Call(t.Context(), d.who.Account, id)
				d.ok(err)
				return c.EndReason != nil && *c.EndReason == "failed" && *c.EndDetail == "internal"
			})
			eventually(t, "its slot is free", func() bool { return d.node.manager.Live() == 1 && d.account().Live == 1 })
			d.ok(d.node.cluster.Hangup(t.Context(), d.who.Account, beside))
			if err := <-over; err != nil || reason != "api_hangup" {
				t.Errorf("the call beside it ended %s (%v)", reason, err)
			}
			eventually(t, "nothing is held any more", func() bool { return d.account().Live == 0 && d.account().Pots.Held == 0 })
		})
	}
}

func isGreeting(c callcenter.Change) bool {
	return c.Kind == callcenter.LineAdded && c.Line.Role == "agent"
}

// account is the customer, as the store has it.
func (d *desk) account() *ledger.Account {
	d.Helper()
	a, err := ledger.New(d.node.db).Account(d.Context(), d.who.Account)
	d.ok(err)
	return a
}
