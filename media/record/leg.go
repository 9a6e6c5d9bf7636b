package record

import (
	"time"

	"parley/media"
)

// Keeper keeps a call's audio, as Recorder does. Its methods are called by the conductor of the call, and neither block nor allocate, but
// for Begin and Close.
type Keeper interface {
	// Begin is called at the first moment of the call, or never.
	Begin(f media.Format)
	// Heard is a frame that came from the caller.
	Heard(f media.Frame, now time.Time)
	// Spoke is a frame that goes to the caller, who hears it ahead later.
	Spoke(f media.Frame, now time.Time, ahead media.Time)
	// Recalled is how much of the last written frames the caller does not hear.
	Recalled(d media.Time)
	// Close ends the recording.
	Close()
}

// leg is a leg whose audio is kept, as it goes over the line.
type leg struct {
	media.Leg
	to         Keeper
	continuous bool
	written    media.Time // all frames less those flushed
	due        int        // of the last Due those that were not written
	now        time.Time  // of it
}

// Leg begins a recording at the first moment of a call, and returns its leg, whose audio to keeps. It belongs to the conductor.
func Leg(of media.Leg, to Keeper) media.Leg {
	f := of.Format()
	to.Begin(f)
	return &leg{Leg: of, to: to, continuous: f.Continuous}
}

// Read implements media.Leg.
func (l *leg) Read(now time.Time) (media.Frame, bool) {
	f, ok := l.Leg.Read(now)
	if ok {
		l.to.Heard(f, now)
	}
	return f, ok
}

// Due implements media.Leg.
func (l *leg) Due(now time.Time) int {
	l.now = now
	l.due = l.Leg.Due(now)
	return l.due
}

// Write implements media.Leg. Of several frames that are due at once on a continuous
// leg, all but the last are late.
func (l *leg) Write(f media.Frame) { l.write(f, f) }

// WriteUnheard writes a frame to a leg. If the leg is recorded, the recording has silence in place of the frame.
func WriteUnheard(to media.Leg, f media.Frame) {
	if l, kept := to.(*leg); kept {
		l.write(f, media.Silence(f.Rate))
		return
	}
	to.Write(f)
}

// write writes a frame to the leg, and kept to the recording.
func (l *leg) write(f, kept media.Frame) {
	var ahead media.Time
	if l.continuous {
		l.due = max(0, l.due-1)
		ahead = -media.Time(l.due) * media.FrameTime
	} else {
		ahead = l.written - l.Leg.Played(l.now)
	}
	l.to.Spoke(kept, l.now, ahead)
	l.Leg.Write(f)
	l.written += media.FrameTime
}

// Flush implements media.Leg.
func (l *leg) Flush(now time.Time) media.Time {
	d := l.Leg.Flush(now)
	l.written -= d
	l.to.Recalled(d)
	return d
}
