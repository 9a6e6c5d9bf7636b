package pipeline

import (
	"context"
	"time"

	"parley/media"
)

// formerLeg is the leg of a Rerun. It carries silence. While the call goes as it went,
// what it answers does not count; where it goes another way it behaves as a leg whose
// far end plays without delay what it gets.
type formerLeg struct {
	format  media.Format
	samples [media.MaxFrameSamples]int16
	at      media.Time
	ready   int // frames to be read
	waits   bool
	end     time.Time // when all that was written is played
	written media.Time
	clock   func() time.Time
}

func newFormerLeg(f media.Format) *formerLeg { return &formerLeg{format: f} }

// Run implements media.Leg.
func (l *formerLeg) Run(context.Context) error { return nil }

// Format implements media.Leg.
func (l *formerLeg) Format() media.Format { return l.format }

// Next implements media.Leg.
func (l *formerLeg) Next() time.Time { return time.Time{} }

// Read implements media.Leg.
func (l *formerLeg) Read(time.Time) (media.Frame, bool) {
	if l.ready == 0 {
		return media.Frame{}, false
	}
	l.ready--
	l.waits = true
	f := media.Frame{Samples: l.samples[:l.format.In.FrameSamples()], Rate: l.format.In, At: l.at}
	l.at += media.FrameTime
	return f, true
}

// Due implements media.Leg.
func (l *formerLeg) Due(now time.Time) int {
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

// Write implements media.Leg.
func (l *formerLeg) Write(media.Frame) {
	l.written += media.FrameTime
	if now := l.clock(); l.end.Before(now) {
		l.end = now
	}
	l.end = l.end.Add(media.FrameDuration)
}

// answered brings the leg to where the one it stands for was.
func (l *formerLeg) answered(kind AnswerKind, mine, then int64) {
	switch kind {
	case AnsweredFlush:
		l.written += media.Time(mine - then)
	case AnsweredLag:
		l.end = l.clock().Add(media.Time(then).Duration())
	}
}

// Flush implements media.Leg.
func (l *formerLeg) Flush(now time.Time) media.Time {
	if l.format.Continuous || !l.end.After(now) {
		return 0
	}
	d := media.FromDuration(l.end.Sub(now))
	l.end = now
	l.written -= d
	return d
}

// Played implements media.Leg.
func (l *formerLeg) Played(now time.Time) media.Time {
	if l.format.Continuous || !l.end.After(now) {
		return l.written
	}
	return l.written - media.FromDuration(l.end.Sub(now))
}

// Events implements media.Leg.
func (l *formerLeg) Events() <-chan media.LegEvent { return nil }

// Duck implements media.Ducker.
func (l *formerLeg) Duck(bool) bool { return false }

// SendDigits implements Keypad.
func (l *formerLeg) SendDigits(string) error { return nil }

// Transfer implements Transferrer.
func (l *formerLeg) Transfer(context.Context, string) error { return nil }
