package pipeline

import (
	"time"

	"parley/media"
)

// bridge connects the caller to a second leg.
type bridge struct {
	*second
	in, out pipe // to the caller, and to the other
}

// relay is the conductor's loop once the caller is connected to somebody else. The
// call ends when either hangs up.
func (c *Call) relay(gone <-chan error) (legErr error) {
	b := c.bridge
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c.ended == nil {
		next := c.leg.Next()
		if other := b.leg.Next(); other.Before(next) {
			next = other
		}
		timer.Reset(time.Until(next))
		select {
		case <-timer.C:
		case m := <-c.box:
			c.receive(m, Told, c.takeConnected)
		case e := <-c.stops:
			c.arriveStop(e)
			c.ended = &media.Ended{Reason: e.Reason, Detail: e.Detail}
		case e := <-c.leg.Events():
			passKey(e, b.leg)
		case e := <-b.leg.Events():
			passKey(e, c.far)
		case err := <-gone:
			if err == nil && c.life.Err() == nil {
				c.ended = &media.Ended{Reason: transferred.Reason, Detail: transferred.Detail}
			}
			return err
		case <-b.gone:
			if c.life.Err() != nil { // which ends both legs, and says why
				return nil
			}
			c.ended = &media.Ended{Reason: transferred.Reason, Detail: transferred.Detail}
		case <-c.life.Done():
			return nil
		}
		c.arrive(Ticked)
		now := c.now()
		if n := carry(c.leg, b.leg, &b.out, now); n > 0 {
			c.input.Carried = n
			c.caller.Skip(n)
			c.wallAt = now
		}
		carry(b.leg, c.leg, &b.in, now)
		if c.cfg.MaxDuration > 0 && now.Sub(c.start) >= c.cfg.MaxDuration {
			c.ended = &media.Ended{Reason: media.MaxDuration}
		}
	}
	return nil
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
// more: how the transfer is told to have gone, and what was used.
func (c *Call) takeConnected(m message) {
	if m.kind == msgFunction {
		c.ran(m)
		return
	}
	c.bury(m)
}
