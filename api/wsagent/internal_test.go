package wsagent

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	sockets "parley/api/socket"
	"parley/media"
	"parley/media/mediatest"
)

// sink takes what a leg sends.
type sink struct{ sockets.Outlet }

func (sink) Offer(m sockets.Late) { m.Written() }
func (sink) OfferText([]byte)     {}

// deadLeg is a leg without a client.
func deadLeg() *Leg { return newLeg(sockets.NewFrames(sink{}, bufferPool, bufferSize)) }

// wake is one wake-up of the conductor: it hears a frame and speaks one.
func wake(l *Leg, packet []byte, now time.Time) bool {
	l.Receive(packet, now)
	l.Next()
	f, ok := l.Read(now)
	l.Due(now)
	f.Samples, f.Rate = silence[:], RateOut
	l.Write(f)
	l.Played(now)
	return ok
}

var silence [int(RateOut) / 50]int16

func TestLegDoesNotAllocate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, packet := deadLeg(), make([]byte, 640)
		mediatest.NoAllocs(t, func() {
			time.Sleep(media.FrameDuration)
			if !wake(l, packet, time.Now()) {
				t.Error("heard nothing")
			}
		})
	})
}

// TestSlowSender: a client whose clock is a few percent slow, as one that sleeps between its
// messages is, is heard without a gap. When it is muted, silence takes as long as it does.
func TestSlowSender(t *testing.T) {
	for _, every := range []time.Duration{20 * time.Millisecond, 20400 * time.Microsecond, 21740 * time.Microsecond} {
		synctest.Test(t, func(t *testing.T) {
			l, start := deadLeg(), time.Now()
			packet := make([]byte, 600) // not a whole frame
			for i := range packet {
				packet[i] = 1
			}
			var heard []int16
			read := func() {
				for f, ok := l.Read(time.Now()); ok; f, ok = l.Read(time.Now()) {
					heard = append(heard, f.Samples...)
				}
			}
			const seconds = 20
			sent := 0
			for at := time.Duration(0); at < seconds*time.Second; at += every * 600 / 640 {
				time.Sleep(time.Until(start.Add(at)))
				l.Receive(packet, time.Now())
				sent += 300
				read()
			}
			if len(heard) < sent-320 || slices.Contains(heard, 0) {
				t.Fatalf("every %v: heard %d of %d samples, %d frames of silence", every, len(heard), sent, l.Filled())
			}
			heard = nil
			for range 50 {
				time.Sleep(20 * time.Millisecond)
				read()
			}
			if n := time.Duration(len(heard)) * time.Second / 16000; n < 700*time.Millisecond || n > 1100*time.Millisecond {
				t.Errorf("every %v: %v of silence in a second", every, n)
			}
		})
	}
}

func BenchmarkLeg(b *testing.B) {
	l, packet := deadLeg(), make([]byte, 640)
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(media.FrameDuration)
		wake(l, packet, now)
	}
}
