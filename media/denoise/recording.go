package denoise

import (
	"slices"

	"parley/media"
)

// Recording cleans a recording, which need not fit into memory, in two passes. It takes any number of
// samples at a time, and what it gives back has the length of the recording and no delay. It belongs to
// one goroutine.
type Recording interface {
	// Learn takes the next samples of the first pass. After Clean it must not be called.
	Learn(samples []int16)
	// Clean takes the next samples of the second pass, and appends to dst what is clean by them.
	Clean(dst, samples []int16) []int16
	// Finish appends the end of the recording, which is pushed out by silence as long as the delay.
	// Nothing may follow.
	Finish(dst []int16) []int16
}

// NewRecording returns the Recording of the suppressor of that name, Spectral or GTCRN, for that many
// samples. Spectral takes any rate, and GTCRN those that are converted to 16 kHz and back: what is above
// 8 kHz is lost.
func NewRecording(name string, rate media.Rate, samples int64) (Recording, error) {
	switch name {
	case Spectral:
		return newSpectralRecording(rate, samples), nil
	case GTCRN:
		return newNeuralRecording(rate)
	}
	return nil, &Error{Name: name, Rate: rate}
}

// spectralRecording listens to all of a recording once to learn the noise, so that its first second is as
// clean as its last, and goes on following the noise while it cleans.
type spectralRecording struct {
	s    *spectral
	rest []int16 // less than a hop, waiting for more
	skip int     // samples of the delay not yet dropped
	owed int     // samples taken by Clean and not yet given back

	learnt learnt
	seeded bool
}

// learnt is the sum of the noise estimates of the first pass.
type learnt struct {
	sum            []float64
	n, hop, settle int
}

// newSpectralRecording makes one; a rate below 1,000 Hz, which no recording has, counts as 1,000. The
// number of samples only says how much of a short recording is left out of the first pass while the
// estimate settles.
func newSpectralRecording(rate media.Rate, samples int64) *spectralRecording {
	s := newSpectral(max(rate, 1000))
	r := &spectralRecording{s: s, skip: len(s.a.window) - s.a.hop}
	r.learnt.sum = make([]float64, len(s.a.noise.psd))
	r.learnt.settle = int(min(int64(2*s.a.noise.window), samples/int64(s.a.hop)/2))
	return r
}

func (r *spectralRecording) Learn(samples []int16) {
	r.hops(samples, func(hop []int16) {
		r.s.a.take(hop)
		r.learnt.add(r.s.a.noise)
	})
}

// add counts a hop of the first pass, but not while the estimate settles.
func (l *learnt) add(noise *noise) {
	l.hop++
	if l.hop <= l.settle || !noise.known() {
		return
	}
	l.n++
	for k, v := range noise.psd {
		l.sum[k] += float64(v)
	}
}

// mean is the mean noise, nil when there was nothing but silence.
func (l *learnt) mean() []float32 {
	if l.n == 0 {
		return nil
	}
	mean := make([]float32, len(l.sum))
	for k, v := range l.sum {
		mean[k] = float32(v / float64(l.n))
	}
	return mean
}

func (r *spectralRecording) Clean(dst, samples []int16) []int16 {
	if !r.seeded {
		r.seeded = true
		r.rest = r.rest[:0]
		r.s.Reset()
		r.s.a.noise.seed(r.learnt.mean())
	}
	r.owed += len(samples)
	r.hops(samples, func(hop []int16) { dst = r.clean(dst, hop) })
	return dst
}

func (r *spectralRecording) Finish(dst []int16) []int16 {
	silence := make([]int16, r.s.a.hop)
	for r.owed > 0 {
		r.hops(silence, func(hop []int16) { dst = r.clean(dst, hop) })
	}
	return dst
}

// clean appends what is clean by one more hop, less the delay and never more than
// is owed.
func (r *spectralRecording) clean(dst, hop []int16) []int16 {
	at := len(dst)
	dst = slices.Grow(dst, len(hop))[:at+len(hop)]
	r.s.clean(dst[at:], hop)
	drop := min(r.skip, len(hop))
	r.skip -= drop
	n := min(copy(dst[at:], dst[at+drop:]), r.owed)
	r.owed -= n
	return dst[:at+n]
}

// hops cuts samples into hops, of which the first begins with what was left over.
func (r *spectralRecording) hops(samples []int16, each func(hop []int16)) {
	size := r.s.a.hop
	if len(r.rest) > 0 {
		n := min(size-len(r.rest), len(samples))
		r.rest = append(r.rest, samples[:n]...)
		samples = samples[n:]
		if len(r.rest) < size {
			return
		}
		each(r.rest)
		r.rest = r.rest[:0]
	}
	for ; len(samples) >= size; samples = samples[size:] {
		each(samples[:size])
	}
	r.rest = append(r.rest, samples...)
}
