// Package ahead is the audio of a leg whose far end buffers: a WebSocket, on which audio comes in messages of any length and goes
// out ahead of real time. An Audio has what such legs have in common: it fills in silence, says when frames are due, and knows how
// far the far end has played.
//
// The messages themselves, and what the far end says of them, are the leg's.
package ahead

import (
	"time"

	"parley/media"
)

// How far hearing may be from the wall clock.
const (
	// quietAfter is how long nothing may arrive before silence is filled in, which keeps
	// hearing silenceLag behind the wall clock: a muted far end sends nothing at all.
	quietAfter = 140 * time.Millisecond
	silenceLag = 120 * time.Millisecond
	// lagMax is how far hearing may lag it while something arrives.
	lagMax = 180 * time.Millisecond
	// aheadMax is how far hearing may run ahead of it, as it does after a network
	// that stood still, whose gap was filled, delivers all at once. What is more
	// moves the clock on, or silence would be noticed late for ever after. It also
	// lets a client send in chunks of half a second without gaps between them.
	aheadMax = 500 * time.Millisecond
)

// DefaultLead is how far audio runs ahead of real time.
const DefaultLead = 300 * time.Millisecond

// PlayoutLag is how long after sending a far end is taken to play, when it does not tell.
const PlayoutLag = 60 * time.Millisecond

// Audio is the audio of one leg. Receive and ReceiveSamples belong to the goroutine that reads the socket, the rest to the
// conductor's; Filled and Dropped may be called from any once both have ended.
type Audio struct {
	in     inbox
	format media.Format

	pacer   media.Pacer
	frame   [media.MaxFrameSamples]int16
	start   time.Time // when the media time of hearing was 0
	heard   media.Time
	filled  uint64
	arrived int64 // the arrival that the pacer has seen
	written media.Time
	end     time.Time // when the far end will have played what was written
	played  media.Time
}

// New is the audio of a leg that hears and speaks at these rates, DefaultLead ahead.
func New(in, out media.Rate) *Audio {
	a := &Audio{format: media.Format{In: in, Out: out, Lead: DefaultLead}}
	a.in.init(in, time.Now().UnixNano())
	return a
}

// Format is that of media.Leg.
func (a *Audio) Format() media.Format { return a.format }

// Receive takes little-endian samples of 16 bits that came now; an odd byte waits for the next call. What does not fit, or comes
// faster than real time for too long, is dropped with all that came in the same call, and counted.
func (a *Audio) Receive(pcm []byte, now time.Time) { a.in.write(pcm, now.UnixNano()) }

// ReceiveSamples is Receive for samples.
func (a *Audio) ReceiveSamples(samples []int16, now time.Time) { a.in.put(samples, now.UnixNano()) }

// Anew says that what comes from now on has no beginning in what came before: an odd byte does not wait any more. It belongs to the
// goroutine that reads the socket.
func (a *Audio) Anew() { a.in.odd = -1 }

// Waiting is how many samples came that were not read. Any goroutine may ask.
func (a *Audio) Waiting() int { return a.in.len() }

// Filled is how many frames of silence were filled in.
func (a *Audio) Filled() uint64 { return a.filled }

// Dropped is how many samples were.
func (a *Audio) Dropped() uint64 { return a.in.dropped.Load() }

// begin starts the clock with the conductor's first look at the leg: what came
// while the engines were opened waits in the buffer, and silence before it is
// nobody's.
func (a *Audio) begin(now time.Time) {
	if a.start.IsZero() {
		a.start, a.end = now, now
		a.pacer = media.NewPacer(now.Add(media.FrameDuration))
	}
}

// Next is that of media.Leg. Its phase follows the far end's messages.
func (a *Audio) Next() time.Time {
	a.begin(time.Now())
	if at := a.in.arrived.Load(); at != a.arrived {
		a.arrived = at
		a.pacer.Observe(time.Unix(0, at))
	}
	return a.pacer.Next()
}

// Read is that of media.Leg.
func (a *Audio) Read(now time.Time) (media.Frame, bool) {
	a.begin(now)
	frame := a.frame[:a.format.In.FrameSamples()]
	lag := now.Sub(a.start) - a.heard.Duration()
	if have := a.in.len(); have < len(frame) {
		if lag < silenceLag || now.UnixNano()-a.in.arrived.Load() < int64(quietAfter) {
			return media.Frame{}, false
		}
		clear(frame) // part of a frame that is there waits for the rest
		a.filled++
	} else {
		if ahead := -lag; ahead > aheadMax {
			a.start = a.start.Add(aheadMax - ahead)
		} else if late := lag - a.format.In.Duration(have).Duration(); late > lagMax {
			// Of a far end that sends slower than real time its clock counts, or the lag
			// would pass for silence within its speech.
			a.start = a.start.Add(late - lagMax)
		}
		a.in.read(frame)
	}
	f := media.Frame{Samples: frame, Rate: a.format.In, At: a.heard}
	a.heard += media.FrameTime
	return f, true
}

// Due is that of media.Leg.
func (a *Audio) Due(now time.Time) int {
	a.begin(now)
	a.pacer.Due(now)
	return max(0, int((a.format.Lead-max(0, a.end.Sub(now)))/media.FrameDuration))
}

// Wrote says that a frame goes out at now.
func (a *Audio) Wrote(now time.Time) {
	if a.end.Before(now) {
		a.end = now
	}
	a.end = a.end.Add(media.FrameDuration)
	a.written += media.FrameTime
}

// Written is the length of all that was written and not flushed.
func (a *Audio) Written() media.Time { return a.written }

// Over is how long ago a far end has played all of it that plays what comes at once; negative: it has not.
func (a *Audio) Over(now time.Time) time.Duration { return now.Sub(a.end) }

// Flushed says that all that is behind played will not be played, and returns how much that is.
func (a *Audio) Flushed(now time.Time, played media.Time) media.Time {
	dropped := a.written - played
	a.written, a.end = played, now
	return dropped
}

// Position is how much a far end has played that plays everything lag after it was sent.
func (a *Audio) Position(now time.Time, lag time.Duration) media.Time {
	left := media.FromDuration(max(0, a.end.Add(lag).Sub(now)))
	return max(0, a.written-left)
}

// Played notes that so much is taken to be played, and returns how much that is by all that is known: no less than before, no more
// than was written.
func (a *Audio) Played(position media.Time) media.Time {
	a.played = min(a.written, max(a.played, position))
	return a.played
}
