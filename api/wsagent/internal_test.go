package wsagent

import (
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	sockets "parley/api/socket"
	"parley/media"
	"parley/media/mediatest"
)

// newInbox is an inbox at the time 0.
func newInbox() *inbox {
	r := &inbox{}
	r.init(0)
	return r
}

func (r *inbox) take(n int) []int16 {
	out := make([]int16, n)
	r.read(out)
	return out
}

// TestInboxWraps: audio in real time passes for ever, whatever the pieces.
func TestInboxWraps(t *testing.T) {
	r, rng := newInbox(), rand.New(rand.NewPCG(5, 6))
	sent, got := 0, 0
	var odd []byte
	for sent < 5*inboxSize {
		n := 1 + rng.IntN(2000)
		b := odd
		for len(b) < n+len(odd) {
			b = append(b, byte(sent), byte(sent>>8))
			sent++
		}
		odd = nil
		if rng.IntN(2) == 0 { // half a sample with the next
			odd = []byte{b[len(b)-1]}
			b = b[:len(b)-1]
		}
		r.write(b, int64(sent)*int64(time.Second)/16000)
		for ; r.len() >= 320; got += 320 {
			for i, v := range r.take(320) {
				if v != int16(got+i) {
					t.Fatalf("sample %d is %d, want %d", got+i, v, int16(got+i))
				}
			}
		}
	}
	if r.dropped.Load() != 0 || sent-got > 320 {
		t.Errorf("%d sent, %d read, %d dropped", sent, got, r.dropped.Load())
	}
}

// TestInboxDropsWhole: what does not fit is dropped as a whole message, and the
// bytes after it still meet their other halves.
func TestInboxDropsWhole(t *testing.T) {
	r := newInbox()
	fill := make([]byte, 2*inboxSize-4)
	r.write(fill, 0)
	r.write([]byte{1, 0, 2, 0, 3, 0, 9}, 0) // three samples and a half do not fit
	r.write([]byte{9, 4, 0, 5}, 0)          // two do, and a half waits
	if r.len() != inboxSize || r.dropped.Load() != 3 {
		t.Fatalf("%d samples, %d dropped", r.len(), r.dropped.Load())
	}
	r.take(inboxSize - 2)
	if got := r.take(2); got[0] != 9|9<<8 || got[1] != 4 {
		t.Errorf("got %v", got)
	}
	// The credit is used up: a second gives a second of it back.
	r.write([]byte{0, 6, 0, 7}, 0)
	if r.len() != 0 || r.dropped.Load() != 5 {
		t.Errorf("%d samples, %d dropped", r.len(), r.dropped.Load())
	}
	r.write(make([]byte, 32000), int64(time.Second))
	if r.len() != 16000 {
		t.Errorf("%d samples after a second, %d dropped", r.len(), r.dropped.Load())
	}
	r.write(make([]byte, 32000), int64(time.Second))
	if r.len() != 16000 {
		t.Errorf("%d samples, twice real time", r.len())
	}
}

// sink takes what a leg sends.
type sink struct{ outlet }

func (sink) Offer(m sockets.Late) { m.Written() }
func (sink) OfferText([]byte)     {}

// deadLeg is a leg without a client.
func deadLeg() *Leg { return newLeg(newSocket(sink{})) }

// wake is one wake-up of the conductor: it hears a frame and speaks one.
func wake(l *Leg, packet []byte, now time.Time) bool {
	l.in.write(packet, now.UnixNano())
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
				l.in.write(packet, time.Now().UnixNano())
				sent += 300
				read()
			}
			if len(heard) < sent-320 || slices.Contains(heard, 0) {
				t.Fatalf("every %v: heard %d of %d samples, %d frames of silence", every, len(heard), sent, l.filled)
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
