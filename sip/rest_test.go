package sip_test

import (
	"errors"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/trunk"
)

// A target that asks for a rest (Retry-After) is left alone for as long, and not
// longer than ten minutes.
func TestTargetRests(t *testing.T) {
	first, second := newCallee(t), newCallee(t)
	h := sip.NewHands()
	ua := serve(t, h.On(sip.Config{Trunks: []trunk.Config{
		{Name: "two", Targets: []trunk.Target{first.target(), second.target()}, Flags: trunk.NoProbe},
		{Name: "one", Targets: []trunk.Target{first.target()}, Flags: trunk.NoProbe},
	}}))
	decline := func(after string) {
		t.Helper()
		first.expect("INVITE")
		first.answer("INVITE", 503, "x", "", "Retry-After: "+after)
		first.expect("ACK")
	}
	call := func(trunk string) <-chan dialed {
		return dial(t, ua, t.Context(), sip.Target{Number: number, Trunk: trunk})
	}
	refused := func(result <-chan dialed) {
		t.Helper()
		e, ok := errors.AsType[*sip.NotAnswered](wait(t, result, "refusal").err)
		if !ok || e.Code != 503 || *e.Ended() != (media.Ended{Reason: media.Failed, Detail: "carrier_unavailable"}) || !e.Retry() {
			t.Errorf("refused with %v", e)
		}
	}

	result := call("two")
	decline("120;duration=60")
	second.take(t, result)
	if health := ua.Trunks()[0].Targets; health[0].Up || !health[1].Up || health[0].Detail == "" {
		t.Errorf("%+v", health)
	}
	h.Turn(119 * time.Second)
	second.take(t, call("two"))
	first.untouched(t)
	h.Turn(time.Second)
	first.take(t, call("two"))
	if health := ua.Trunks()[0].Targets; !health[0].Up {
		t.Errorf("%+v", health)
	}

	// Without another target one callee says nothing of it; three do.
	for _, n := range []string{number, "+15550100001", "+15550100002"} {
		result = dial(t, ua, t.Context(), sip.Target{Number: n, Trunk: "one"})
		decline("4000000 (overload)")
		refused(result)
	}
	refused(call("one"))
	first.untouched(t)
	h.Turn(10 * time.Minute)
	first.take(t, call("one"))

	// The same after 500, which asks for nothing.
	result = call("one")
	first.expect("INVITE")
	first.answer("INVITE", 500, "x", "", "Retry-After: 600")
	first.expect("ACK")
	if d := wait(t, result, "refusal"); d.err == nil {
		t.Error("it was answered")
	}
	first.take(t, call("one"))

	// What is no time is none, and only 503 speaks of the target: others speak of
	// who is called.
	for _, tt := range []struct {
		code  int
		after string
	}{{503, "soon"}, {480, "3600"}} {
		result = call("one")
		first.expect("INVITE")
		first.answer("INVITE", tt.code, "x", "", "Retry-After: "+tt.after)
		first.expect("ACK")
		if d := wait(t, result, "refusal"); d.err == nil {
			t.Error("it was answered")
		}
		first.take(t, call("one"))
	}
}

// A target that asks the probes for a rest gets no calls either.
func TestTargetRestsFromProbes(t *testing.T) {
	first, second := newCallee(t), newCallee(t)
	ua := serve(t, sip.Config{Probe: time.Hour, Trunks: []trunk.Config{
		{Name: "carrier", Targets: []trunk.Target{first.target(), second.target()}}}})
	first.expect("OPTIONS")
	first.answer("OPTIONS", 503, "x", "", "Retry-After: 600")
	eventually(t, "it rests", func() bool { return !ua.Trunks()[0].Targets[0].Up })
	second.take(t, dial(t, ua, t.Context(), sip.Target{Number: number}))
	first.untouched(t)
}
