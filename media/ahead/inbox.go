package ahead

import (
	"math/bits"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/ring"
)

// inboxTime is the audio that may wait for the conductor, and a little more: its samples are rounded up to a power of two. A network
// that stands still for so long costs no words.
const inboxTime = 2 * time.Second

// fast is how fast a far end may send in the long run: real time, by a clock that is 0.2 % fast. It may be the inbox's size ahead.
const fast = 1.002

// inbox passes samples from the socket's reader to the conductor without a lock.
//
// A message that does not fit, or that comes when the far end has sent faster than
// real time for too long, is dropped whole and counted: a client that sends its
// microphone twice sends the second copy in messages of its own, and half of a
// message would be noise.
type inbox struct {
	samples *ring.Ring[int16]
	arrived atomic.Int64 // when the last ones came, Unix nanoseconds
	dropped atomic.Uint64

	// Of the writer.
	size    float64 // samples
	rate    float64 // samples a nanosecond that may come in the long run
	odd     int     // a byte that waits for its other half; -1: none
	credit  float64
	updated int64
}

func (b *inbox) init(rate media.Rate, now int64) {
	size := 1 << bits.Len(uint(media.FromDuration(inboxTime).Samples(rate)-1))
	b.samples = ring.New[int16](size)
	b.size, b.rate = float64(size), float64(rate)*fast/float64(time.Second)
	b.odd, b.credit, b.updated = -1, b.size, now
}

// came notes that n samples have come at now, in Unix nanoseconds, and says whether they are taken.
func (b *inbox) came(n int, now int64) bool {
	b.credit = min(b.size, b.credit+float64(max(0, now-b.updated))*b.rate)
	b.updated = now
	if float64(n) > b.credit || n > b.samples.Free() {
		b.dropped.Add(uint64(n))
		return false
	}
	b.credit -= float64(n)
	return true
}

// put appends samples.
func (b *inbox) put(samples []int16, now int64) {
	if len(samples) == 0 {
		return
	}
	b.arrived.Store(now)
	if !b.came(len(samples), now) {
		return
	}
	for i, v := range samples {
		*b.samples.Slot(i) = v
	}
	b.samples.Put(len(samples))
}

// write appends little-endian samples; an odd byte waits for the next call.
func (b *inbox) write(p []byte, now int64) {
	if len(p) == 0 {
		return
	}
	b.arrived.Store(now)
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
	if !b.came(n, now) {
		return
	}
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
