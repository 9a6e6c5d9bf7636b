package sip_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/trunk"
)

// two are trunks with a server each, that carry the same calls.
func two(t *testing.T, probed bool) (first, second *callee, ua *sip.UserAgent) {
	t.Helper()
	first, second = newCallee(t), newCallee(t)
	flags := trunk.NoProbe
	if probed {
		flags = 0
	}
	return first, second, serve(t, sip.Config{T1: quick, Probe: 10 * time.Second, Trunks: []trunk.Config{
		{Name: "first", Targets: []trunk.Target{first.target()}, Flags: flags},
		{Name: "second", Targets: []trunk.Target{second.target()}, Flags: trunk.NoProbe},
	}})
}

// A trunk whose only server is silent costs a call seconds, not its whole patience.
func TestNextTrunkAfterSilence(t *testing.T) {
	silent, live, ua := two(t, false)
	result := dial(t, ua, t.Context(), sip.Target{Number: number})
	silent.expect("INVITE")
	live.take(t, result)
	silent.answer("INVITE", 503, "x", "") // so that nothing waits for it
}

// While another trunk answers, calls do not begin where none does.
func TestTrunksThatAnswerComeFirst(t *testing.T) {
	t.Parallel()
	silent, live, ua := two(t, true)
	down := func() bool { list := ua.Trunks()[0].Targets; return len(list) == 1 && !list[0].Up }
	eventually(t, "the first is down", down)
	live.take(t, dial(t, ua, t.Context(), sip.Target{Number: number}))
	silent.untouched(t)
	eventually(t, "the call has given its place back", func() bool { return ua.Trunks()[1].Calls == 0 })
	if place, _ := ua.Reserve(trunk.Caller{Number: number}); place == nil || ua.Trunks()[1].Calls != 1 {
		t.Errorf("the place is elsewhere: %+v", ua.Trunks())
	} else {
		place.Free()
	}
}

// A carrier that has said nothing at all when the time to ring is over cannot be
// reached; nobody was called who could have answered.
func TestRingTimeout(t *testing.T) {
	for name, tt := range map[string]struct {
		says  int
		ended media.Ended
	}{
		"nothing": {0, media.Ended{Reason: media.Failed, Detail: "carrier_unavailable"}},
		"100":     {100, media.Ended{Reason: media.NoAnswer}},
		"180":     {180, media.Ended{Reason: media.NoAnswer}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCallee(t)
			ua := serve(t, sip.Config{T1: quick, Trunks: []trunk.Config{{Name: "carrier", Targets: []trunk.Target{c.target()}, Flags: trunk.NoProbe}}})
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			result := dial(t, ua, ctx, sip.Target{Number: number})
			c.expect("INVITE")
			if tt.says > 0 {
				c.answer("INVITE", tt.says, "x", "")
				c.expect("CANCEL")
				c.answer("CANCEL", 200, "x", "")
				c.answer("INVITE", 487, "x", "")
			}
			d := wait(t, result, "end")
			if tt.says == 0 {
				c.answer("INVITE", 487, "x", "") // which the user agent waits for
			}
			var e *sip.NotAnswered
			if !errors.As(d.err, &e) || *e.Ended() != tt.ended {
				t.Errorf("ended %v", d.err)
			}
		})
	}
}

// An answer that crosses our CANCEL is confirmed and ended; whoever gave up learns of it,
// because the carrier charges for it.
func TestAnswerCrossesCancel(t *testing.T) {
	ua, c := serve(t, sip.Config{}), newCallee(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	rings := make(chan int, 1)
	result := dial(t, ua, ctx, sip.Target{URI: c.uri(), Ringing: func(code int) { rings <- code }})
	c.expect("INVITE")
	c.answer("INVITE", 180, "one", "")
	wait(t, rings, "ringing")
	cancel(context.DeadlineExceeded)
	c.expect("CANCEL")
	c.answer("INVITE", 200, "one", calleeSDP)
	c.answer("CANCEL", 200, "one", "")
	c.expect("ACK")
	bye := c.expect("BYE")
	c.answer("BYE", 200, "", "")
	if h := bye.GetHeader("Reason"); h == nil || !strings.HasPrefix(h.Value(), "Q.850;cause=16") {
		t.Errorf("BYE\n%s", bye)
	}
	var e *sip.NotAnswered
	want := media.Ended{Reason: media.Failed, Detail: sip.AnsweredAfterCancel}
	if d := wait(t, result, "end"); !errors.As(d.err, &e) || *e.Ended() != want {
		t.Errorf("ended %v", d.err)
	}
}
