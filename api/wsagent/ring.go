package wsagent

import "sync/atomic"

// ringSize is the client audio kept for the conductor: two seconds at 16 kHz,
// rounded up to a power of two. What comes faster than it is heard is dropped and
// counted: a client that sends its microphone twice must not be heard doubled.
const ringSize = 1 << 15

// ring passes samples from the socket's reader to the conductor without a lock.
type ring struct {
	samples [ringSize]int16
	head    atomic.Int64 // samples read
	tail    atomic.Int64 // samples written
	arrived atomic.Int64 // when the last ones came, Unix nanoseconds
	dropped atomic.Uint64
	odd     int // a byte that waits for its other half; -1: none. Of the writer.
}

// write appends little-endian samples; an odd byte waits for the next call.
func (r *ring) write(p []byte, now int64) {
	tail, head := r.tail.Load(), r.head.Load()
	put := func(lo, hi byte) {
		if tail-head >= ringSize {
			r.dropped.Add(1)
			return
		}
		r.samples[tail%ringSize] = int16(uint16(lo) | uint16(hi)<<8)
		tail++
	}
	if r.odd >= 0 && len(p) > 0 {
		put(byte(r.odd), p[0])
		p, r.odd = p[1:], -1
	}
	for ; len(p) >= 2; p = p[2:] {
		put(p[0], p[1])
	}
	if len(p) == 1 {
		r.odd = int(p[0])
	}
	r.tail.Store(tail)
	r.arrived.Store(now)
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
