package journal

import (
	"context"
	"time"

	"parley/media"
)

// Leg is a leg whose answers are observed.
type Leg struct {
	media.Leg
	observer *Observer
	written  media.Time // all frames written less those flushed
}

// NewLeg returns leg, observed by o.
func NewLeg(leg media.Leg, o *Observer) *Leg { return &Leg{Leg: leg, observer: o} }

// Due implements media.Leg.
func (l *Leg) Due(now time.Time) int { return int(l.observer.Observe(Due, int64(l.Leg.Due(now)))) }

// Write implements media.Leg.
func (l *Leg) Write(f media.Frame) {
	l.Leg.Write(f)
	l.written += media.FrameTime
}

// Flush implements media.Leg.
func (l *Leg) Flush(now time.Time) media.Time {
	d := media.Time(l.observer.Observe(Flushed, int64(l.Leg.Flush(now))))
	l.written -= d
	return d
}

// Played implements media.Leg.
func (l *Leg) Played(now time.Time) media.Time {
	return l.written - media.Time(l.observer.Observe(Lag, int64(l.written-l.Leg.Played(now))))
}

// Duck implements media.Ducker, also for a leg that is none.
func (l *Leg) Duck(on bool) bool {
	leg, able := l.Leg.(media.Ducker)
	able = able && leg.Duck(on)
	if on {
		able = l.observer.ObserveBool(Ducks, able)
	}
	return able
}

// silentLeg is the leg of a call that is conducted from recorded inputs. It carries silence. While the call goes as it went,
// what it answers does not count; after that it behaves as a leg whose
// far end plays without delay what it gets.
type silentLeg struct {
	format  media.Format
	samples [media.MaxFrameSamples]int16
	at      media.Time
	ready   int // frames to be read
	waits   bool
	end     time.Time // when all that was written is played
	written media.Time
	clock   func() time.Time
}

func (l *silentLeg) Run(context.Context) error { return nil }

func (l *silentLeg) Format() media.Format { return l.format }

func (l *silentLeg) Next() time.Time { return time.Time{} }

func (l *silentLeg) Events() <-chan media.LegEvent { return nil }

// SendDigits and Transfer offer the functions that the recorded leg may have had.

func (l *silentLeg) SendDigits(string) error { return nil }

func (l *silentLeg) Transfer(context.Context, string) error { return nil }

func (l *silentLeg) Read(time.Time) (media.Frame, bool) {
	if l.ready == 0 {
		return media.Frame{}, false
	}
	l.ready--
	l.waits = true
	f := media.Frame{Samples: l.samples[:l.format.In.FrameSamples()], Rate: l.format.In, At: l.at}
	l.at += media.FrameTime
	return f, true
}

func (l *silentLeg) Due(now time.Time) int {
	if l.format.Continuous {
		if !l.waits {
			return 0
		}
		l.waits = false
		return 1
	}
	ahead := max(0, l.end.Sub(now))
	return max(0, int((l.format.Lead-ahead+media.FrameDuration-1)/media.FrameDuration))
}

func (l *silentLeg) Write(media.Frame) {
	l.written += media.FrameTime
	if now := l.clock(); l.end.Before(now) {
		l.end = now
	}
	l.end = l.end.Add(media.FrameDuration)
}

func (l *silentLeg) Flush(now time.Time) media.Time {
	if l.format.Continuous || !l.end.After(now) {
		return 0
	}
	d := media.FromDuration(l.end.Sub(now))
	l.end = now
	l.written -= d
	return d
}

func (l *silentLeg) Played(now time.Time) media.Time {
	if l.format.Continuous || !l.end.After(now) {
		return l.written
	}
	return l.written - media.FromDuration(l.end.Sub(now))
}

// follow brings the leg to where the recorded one was, which gave value where this one gives own.
func (l *silentLeg) follow(q Quantity, own, value int64) {
	switch q {
	case Flushed:
		l.written += media.Time(own - value)
	case Lag:
		l.end = l.clock().Add(media.Time(value).Duration())
	}
}
