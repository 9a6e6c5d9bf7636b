// Package gtcrn runs the noise suppressor GTCRN in Go.
//
// The network is that of https://github.com/Xiaobin-Rong/gtcrn (Rong et al., "GTCRN: A Speech
// Enhancement Model Requiring Ultralow Computational Resources", ICASSP 2024), as it was trained on
// the data of DNS3. The bins of a short-time Fourier transform are merged into bands and go through an
// encoder of convolutions, two recurrent networks along frequency and time, and a decoder, which gives a
// complex mask. The sixteen channels of a layer are two halves of eight: most parts take one half alone, or
// each by itself.
//
// The weights, under the MIT licence, are read from a WebAssembly module that others made of the
// network (vendor/vendor.json). Only tests run the module: samples differ from its by 2e-6 of full
// scale at most.
package gtcrn

import (
	"math"

	"parley/media/fft"
)

const (
	// Hop is how many samples Process takes: 16 ms at 16 kHz.
	Hop = 256
	// Delay is by how many samples of 16 kHz what comes out is later than what went in.
	Delay = Hop

	size = 2 * Hop // of a window
	bins = size/2 + 1
)

// Stream is one stream of audio. It belongs to one goroutine, and only New allocates.
type Stream struct {
	*network
	fft      *fft.FFT
	taper    [size]float32 // square root of a Hann window, periodic
	window   [size]float32
	block    [size]float32
	overlap  [Hop]float32
	spectrum [bins]complex64

	features [(wide + 2*reach) * features]float32
	first    pair               // of the convolutions
	skips    [1 + blocks/2]pair // what the decoder adds to its layers
	turns    [2]pair
	last     pair
	mask     [masks]float32
	scratch  scratch

	blockStates [blocks]blockState
	states      [2]pair
}

// New begins a stream of 16 kHz.
func New() (*Stream, error) {
	n, err := load()
	if err != nil {
		return nil, err
	}
	s := &Stream{network: n, fft: fft.New(size), first: newPair(middle), last: newPair(middle), scratch: newScratch(),
		turns: [2]pair{newPair(width), newPair(width)}}
	for i := range s.taper {
		s.taper[i] = float32(math.Sin(math.Pi * float64(i) / size))
	}
	for i := range s.skips {
		s.skips[i] = newPair(width)
	}
	for i, b := range n.blocks {
		s.blockStates[i] = b.newState()
	}
	for i := range s.states {
		s.states[i] = newStates()
	}
	return s, nil
}

// Reset forgets everything heard.
func (s *Stream) Reset() {
	clear(s.window[:])
	clear(s.overlap[:])
	for i := range s.blockStates {
		s.blockStates[i].reset()
	}
	for _, p := range s.states {
		p.clear()
	}
}

// Process takes the next Hop samples, -1 to 1, and writes as many to out, Delay later. Both may be
// the same slice.
func (s *Stream) Process(out, in []float32) {
	copy(s.window[:], s.window[Hop:])
	copy(s.window[Hop:], in[:Hop])
	for i, w := range s.taper {
		s.block[i] = w * s.window[i]
	}
	s.fft.Forward(s.spectrum[:], s.block[:])
	s.analyse()
	s.run()
	s.apply()
	s.fft.Inverse(s.block[:], s.spectrum[:])
	for i := range s.overlap {
		out[i] = s.overlap[i] + s.taper[i]*s.block[i]
		s.overlap[i] = s.taper[Hop+i] * s.block[Hop+i]
	}
}

// analyse finds the features of the spectrum.
func (s *Stream) analyse() {
	x := s.features[reach*features:]
	for k, z := range s.spectrum[:low] {
		*(*[features]float32)(x[k*features:]) = [features]float32{magnitude(z), real(z), imag(z)}
	}
	x = x[low*features:]
	for k, b := range s.bands {
		var sum [features]float32
		for i, z := range s.spectrum[low+b.first:][:len(b.weights)] {
			w := b.weights[i]
			sum[0] += w * magnitude(z)
			sum[1] += w * real(z)
			sum[2] += w * imag(z)
		}
		*(*[features]float32)(x[k*features:]) = sum
	}
}

// run makes the mask of the features.
func (s *Stream) run() {
	t := &s.scratch
	s.stem.run(s.first, s.features[:])
	for half := range s.second {
		s.second[half].narrow(s.skips[0][half], s.first[half])
	}
	for i := range blocks / 2 {
		s.blocks[i].run(s.skips[i+1], s.skips[i], &s.blockStates[i], t)
	}
	x, y := s.turns[0], s.turns[1]
	for half := range x {
		copy(x[half], s.skips[blocks/2][half])
	}
	for i, d := range s.duals {
		d.run(x, s.states[i], t)
	}
	for i := range blocks / 2 {
		x.plus(s.skips[blocks/2-i])
		s.blocks[blocks/2+i].run(y, x, &s.blockStates[blocks/2+i], t)
		x, y = y, x
	}
	x.plus(s.skips[0])
	for half := range s.third {
		s.third[half].widen(s.last[half], x[half])
	}
	s.last.plus(s.first)
	s.head.run(&s.mask, s.last)
}

// apply multiplies the spectrum with the mask. The transform back leaves out the imaginary parts of the
// first and the last bin.
func (s *Stream) apply() {
	for k, z := range s.spectrum[:low] {
		s.spectrum[k] = z * complex(s.mask[2*k], s.mask[2*k+1])
	}
	for k, b := range s.spread {
		var re, im float32
		from := s.mask[2*(low+b.first):]
		for i, w := range b.weights {
			re += w * from[2*i]
			im += w * from[2*i+1]
		}
		s.spectrum[low+k] *= complex(re, im)
	}
}
