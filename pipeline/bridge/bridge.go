// Package bridge hands a caller over to another telephone.
//
// A Transfer is whom the agent may hand callers over to. Move finds whom the model means and asks the far end to call them in the
// agent's place, or has them called beside the call: a Second leg, on which a machine is detected and a person hears what it is about. Meanwhile
// the caller stays with the agent and hears a Ringback, or what Transfer.Hold has for them. Where the agent is to stay, the three talk before
// that (meeting.go). A Bridge is the caller and the Second, connected, and what the Second alone hears (aside.go).
//
// The package does not know the conductor. Move runs on a goroutine of its own and reaches the call through a Transferee; a Bridge
// belongs to the conductor, which asks it when it has frames to carry, and starts no goroutine.
//
// Read transfer.go first, then second.go and bridge.go; pipe.go says how much of a voice waits between two people.
package bridge

import (
	"time"

	"parley/media"
)

// Bridge connects the caller to a second leg. It belongs to the conductor. While it is nil the agent conducts the call.
type Bridge struct {
	second  *Second
	caller  media.Leg
	keys    media.Leg
	in, out *pipe // to the caller, and to the second

	toCaller, toSecond Notice
	aside              aside // what the second alone hears
}

// Connect connects a caller to a second leg. keys is the leg that presses the keys for the caller: that of caller, which may be recorded.
func Connect(caller, keys media.Leg, s *Second) *Bridge {
	from, to := caller.Format(), s.leg.Format()
	return &Bridge{second: s, caller: caller, keys: keys, in: newPipe(to.In, from.Out), out: newPipe(from.In, to.Out), aside: newAside(to.Out)}
}

// Heard says that those who listen in go on hearing the call: both people hear the tone of n from now on.
func (b *Bridge) Heard(n Notice) { b.toCaller, b.toSecond = n, n }

// Listens counts those who listen in, see Notice.Listens.
func (b *Bridge) Listens(by int) {
	b.toCaller.Listens(by)
	b.toSecond.Listens(by)
}

// Next is when the conductor wakes up: at the next frame of the caller, who has one at that
// time, or of the second.
func (b *Bridge) Next(caller time.Time) time.Time {
	if b != nil && b.second.leg.Next().Before(caller) {
		return b.second.leg.Next()
	}
	return caller
}

// Events is what the second leg tells, and that it has ended; without one nothing comes.
func (b *Bridge) Events() (events <-chan media.LegEvent, gone <-chan struct{}) {
	if b == nil {
		return nil, nil
	}
	return b.second.leg.Events(), b.second.gone
}

// Relay carries what is due between the two legs and says how many frames came from the caller.
func (b *Bridge) Relay(now time.Time) (frames int) {
	frames = carry(b.caller, b.second.leg, b.out, &b.aside, &b.toSecond, now)
	carry(b.second.leg, b.caller, b.in, nil, &b.toCaller, now)
	return frames
}

// FromCaller presses on the second leg what was pressed on the caller's.
func (b *Bridge) FromCaller(e media.LegEvent) { press(e, b.second.leg) }

// FromSecond presses on the caller's leg what was pressed on the second.
func (b *Bridge) FromSecond(e media.LegEvent) { press(e, b.keys) }

// carry takes the frames that from has brought, and returns how many there were. It gives to the frames that it wants, mixed with
// what only to hears, and with the tone.
func carry(from, to media.Leg, p *pipe, alone *aside, tone *Notice, now time.Time) (came int) {
	for f, ok := from.Read(now); ok; f, ok = from.Read(now) {
		p.push(f, now)
		came++
	}
	for n := to.Due(now); n > 0; n-- {
		f := alone.over(p.next(), now)
		if tone.Sounds(now) {
			f = tone.Over(f)
		}
		to.Write(f)
	}
	return came
}

// press presses a key.
func press(e media.LegEvent, to media.Leg) {
	if k, ok := to.(media.Keypad); ok && e.Kind == media.LegDigit {
		_ = k.SendDigits(string(rune(e.Digit))) // a far end that takes none has none to hear it
	}
}
