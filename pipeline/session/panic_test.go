package session_test

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/media"
	"parley/media/isolate/isolatetest"
	"parley/pipeline/event"
	"parley/pipeline/session/sessiontest"
	"parley/store"
)

// TestPanicEndsNoCall: what serves all calls of a node may panic without an effect on any of
// them. The next round does what is due.
func TestPanicEndsNoCall(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		synctest.Test(t, func(t *testing.T) {
			if site.Name == "pipeline/session/holder" {
				panicOfOneTakenForDead(t, site)
				return
			}
			o := (&sessiontest.FakeLedger{}).Open(t, 0)
			s := o.Call(web, until(20*time.Second))
			isolatetest.Inject(t, site.Name)
			time.Sleep(time.Second) // how the call began is stored
			s.Observe(event.Event{Kind: event.ToolBegun, Call: inference.ToolCall{ID: "call_1_1"}})
			o.Wait()
			o.WantEnd(s, "20s user_hangup")
			if c := o.Ledger.Closings; len(c) != 1 || c[0].Reason != string(media.UserHangup) || c[0].Usage[billing.AgentTime] != 20000 {
				t.Errorf("closed as %+v", c)
			}
		})
	})
}

// panicOfOneTakenForDead: a node that cannot find out who has a call of it ends it.
func panicOfOneTakenForDead(t *testing.T, site isolatetest.Site) {
	o := (&sessiontest.FakeLedger{Beat: func(at time.Duration) error {
		if at > 5*time.Second {
			return store.ErrFenced
		}
		return nil
	}}).Open(t, 0)
	s := o.Call(web, until(20*time.Second))
	s.Rescuable(func() { t.Error("it has left") })
	isolatetest.Inject(t, site.Name)
	o.Wait()
	o.WantEnd(s, "6s failed: node_lost")
}
