package denoise

import "parley/media"

// spectral is the default suppressor: an Analyser whose gains are applied, and
// windows that overlap and add up again to the signal when the gains are 1.
type spectral struct {
	a       *Analyser
	overlap []float32 // the sum of the windows so far, from the first sample not yet given out
	scale   float32   // what tapering twice and overlapping multiplies the signal with, inverted
	out     []int16
}

func newSpectral(rate media.Rate) *spectral {
	a := NewAnalyser(rate)
	return &spectral{
		a:       a,
		overlap: make([]float32, len(a.window)),
		scale:   2 * float32(a.hop) / float32(len(a.window)),
		out:     make([]int16, rate.FrameSamples()),
	}
}

func (s *spectral) Analysis() *Analysis { return &s.a.out }

// Delay is the window less the hop: a sample waits until the last window that holds
// it is complete.
func (s *spectral) Delay() media.Time {
	return s.a.rate.Duration(len(s.a.window) - s.a.hop)
}

func (s *spectral) Reset() {
	s.a.Reset()
	clear(s.overlap)
}

// Process cleans one frame of 20 ms at the suppressor's rate. The samples of the
// argument stay as they are.
func (s *spectral) Process(f media.Frame) media.Frame {
	hop := s.a.hop
	n := min(len(f.Samples), len(s.out)) / hop * hop
	for i := 0; i < n; i += hop {
		s.clean(s.out[i:i+hop], f.Samples[i:i+hop])
	}
	s.a.conclude()
	f.Samples = s.out[:n]
	return f
}

// clean takes one hop and gives out the one that is complete by it.
func (s *spectral) clean(out, in []int16) {
	a := s.a
	a.take(in)
	for k, g := range a.gain {
		a.spectrum[k] = complex(g*real(a.spectrum[k]), g*imag(a.spectrum[k]))
	}
	a.fft.Inverse(a.block, a.spectrum)
	for i, w := range a.taper {
		s.overlap[i] += s.scale * w * a.block[i]
	}
	for i := range out {
		out[i] = round(s.overlap[i])
	}
	rest := copy(s.overlap, s.overlap[len(out):])
	clear(s.overlap[rest:])
}

// round is the nearest 16-bit sample.
func round(v float32) int16 {
	v = max(-32768, min(32767, v))
	if v < 0 {
		return int16(v - 0.5)
	}
	return int16(v + 0.5)
}
