package ahead

import (
	"math/rand/v2"
	"testing"
	"time"

	"parley/media"
)

// newInbox is an inbox at the time 0.
func newInbox() *inbox {
	r := &inbox{}
	r.init(media.Rate16k, 0)
	return r
}

func (r *inbox) take(n int) []int16 {
	out := make([]int16, n)
	r.read(out)
	return out
}

// inboxSize is that of newInbox.
const inboxSize = 1 << 15

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

// TestSamplesAreDroppedWhole: those that come as numbers have the same bounds, of their own rate.
func TestSamplesAreDroppedWhole(t *testing.T) {
	a := New(media.Rate8k, media.Rate8k)
	now := time.Now()
	a.ReceiveSamples(make([]int16, 16380), now)
	a.ReceiveSamples([]int16{1, 2, 3, 4, 5}, now)
	a.ReceiveSamples([]int16{6, 7}, now)
	if a.Waiting() != 16382 || a.Dropped() != 5 {
		t.Fatalf("%d samples, %d dropped", a.Waiting(), a.Dropped())
	}
	a.in.read(make([]int16, 16380))
	got := make([]int16, 2)
	if a.in.read(got); got[0] != 6 || got[1] != 7 {
		t.Errorf("got %v", got)
	}
}
