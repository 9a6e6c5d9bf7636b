package denoise

import "parley/media"

// Clip returns a cleaned copy of a whole recording, of the same length and without
// delay. It listens to all of it once to learn the noise, so that its first second
// is as clean as its last, and goes on following the noise while it cleans. It takes
// any rate; one below 1,000 Hz, which no recording has, counts as 1,000.
func Clip(samples []int16, rate media.Rate) []int16 {
	s := newSpectral(max(rate, 1000))
	mean := s.a.meanNoise(samples)
	s.Reset()
	s.a.noise.seed(mean)

	// The end of a recording is pushed out by silence as long as the delay.
	hop := s.a.hop
	delay := len(s.a.window) - hop
	out := make([]int16, 0, len(samples)+delay+hop)
	last := make([]int16, hop)
	for at := 0; len(out) < len(samples)+delay; at += hop {
		in := last
		if at+hop <= len(samples) {
			in = samples[at : at+hop]
		} else {
			clear(last)
			copy(last, samples[min(at, len(samples)):])
		}
		out = out[:len(out)+hop]
		s.clean(out[len(out)-hop:], in)
	}
	return out[delay : delay+len(samples)]
}

// meanNoise is the mean of the noise estimate over the samples, without the first
// windows in which it settles where the recording is long enough; nil when there
// is nothing but silence.
func (a *Analyser) meanNoise(samples []int16) []float32 {
	sum := make([]float64, len(a.noise.psd))
	n := 0
	settle := min(2*a.noise.window, len(samples)/a.hop/2)
	for i := 0; len(samples) >= a.hop; i++ {
		a.take(samples[:a.hop])
		samples = samples[a.hop:]
		if i < settle || !a.noise.known() {
			continue
		}
		n++
		for k, v := range a.noise.psd {
			sum[k] += float64(v)
		}
	}
	if n == 0 {
		return nil
	}
	mean := make([]float32, len(sum))
	for k, v := range sum {
		mean[k] = float32(v / float64(n))
	}
	return mean
}
