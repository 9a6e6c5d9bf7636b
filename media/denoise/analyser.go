package denoise

import (
	"math"
	"time"

	"parley/media"
	"parley/media/fft"
)

// Settings of the analysis. Levels are in dBFS of white noise.
const (
	// silence is the level below which a hop says nothing about the line: mu-law
	// and A-law idle patterns, comfort noise not yet begun, a muted microphone.
	// Learning from it would make the first hiss after it look like speech.
	silence = -70
	// noiseFloor is the least noise assumed: what is below it is not worth removing.
	noiseFloor = -80
	// priorMemory is the time constant of the decision-directed prior: longer
	// makes residual noise smoother and onsets duller. At 250 ms a recogniser gets
	// a third more of the words wrong in noise, and some of a quiet line too.
	priorMemory = 50 * time.Millisecond
	minPrior    = 0.0032 // -25 dB
	maxPost     = 1e4    // +40 dB, so that a product of eight stays a float32
	// minGain is how far noise is lowered at most, -12 dB: more makes the residue
	// of what remains audible as tones and costs words.
	minGain = 0.25
	// Speech shows itself between these frequencies, in Hz.
	speechLow, speechHigh = 100, 5500
)

// Analyser splits audio into overlapping windows of 20 ms and tells speech from noise
// in each. A window starts every 10 ms, but every 6.7 ms at 22,050 Hz, where 10 ms
// are no whole number of samples. It belongs to one goroutine.
type Analyser struct {
	rate   media.Rate
	hop    int // new samples in each window
	window []float32
	taper  []float32 // square root of a Hann window: applied here and in synthesis

	fft      *fft.FFT
	block    []float32 // tapered window, padded with zeros
	spectrum []complex64
	power    []float32
	gain     []float32 // what each bin should be multiplied with
	prior    []float32 // cleaned power over noise, of the hop before
	noise    *noise

	low, high  int     // bins of speech
	alpha      float32 // of the prior
	toSquare   float64 // from a sum of power over the bins to the mean square
	silenceSum float32 // sum of squared samples of a hop at the silence level
	loud       int     // hops since the last silent one, up to window/hop
	sums       sums
	out        Analysis
}

// sums collects what Analysis says of a frame.
type sums struct {
	hops, known          int
	llr, least           float32
	speech, input, noise float64
}

// NewAnalyser makes an analyser for a valid rate.
func NewAnalyser(rate media.Rate) *Analyser {
	hop, size := geometry(rate)
	n := fft.Length(size)
	bins := n/2 + 1
	length := time.Duration(hop) * time.Second / time.Duration(rate)
	a := &Analyser{
		rate: rate, hop: hop, fft: fft.New(n),
		window: make([]float32, size), taper: make([]float32, size), block: make([]float32, n),
		spectrum: make([]complex64, bins), power: make([]float32, bins),
		gain: make([]float32, bins), prior: make([]float32, bins),
		low:        max(1, speechLow*n/int(rate)),
		high:       min(bins, speechHigh*n/int(rate)+1),
		alpha:      float32(math.Exp(-float64(length) / float64(priorMemory))),
		silenceSum: float32(square(silence) * float64(hop)),
	}
	energy := 0.0
	for i := range a.taper {
		w := math.Sin(math.Pi * (float64(i) + 0.5) / float64(size))
		a.taper[i] = float32(w)
		energy += w * w
	}
	a.toSquare = 2 / (float64(n) * energy)
	a.noise = newNoise(bins, length, float32(square(noiseFloor)*energy))
	a.Reset()
	return a
}

// geometry is the hop and the window for a rate, such that a 20 ms frame is a whole
// number of hops wherever it is a whole number of samples.
func geometry(rate media.Rate) (hop, window int) {
	frame := max(2, int(rate)/50)
	if frame%2 != 0 && frame%3 == 0 {
		return frame / 3, frame
	}
	return frame / 2, frame / 2 * 2
}

// Reset forgets everything heard.
func (a *Analyser) Reset() {
	clear(a.window)
	clear(a.prior)
	a.loud = 0
	a.noise.reset()
	a.sums = sums{}
	a.out = Analysis{Level: MinLevel, Input: MinLevel, Noise: MinLevel}
}

// Analyse looks at the next frame, which must be 20 ms long and have the analyser's
// rate; samples that are no whole hop are ignored. The pointer is always the same;
// the value changes with the next call.
func (a *Analyser) Analyse(f media.Frame) *Analysis {
	for in := f.Samples; len(in) >= a.hop; in = in[a.hop:] {
		a.take(in[:a.hop])
	}
	return a.conclude()
}

// take moves the window by one hop and finds its spectrum and gains.
func (a *Analyser) take(in []int16) {
	copy(a.window, a.window[a.hop:])
	end := a.window[len(a.window)-a.hop:]
	var energy float32
	for i, s := range in {
		v := float32(s)
		end[i] = v
		energy += v * v
	}
	for i, w := range a.taper {
		a.block[i] = w * a.window[i]
	}
	a.fft.Forward(a.spectrum, a.block)
	for k, z := range a.spectrum {
		a.power[k] = real(z)*real(z) + imag(z)*imag(z)
	}
	// A window learns only if none of its hops is silent: half a window of noise
	// is half as loud.
	full := len(a.window) / a.hop
	if energy < a.silenceSum {
		a.loud = 0
	} else {
		a.loud = min(a.loud+1, full)
	}
	if a.loud == full {
		a.noise.update(a.power)
	}
	a.weigh()
}

// weigh finds the gains from the power and the noise, and adds to the sums.
func (a *Analyser) weigh() {
	var speech, input, background float64
	var llr float32
	odds := float32(1) // product of 1+prior: one logarithm serves eight bins
	logs := 0.0
	for k, p := range a.power {
		n := a.noise.psd[k]
		post := min(p/n, maxPost)
		prior := max(minPrior, a.alpha*a.prior[k]+(1-a.alpha)*max(post-1, 0))
		wiener := prior / (1 + prior)
		v := wiener * post
		g := min(1, wiener*lsaTable.at(v))
		a.prior[k] = g * g * post
		g = max(g, minGain)
		a.gain[k] = g
		speech += float64(g * g * p)
		input += float64(p)
		background += float64(n)
		if k >= a.low && k < a.high {
			llr += v
			odds *= 1 + prior
			if k&7 == 0 {
				logs += math.Log(float64(odds))
				odds = 1
			}
		}
	}
	s := &a.sums
	s.hops++
	s.speech += speech
	s.input += input
	s.noise += background
	if a.noise.known() {
		logs += math.Log(float64(odds))
		s.known++
		ratio := (llr - float32(logs)) / float32(a.high-a.low)
		if s.known == 1 || ratio < s.least {
			s.least = ratio
		}
		s.llr += ratio
	}
}

// conclude turns the sums into the analysis of the frame.
func (a *Analyser) conclude() *Analysis {
	s := a.sums
	a.sums = sums{}
	to := a.toSquare / float64(max(s.hops, 1))
	a.out = Analysis{
		Least: s.least,
		LLR:   s.llr / float32(max(s.known, 1)),
		Level: level(s.speech * to),
		Input: level(s.input * to),
		Noise: level(s.noise * to),
	}
	return &a.out
}

// level is a mean square of 16-bit samples in dBFS.
func level(square float64) float32 {
	return max(MinLevel, float32(10*math.Log10(square/(1<<30)+1e-20)))
}

// square is the reverse of level.
func square(dbfs float64) float64 { return (1 << 30) * math.Pow(10, dbfs/10) }
