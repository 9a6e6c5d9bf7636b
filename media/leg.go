package media

import (
	"context"
	"time"
)

// Leg is one side of a call: a carrier's SIP/RTP trunk, a WebRTC peer or a
// WebSocket. It hides the network, its clock and its jitter buffer.
//
// Run owns the leg's sockets and goroutines. Every other method belongs to the
// one goroutine that conducts the call, never blocks and never allocates. The
// conductor sleeps until Next, then reads what is ready and writes what is due:
//
//	for {
//		sleep until leg.Next() or an engine's event
//		for f, ok := leg.Read(now); ok; f, ok = leg.Read(now) { hear(f) }
//		for n := leg.Due(now); n > 0; n-- { leg.Write(speak()) }
//	}
type Leg interface {
	// Run serves the leg until ctx ends or the far end is gone, closes what it
	// opened and returns: nil for an ordinary hang-up of the far end or the end
	// of ctx, *Ended for another reason, else a fault. The cause of ctx, an
	// *Ended, tells a leg with signalling how to say goodbye (a BYE, a close
	// code). It is called once.
	Run(ctx context.Context) error

	// Format describes the audio of both directions; it does not change.
	Format() Format

	// Next is when the conductor should wake for this leg's audio again. A leg
	// with a steady far end keeps it 2 ms after the expected arrival of the
	// next packet, so that one wake-up both hears and speaks.
	Next() time.Time

	// Read returns the next frame of incoming audio, in order and without gaps,
	// if one is ready at now. A gap waits no longer than the measured jitter
	// allows and is then concealed; when nothing arrives at all the leg fills
	// with silence and never lags the wall clock by more than 200 ms. The
	// frame's samples are valid until the next Read.
	Read(now time.Time) (f Frame, ok bool)

	// Due is how many frames Write should be given now. A continuous leg wants
	// one in each 20 ms (silence when there is nothing to say); another wants
	// as many as keep it Lead ahead of real time, and only while there is
	// something to say. After a stall the count is capped and the rest skipped.
	Due(now time.Time) int

	// Write sends one 20 ms frame at Format().Out. It copies what it keeps.
	Write(f Frame)

	// Flush drops written audio that the far end has not played, as far as the
	// leg can still recall it, and returns how much that was.
	Flush(now time.Time) Time

	// Played is how much of all audio written so far the far end has played,
	// measured or estimated; it never decreases and flushed audio does not count.
	Played(now time.Time) Time

	// Events delivers what happens on the leg besides audio. Its capacity is
	// EventQueue; a leg that would overflow it ends with an error. It is never
	// closed: the end of Run is the last event.
	Events() <-chan LegEvent
}

// EventQueue is the capacity of a leg's event channel: far more than a person
// with a keypad produces between two wake-ups of the conductor.
const EventQueue = 64

// Format is what a leg's audio looks like.
type Format struct {
	In  Rate // of the frames that Read returns
	Out Rate // of the frames that Write takes
	// Continuous legs want a frame in every 20 ms, silence included (RTP).
	Continuous bool
	// Lead is how far ahead of real time a leg that is not continuous accepts audio.
	Lead time.Duration
}

// LegEvent is one thing that happened on a leg.
type LegEvent struct {
	Kind  LegEventKind
	Digit byte // LegDigit: '0'-'9', '*', '#', 'A'-'D'
}

// LegEventKind says what happened.
type LegEventKind uint8

// The kinds of event a leg reports.
const (
	LegDigit  LegEventKind = iota + 1 // a key was pressed, reported once per press
	LegHold                           // the far end put us on hold: it neither hears nor speaks, and nothing is Due
	LegResume                         // and took us back
)

// Keypad is a leg that can press keys.
type Keypad interface {
	// SendDigits presses keys, '0' to '9', '*', '#', 'A' to 'D', each for 100 ms with
	// 100 ms between; all of them or, with an error, none. It does not wait for that,
	// and may be called from any goroutine.
	SendDigits(digits string) error
}

// Ducker is a leg whose far end can lower the agent's voice by itself. Duck
// returns false when this far end cannot; then the caller lowers the samples.
type Ducker interface {
	Duck(on bool) bool
}
