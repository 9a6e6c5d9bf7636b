// Package silero runs the voice activity detector Silero VAD, version 5, in Go.
//
// The network is that of https://github.com/snakers4/silero-vad: the magnitudes of a short-time
// Fourier transform, four convolutions, an LSTM cell and one output. Its weights, under the MIT
// licence, are embedded as they were published (vendor/vendor.json). The transform of the
// published graph is a convolution with sines under a Hann window; a fast Fourier transform gives
// the same. Probabilities differ from those of ONNX Runtime by less than 1e-4.
package silero

import (
	_ "embed"
	"fmt"
	"math"
	"sync"

	"parley/media"
	"parley/media/fft"
)

//go:embed vendor/silero_vad_v5.onnx
var file []byte

// ChunkTime is how much audio a probability is about, in ms.
const ChunkTime = 32

const (
	frames = 4 // of the transform, in a chunk
	cells  = 128
)

// weights are the network for one rate.
type weights struct {
	size   int // samples of a frame of the transform; they overlap by half
	window []float32
	convs  [4]convolution
	lstm   dense // of the last convolution's output and the state, to the four gates
	out    []float32
	bias   float32
}

// convolution has three taps and zeros at the ends.
type convolution struct {
	dense
	in, stride int
}

var load = sync.OnceValues(func() (map[media.Rate]*weights, error) {
	all, err := tensors(file)
	if err != nil {
		return nil, err
	}
	wide, err := newWeights(all, "If_0_then_branch__Inline_0__", 256)
	if err != nil {
		return nil, err
	}
	narrow, err := newWeights(all, "If_0_else_branch__Inline_0__", 128)
	return map[media.Rate]*weights{media.Rate16k: wide, media.Rate8k: narrow}, err
})

func newWeights(all map[string][]float32, prefix string, size int) (*weights, error) {
	w := &weights{size: size, window: make([]float32, size)}
	for i := range w.window {
		w.window[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/float64(size)))
	}
	var missing string
	get := func(name string, n int) []float32 {
		t := all[prefix+name]
		if len(t) != n {
			missing = name
			return make([]float32, n)
		}
		return t
	}
	in := size/2 + 1
	for i, c := range []struct{ out, stride int }{{128, 1}, {64, 2}, {64, 2}, {128, 1}} {
		name := fmt.Sprintf("encoder.%d.reparam_conv.", i)
		taps := get(name+"weight", c.out*in*3)
		rows := make([]float32, len(taps))
		for o := range c.out { // the file has the taps of an input together; windows of frames have all inputs of a tap
			for k := range in {
				for tap := range 3 {
					rows[(o*3+tap)*in+k] = taps[(o*in+k)*3+tap]
				}
			}
		}
		w.convs[i] = convolution{newDense(rows, get(name+"bias", c.out)), in, c.stride}
		in = c.out
	}
	ih, hh := get("decoder.rnn.weight_ih", 4*cells*cells), get("decoder.rnn.weight_hh", 4*cells*cells)
	bias, hidden := get("decoder.rnn.bias_ih", 4*cells), get("decoder.rnn.bias_hh", 4*cells)
	rows, sum := make([]float32, 0, len(ih)+len(hh)), make([]float32, 4*cells)
	for o := range sum {
		rows = append(append(rows, ih[o*cells:][:cells]...), hh[o*cells:][:cells]...)
		sum[o] = bias[o] + hidden[o]
	}
	w.lstm = newDense(rows, sum)
	w.out, w.bias = get("decoder.decoder.2.weight", cells), get("decoder.decoder.2.bias", 1)[0]
	if missing != "" {
		return nil, fmt.Errorf("%w: %s", errFile, missing)
	}
	return w, nil
}

// Stream is one stream of audio. It belongs to one goroutine, and only New allocates.
type Stream struct {
	*weights
	fft      *fft.FFT
	samples  []float32 // the end of the chunk before, the chunk, and its end mirrored
	block    []float32
	spectrum []complex64
	layers   [4][]float32 // the input of each convolution, frame by frame, with a frame of zeros at both ends
	input    []float32    // of the LSTM: the encoded chunk, then the state h
	gates    []float32
	cell     []float32
}

// New begins a stream of 8 or 16 kHz.
func New(rate media.Rate) (*Stream, error) {
	all, err := load()
	if err != nil {
		return nil, err
	}
	w := all[rate]
	if w == nil {
		return nil, fmt.Errorf("silero: no weights for %v", rate)
	}
	s := &Stream{weights: w, fft: fft.New(w.size), samples: make([]float32, frames*w.size/2+w.size/2),
		block: make([]float32, w.size), spectrum: make([]complex64, w.size/2+1),
		input: make([]float32, 2*cells), gates: make([]float32, 4*cells), cell: make([]float32, cells)}
	for i, n := 0, frames; i < len(s.layers); i++ {
		s.layers[i] = make([]float32, (n+2)*w.convs[i].in)
		n = (n + w.convs[i].stride - 1) / w.convs[i].stride
	}
	return s, nil
}

// Chunk is how many samples Probability wants: 32 ms.
func (s *Stream) Chunk() int { return 2 * s.size }

// Reset forgets everything heard.
func (s *Stream) Reset() {
	clear(s.samples)
	clear(s.input)
	clear(s.cell)
}

// Probability takes the next chunk and says how likely someone speaks in it, 0 to 1. It keeps
// nothing of chunk.
func (s *Stream) Probability(chunk []int16) float32 {
	context := s.size / 4
	n := context + len(chunk)
	copy(s.samples, s.samples[n-context:n])
	for i, v := range chunk {
		s.samples[context+i] = float32(v) / 32768
	}
	for i := range context {
		s.samples[n+i] = s.samples[n-2-i]
	}
	s.transform()
	for i := range s.convs {
		c := &s.convs[i]
		from, to, at := s.layers[i], s.input[:cells], 0
		if i+1 < len(s.layers) {
			to, at = s.layers[i+1], c.rows()
		}
		for k := 0; k+3*c.in <= len(from); k += c.stride * c.in {
			c.times(to[at:][:c.rows()], from[k:][:3*c.in])
			for j, v := range to[at:][:c.rows()] {
				to[at+j] = max(v, 0)
			}
			at += c.rows()
		}
	}
	return s.decode()
}

// transform writes the magnitudes of the frames to the first layer.
func (s *Stream) transform() {
	bins := s.layers[0][s.convs[0].in:]
	for f := range frames {
		for i, v := range s.samples[f*s.size/2:][:s.size] {
			s.block[i] = v * s.window[i]
		}
		s.fft.Forward(s.spectrum, s.block)
		for k, z := range s.spectrum {
			bins[k] = float32(math.Sqrt(float64(real(z)*real(z) + imag(z)*imag(z))))
		}
		bins = bins[len(s.spectrum):]
	}
}

// decode is the LSTM cell, whose gates stand in the order input, forget, cell, output, and the output.
func (s *Stream) decode() float32 {
	s.lstm.times(s.gates, s.input)
	sum := s.bias
	for i := range s.cell {
		in, forget, value, out := s.gates[i], s.gates[cells+i], s.gates[2*cells+i], s.gates[3*cells+i]
		c := sigmoid(forget)*s.cell[i] + sigmoid(in)*tanh(value)
		h := sigmoid(out) * tanh(c)
		s.cell[i], s.input[cells+i] = c, h
		sum += max(h, 0) * s.out[i]
	}
	return sigmoid(sum)
}

func sigmoid(x float32) float32 { return float32(1 / (1 + math.Exp(-float64(x)))) }

func tanh(x float32) float32 { return 2*sigmoid(2*x) - 1 }
