package sip_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/transport"
)

// echoCall is a call with a telephone, which hears itself.
type echoCall struct {
	in     *sip.Incoming // nil: it is ours
	leg    *sip.Leg
	loud   atomic.Int64 // frames that were no silence
	events chan media.LegEvent
	end    context.CancelCauseFunc
	over   <-chan struct{}
	ended  chan error
}

func newEchoCall(leg *sip.Leg) *echoCall {
	ctx, end := context.WithCancelCause(context.Background())
	over := make(chan struct{})
	k := &echoCall{leg: leg, events: make(chan media.LegEvent, media.EventQueue), end: end, over: over, ended: make(chan error, 1)}
	go func() {
		defer close(over)
		k.ended <- conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
			if slices.Max(f.Samples) > 1000 {
				k.loud.Add(1)
			}
			for len(leg.Events()) > 0 {
				k.events <- <-leg.Events()
			}
			return f.Samples
		})
	}()
	return k
}

// hears waits until the phone has been heard for d more.
func (k *echoCall) hears(t *testing.T, d time.Duration) {
	t.Helper()
	want := k.loud.Load() + int64(d/(20*time.Millisecond))
	eventually(t, "the phone is heard", func() bool { return k.loud.Load() >= want })
}

// reports waits for the next event, which has to be one of a kind.
func (k *echoCall) reports(t *testing.T, want media.LegEventKind) media.LegEvent {
	t.Helper()
	got := wait(t, k.events, "event")
	if got.Kind != want {
		t.Errorf("reported %v, want %v", got.Kind, want)
	}
	return got
}

// transfer has the phone call a user at a host in its place, and hangs up. The call that it makes is the next of calls.
func (k *echoCall) transfer(t *testing.T, calls <-chan *echoCall, user, host string) *echoCall {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- k.leg.Transfer(t.Context(), "sip:"+user+"@"+host) }()
	other := wait(t, calls, "call of the transfer")
	if other.in.User != user {
		t.Errorf("it calls %s", other.in.User)
	}
	if err := wait(t, done, "outcome"); err != nil {
		t.Error(err)
	}
	k.hangUp(t)
	return other
}

// hangUp ends the call from here, which the phone has to confirm unless it has hung up itself.
func (k *echoCall) hangUp(t *testing.T) {
	t.Helper()
	k.end(&media.Ended{Reason: media.AgentHangup})
	if err := wait(t, k.ended, "end of the call"); err != nil {
		t.Error(err)
	}
	wait(t, k.leg.Trace().Over(), "end of its signalling")
	list, _ := k.leg.Trace().Messages()
	if !slices.ContainsFunc(list, func(m transport.TraceMessage) bool {
		return strings.HasPrefix(m.Text, "SIP/2.0 200 ") && strings.Contains(m.Text, " BYE\r\n")
	}) {
		t.Errorf("no BYE was confirmed; the signalling ends with\n%s", list[len(list)-1].Text)
	}
}
