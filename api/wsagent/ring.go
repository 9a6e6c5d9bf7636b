package wsagent

import (
	"sync/atomic"
	"time"

	"parley/media"
)

// ringSize is the client audio that may wait for the conductor: two seconds at
// 16 kHz, rounded up to a power of two. A network that stands still for so long
// costs no words.
const ringSize = 1 << 15

// creditRate is how fast a client may send in the long run, in samples a
// nanosecond: real time, by a clock that is 0.2 % fast. It may be ringSize ahead.
const creditRate = float64(media.Rate16k) * 1.002 / float64(time.Second)

// ring passes samples from the socket's reader to the conductor without a lock.
//
// A message that does not fit, or that comes when the client has sent faster than
// real time for too long, is dropped whole and counted: a client that sends its
// microphone twice sends the second copy in messages of its own, and half of a
// message would be noise.
type ring struct {
	samples [ringSize]int16
	head    atomic.Int64 // samples read
	tail    atomic.Int64 // samples written
	arrived atomic.Int64 // when the last ones came, Unix nanoseconds
	dropped atomic.Uint64

	// Of the writer.
	odd     int // a byte that waits for its other half; -1: none
	credit  float64
	updated int64
}

func (r *ring) init(now int64) { r.odd, r.credit, r.updated = -1, ringSize, now }

// write appends little-endian samples; an odd byte waits for the next call. now is
// in Unix nanoseconds.
func (r *ring) write(p []byte, now int64) {
	if len(p) == 0 {
		return
	}
	r.arrived.Store(now)
	r.credit = min(ringSize, r.credit+float64(max(0, now-r.updated))*creditRate)
	r.updated = now
	first, waiting := byte(r.odd), r.odd >= 0
	n := len(p)
	if waiting {
		n++
	}
	r.odd = -1
	if n%2 == 1 {
		r.odd = int(p[len(p)-1])
		p = p[:len(p)-1]
	}
	n /= 2
	tail := r.tail.Load()
	if float64(n) > r.credit || int64(n) > ringSize-(tail-r.head.Load()) {
		r.dropped.Add(uint64(n))
		return
	}
	r.credit -= float64(n)
	if waiting && n > 0 {
		r.samples[tail%ringSize] = int16(uint16(first) | uint16(p[0])<<8)
		p = p[1:]
		tail++
	}
	for ; len(p) >= 2; p = p[2:] {
		r.samples[tail%ringSize] = int16(uint16(p[0]) | uint16(p[1])<<8)
		tail++
	}
	r.tail.Store(tail)
}

func (r *ring) len() int { return int(r.tail.Load() - r.head.Load()) }

// read takes len(dst) samples, which must be there.
func (r *ring) read(dst []int16) {
	head := r.head.Load()
	for i := range dst {
		dst[i] = r.samples[(head+int64(i))%ringSize]
	}
	r.head.Store(head + int64(len(dst)))
}
