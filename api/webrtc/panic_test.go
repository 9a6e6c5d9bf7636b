package webrtc_test

import (
	"context"
	"sync/atomic"
	"testing"

	"parley/api/talk"
	"parley/api/webrtc"
	"parley/media"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsSession: the client is disconnected, and the conversation has failed before
// it began, or is over like any that has said goodbye; the session beside it goes on.
func TestPanicEndsItsSession(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		var begun atomic.Int32
		s := newServer(t, &agents{converse: func(ctx context.Context, _ talk.Change, leg talk.Leg) {
			ctx, cancel := context.WithCancelCause(ctx)
			defer cancel(nil)
			if begun.Add(1) == 2 {
				cancel(ended(media.AgentHangup))
			}
			leg.Status("prompt_set", 0)
			_ = leg.Run(ctx)
		}}, webrtc.Options{})
		other := newCaller(t)
		other.begin(s, goodKey, "?agent_id=ag_1", other.offer(nil))
		s.told("admit acc_1 ag_1")
		s.told("converse ")
		other.wantSaid("prompt_set")

		fired := isolatetest.Inject(t, site.Name)
		c := newCaller(t)
		c.begin(s, goodKey, "?agent_id=ag_1", c.offer(nil))
		s.told("admit acc_1 ag_1")
		if site.Ends {
			s.told("fail")
		} else {
			s.told("converse ")
			s.told("over")
		}
		wait(t, "the fault", fired)
		if !site.Ends { // a client whose connection never stood finds out by itself, after 30 s
			wait(t, "the end", c.gone)
		}

		other.say(`{"type":"text","data":"still here"}`)
		s.told("type still here")
	})
}
