package pipeline

import (
	"time"

	"parley/media"
)

// bridge connects the caller to a second leg.
type bridge struct {
	*second
	caller  media.Leg
	in, out pipe // to the caller, and to the other
}

// next is when the conductor wakes up: at the next frame of the caller, who has one at that
// time, or of the other.
func (b *bridge) next(caller time.Time) time.Time {
	if b != nil && b.leg.Next().Before(caller) {
		return b.leg.Next()
	}
	return caller
}

// events is what the second leg tells, and that it has ended; without one nothing comes.
func (b *bridge) events() (events <-chan media.LegEvent, left <-chan struct{}) {
	if b == nil {
		return nil, nil
	}
	return b.leg.Events(), b.gone
}

// relay carries what is due between the two legs.
func (c *Call) relay(now time.Time) {
	b := c.bridge
	if n := carry(b.caller, b.leg, &b.out, now); n > 0 {
		c.observer.Carried(n)
		c.caller.Skip(n)
		c.times.frameAt = now
	}
	carry(b.leg, b.caller, &b.in, now)
	c.checkDuration(now)
}

// carry takes what from has brought, which it counts in frames, and gives to what it
// wants.
func carry(from, to media.Leg, p *pipe, now time.Time) (came int) {
	for f, ok := from.Read(now); ok; f, ok = from.Read(now) {
		p.push(f, now)
		came++
	}
	rate := to.Format().Out
	for n := to.Due(now); n > 0; n-- {
		to.Write(media.Frame{Samples: p.next(rate.FrameSamples()), Rate: rate})
	}
	return came
}

// passKey presses on one leg what was pressed on the other.
func passKey(e media.LegEvent, to media.Leg) {
	if k, ok := to.(Keypad); ok && e.Kind == media.LegDigit {
		_ = k.SendDigits(string(rune(e.Digit))) // a far end that takes none has none to hear it
	}
}

// takeConnected takes what still comes in a call that the agent has no part in any
// more: how the transfer went, as it is reported, and what was used.
func (c *Call) takeConnected(m message) {
	if m.kind == msgFunction {
		c.ran(m)
		return
	}
	c.takeLate(m)
}
