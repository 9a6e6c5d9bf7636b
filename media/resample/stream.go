package resample

import (
	"fmt"
	"slices"

	"parley/media"
)

// Stream converts a clip that comes in pieces of any length. All that it gives out is what All makes of
// the whole clip. It belongs to one goroutine, keeps nothing of its arguments, and has 20 ms in memory.
type Stream struct {
	from, to media.Rate
	conv     converter // nil when the rates are equal
	out      []int16   // of a block
	block    []int16   // collects the samples of one
	head     []int16   // collects the start of the clip, which takes out the whole input samples of the delay
	primed   bool
	skip     int   // output samples of what is left of the delay
	taken    int64 // samples
	given    int64
}

// NewStream returns a Stream between two rates. It panics when they are not Supported.
func NewStream(from, to media.Rate) *Stream {
	if !Supported(from, to) {
		panic(fmt.Sprintf("resample: no conversion from %v to %v", from, to))
	}
	s := &Stream{from: from, to: to}
	if from == to {
		return s
	}
	// A block is a whole number of filter cycles of about 20 ms.
	up, down := Ratio(from, to)
	cycles := max(1, from.FrameSamples()/down)
	s.conv = newConverter(from, to, cycles*down)
	lead, skip := s.conv.delay()
	s.block, s.out = make([]int16, 0, cycles*down), make([]int16, cycles*up)
	s.head, s.skip = make([]int16, 0, lead), skip
	return s
}

// Convert takes the next samples and appends to dst what is ready by them.
func (s *Stream) Convert(dst, samples []int16) []int16 {
	s.taken += int64(len(samples))
	if s.conv == nil {
		return append(dst, samples...)
	}
	if !s.primed {
		n := min(cap(s.head)-len(s.head), len(samples))
		s.head, samples = append(s.head, samples[:n]...), samples[n:]
		if len(s.head) < cap(s.head) {
			return dst
		}
		s.prime()
	}
	for len(samples) > 0 {
		n := min(cap(s.block)-len(s.block), len(samples))
		s.block, samples = append(s.block, samples[:n]...), samples[n:]
		if len(s.block) == cap(s.block) {
			dst = s.convert(dst)
		}
	}
	return dst
}

// Finish appends the end of the clip. Nothing may follow.
func (s *Stream) Finish(dst []int16) []int16 {
	if s.conv == nil {
		return dst
	}
	if !s.primed {
		s.head = s.head[:cap(s.head)] // it ends in silence
		s.prime()
	}
	n := (s.taken*int64(s.to) + int64(s.from)/2) / int64(s.from)
	for s.given < n {
		dst = s.convert(dst)
	}
	more := s.given - n
	s.given = n
	return dst[:int64(len(dst))-more]
}

func (s *Stream) prime() {
	s.conv.prime(s.head)
	s.primed = true
}

// convert appends what the block makes, which ends in silence where it is not full.
func (s *Stream) convert(dst []int16) []int16 {
	s.conv.convert(s.out, s.block)
	s.block = s.block[:0]
	drop := min(s.skip, len(s.out))
	s.skip -= drop
	s.given += int64(len(s.out) - drop)
	return append(slices.Grow(dst, len(s.out)), s.out[drop:]...)
}
