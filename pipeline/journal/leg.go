package journal

import (
	"context"
	"time"

	"parley/media"
)

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
