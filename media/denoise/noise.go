package denoise

import (
	"math"
	"time"
)

// Settings of the noise estimate.
const (
	// noiseWindow is how long the shortest memory of the minimum is; the longest
	// is twice that. A word, or the stretch between two breaths of a band, must
	// be shorter, or it is taken for noise.
	noiseWindow = 800 * time.Millisecond
	// powerMemory and noiseMemory are the time constants of the smoothed spectrum
	// whose minimum is tracked, and of the mean that becomes the estimate.
	powerMemory = 40 * time.Millisecond
	noiseMemory = 200 * time.Millisecond
	// minPowerDecay is the least smoothing from hop to hop, where a band is far
	// above the noise: there the smoothed power must fall as fast as a word ends,
	// or the minimum never sees the gaps between words (Martin 2001).
	minPowerDecay = 0.3
	// presentMemory is how long the belief that a band holds speech lasts.
	presentMemory = 15 * time.Millisecond
	// presentRatio is how far above its minimum a band must rise to be speech.
	presentRatio = 4
	// maxBias bounds the estimate by the minimum: the mean of noise is some 2 to 3
	// times the minimum over noiseWindow, so more must have been speech.
	maxBias = 4
)

// noise estimates the power spectrum of the background while people speak
// (minimum-controlled recursive averaging). Each band is averaged except while it
// stands well above the minimum of the last second or two; the average is bounded
// by that minimum, so that speech mistaken for noise is forgotten at its first gap.
type noise struct {
	psd []float32 // the estimate

	smooth  []float32 // short-time power, smoothed over time and neighbours
	low     []float32 // minimum of smooth over 1 to 2 windows
	lowNext []float32 // minimum of smooth since the window began
	present []float32 // probability of speech

	floor                                float32 // the estimate never goes below this
	powerDecay, noiseDecay, presentDecay float32
	window                               int // hops
	seen                                 int // hops the estimate rests on
	left                                 int // hops until the window ends
}

func newNoise(bins int, hop time.Duration, floor float32) *noise {
	decay := func(memory time.Duration) float32 {
		return float32(math.Exp(-float64(hop) / float64(memory)))
	}
	n := &noise{
		psd: make([]float32, bins), smooth: make([]float32, bins), low: make([]float32, bins),
		lowNext: make([]float32, bins), present: make([]float32, bins),
		floor:      floor,
		powerDecay: decay(powerMemory), noiseDecay: decay(noiseMemory), presentDecay: decay(presentMemory),
		window: int(noiseWindow / hop),
	}
	n.reset()
	return n
}

func (n *noise) reset() {
	n.seen = 0
	for k := range n.psd {
		n.psd[k] = n.floor
	}
}

// known says whether the estimate rests on any sound.
func (n *noise) known() bool { return n.seen > 0 }

// update takes the power spectrum of the next hop.
func (n *noise) update(power []float32) {
	if n.seen == 0 {
		n.start(power)
		return
	}
	n.seen++
	// In the first moments the estimate is a plain mean of all hops so far.
	memory := min(n.noiseDecay, float32(n.seen-1)/float32(n.seen))
	if n.left--; n.left == 0 {
		n.left = n.window
		copy(n.low, n.lowNext)
		copy(n.lowNext, n.smooth)
	}
	last := len(power) - 1
	before, here := power[1], power[0] // the spectrum mirrors itself at its ends
	for k, s := range n.smooth {
		after := before
		if k < last {
			after = power[k+1]
		}
		mean := 0.25*(before+after) + 0.5*here
		excess := s/n.psd[k] - 1
		decay := max(minPowerDecay, n.powerDecay/(1+excess*excess))
		s = mean + decay*(s-mean)
		n.smooth[k] = s
		low := min(n.low[k], s)
		n.low[k] = low
		n.lowNext[k] = min(n.lowNext[k], s)

		p := n.presentDecay * n.present[k]
		if s > presentRatio*low {
			p += 1 - n.presentDecay
		}
		n.present[k] = p
		d := memory + (1-memory)*p
		psd := here + d*(n.psd[k]-here)
		n.psd[k] = max(n.floor, min(psd, maxBias*low))
		before, here = here, after
	}
}

// start takes the first hop for noise, smoothed over enough neighbours that none
// of them is far from its mean.
func (n *noise) start(power []float32) {
	const reach = 4
	n.seen, n.left = 1, n.window
	for k := range power {
		from, to := max(0, k-reach), min(len(power), k+reach+1)
		var sum float32
		for _, p := range power[from:to] {
			sum += p
		}
		s := max(n.floor, sum/float32(to-from))
		n.psd[k], n.smooth[k], n.low[k], n.lowNext[k], n.present[k] = s, s, s, s, 0
	}
}

// seed starts the estimate at a spectrum that is known to be noise; nil leaves it
// to be found.
func (n *noise) seed(psd []float32) {
	if psd == nil {
		return
	}
	n.start(psd)
	copy(n.psd, psd)
	n.seen = n.window // no first moments: it is a mean already
}
