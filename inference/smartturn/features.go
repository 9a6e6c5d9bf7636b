package smartturn

import (
	"math"

	"parley/media/fft"
)

// What the network is shown: 8 s of sound at 16 kHz as the logarithm of its power in 80 bands,
// 100 times a second, as Whisper has it (Radford et al. 2022, section 2.2).
const (
	Samples = 8 * 16000
	Bands   = 80
	Frames  = Samples / hop

	window  = 400 // 25 ms
	hop     = 160 // 10 ms
	bins    = window/2 + 1
	nyquist = 8000 // Hz
)

// Features makes them of speech. It belongs to one goroutine.
type Features struct {
	fft      *fft.FFT
	hann     [window]float32
	bands    [Bands]band
	padded   []float32 // the samples, mirrored at both ends by half a window
	block    [window]float32
	spectrum [bins]complex64
	out      []float32
}

// band is a triangle over bins of the spectrum.
type band struct {
	first   int
	weights []float32
}

// NewFeatures prepares tables.
func NewFeatures() *Features {
	f := &Features{fft: fft.New(window), padded: make([]float32, Samples+window), out: make([]float32, Bands*Frames)}
	for i := range f.hann {
		f.hann[i] = float32(0.5 - 0.5*math.Cos(2*math.Pi*float64(i)/window))
	}
	var edges [Bands + 2]float64 // of the triangles, in Hz
	for i := range edges {
		edges[i] = hertz(mel(nyquist) * float64(i) / (Bands + 1))
	}
	for i := range f.bands {
		low, middle, high := edges[i], edges[i+1], edges[i+2]
		b := &f.bands[i]
		for k := range bins {
			at := float64(k) * nyquist / (bins - 1)
			height := min((at-low)/(middle-low), (high-at)/(high-middle))
			if height <= 0 {
				continue
			}
			if b.weights == nil {
				b.first = k
			}
			b.weights = append(b.weights, float32(height*2/(high-low)))
		}
	}
	return f
}

// Slaney's mel scale (Auditory Toolbox, 1998): linear up to 1 kHz, which is 15, logarithmic above.
var melsPerLog = 27 / math.Log(6.4)

func mel(hertz float64) float64 {
	if hertz < 1000 {
		return hertz * 3 / 200
	}
	return 15 + math.Log(hertz/1000)*melsPerLog
}

func hertz(mel float64) float64 {
	if mel < 15 {
		return mel * 200 / 3
	}
	return 1000 * math.Exp((mel-15)/melsPerLog)
}

// Of returns the features of the last 8 s of speech, band by band; where there is less, silence
// is before it. They are good until the next call.
func (f *Features) Of(speech []int16) []float32 {
	f.take(speech[max(0, len(speech)-Samples):])
	// The networks of the Whisper family are shown no more than eight powers of ten below the
	// loudest, and nothing below 1e-10.
	const floor, under = -10, 8
	loudest := float32(floor)
	for n := range Frames {
		for i := range f.block {
			f.block[i] = f.padded[n*hop+i] * f.hann[i]
		}
		f.fft.Forward(f.spectrum[:], f.block[:])
		for i := range f.bands {
			b, power := &f.bands[i], float32(0)
			for k, w := range b.weights {
				z := f.spectrum[b.first+k]
				power += w * (real(z)*real(z) + imag(z)*imag(z))
			}
			level := float32(max(floor, math.Log10(float64(power))))
			f.out[i*Frames+n], loudest = level, max(loudest, level)
		}
	}
	for i, level := range f.out {
		f.out[i] = (max(level, loudest-under) + 4) / 4
	}
	return f.out
}

// take puts speech into padded, with a mean of 0 and a variance of 1 over the 8 s.
func (f *Features) take(speech []int16) {
	x := f.padded[window/2 : window/2+Samples]
	clear(x)
	for i, v := range speech {
		x[len(x)-len(speech)+i] = float32(v) / 32768
	}
	var sum, squares float64
	for _, v := range x {
		sum += float64(v)
	}
	mean := sum / Samples
	for _, v := range x {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	scale := 1 / math.Sqrt(squares/Samples+1e-7)
	for i, v := range x {
		x[i] = float32((float64(v) - mean) * scale)
	}
	for i := range window / 2 { // mirrored, the last sample itself not
		f.padded[window/2-1-i] = x[1+i]
		f.padded[window/2+Samples+i] = x[Samples-2-i]
	}
}
