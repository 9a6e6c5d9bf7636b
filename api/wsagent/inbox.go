package wsagent

import (
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/ring"
)

// inboxSize is the client audio that may wait for the conductor: two seconds at
// 16 kHz, rounded up to a power of two. A network that stands still for so long
// costs no words.
const inboxSize = 1 << 15

// creditRate is how fast a client may send in the long run, in samples a
// nanosecond: real time, by a clock that is 0.2 % fast. It may be inboxSize ahead.
const creditRate = float64(media.Rate16k) * 1.002 / float64(time.Second)

// inbox passes samples from the socket's reader to the conductor without a lock.
//
// A message that does not fit, or that comes when the client has sent faster than
// real time for too long, is dropped whole and counted: a client that sends its
// microphone twice sends the second copy in messages of its own, and half of a
// message would be noise.
type inbox struct {
	samples *ring.Ring[int16]
	arrived atomic.Int64 // when the last ones came, Unix nanoseconds
	dropped atomic.Uint64

	// Of the writer.
	odd     int // a byte that waits for its other half; -1: none
	credit  float64
	updated int64
}

func (b *inbox) init(now int64) {
	b.samples = ring.New[int16](inboxSize)
	b.odd, b.credit, b.updated = -1, inboxSize, now
}

// write appends little-endian samples; an odd byte waits for the next call. now is
// in Unix nanoseconds.
func (b *inbox) write(p []byte, now int64) {
	if len(p) == 0 {
		return
	}
	b.arrived.Store(now)
	b.credit = min(inboxSize, b.credit+float64(max(0, now-b.updated))*creditRate)
	b.updated = now
	first, waiting := byte(b.odd), b.odd >= 0
	n := len(p)
	if waiting {
		n++
	}
	b.odd = -1
	if n%2 == 1 {
		b.odd = int(p[len(p)-1])
		p = p[:len(p)-1]
	}
	n /= 2
	if float64(n) > b.credit || n > b.samples.Free() {
		b.dropped.Add(uint64(n))
		return
	}
	b.credit -= float64(n)
	i := 0
	if waiting && n > 0 {
		*b.samples.Slot(i) = int16(uint16(first) | uint16(p[0])<<8)
		p = p[1:]
		i++
	}
	for ; len(p) >= 2; p = p[2:] {
		*b.samples.Slot(i) = int16(uint16(p[0]) | uint16(p[1])<<8)
		i++
	}
	b.samples.Put(i)
}

func (b *inbox) len() int { return b.samples.Len() }

// read takes len(dst) samples, which must be there.
func (b *inbox) read(dst []int16) {
	for i := range dst {
		dst[i] = *b.samples.Peek(i)
	}
	b.samples.Drop(len(dst))
}
