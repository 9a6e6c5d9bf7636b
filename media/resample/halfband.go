package resample

import (
	"math"
	"sync"
)

// halfTaps is the number of different coefficients of the half-band filter. Its
// impulse response has 4*halfTaps-1 samples at the higher rate; every second is
// zero except the one in the middle, and the rest are symmetrical: halfTaps
// multiplications give one sample.
const (
	halfTaps = 20
	branch   = 2 * halfTaps // taps of the branch that is not the middle one
	halfBeta = 8.6          // Kaiser window: stop band 87 dB down
)

// halfBand is one half of the symmetrical branch, outermost coefficient first. The
// whole branch sums to 1, as does the middle tap: the gain of a doubler.
var halfBand = sync.OnceValue(func() *[halfTaps]float32 {
	var h [halfTaps]float64
	sum := 0.0
	for k := range h {
		t := float64(branch - 1 - 2*k) // distance from the middle, at the higher rate
		h[k] = sinc(t/2) * kaiser(t/branch, halfBeta)
		sum += 2 * h[k]
	}
	var c [halfTaps]float32
	for k := range h {
		c[k] = float32(h[k] / sum)
	}
	return &c
})

// interpolate runs the branch over x: y[n] comes from x[n:n+branch]. Four outputs
// at a time share the coefficients and keep four sums in flight. len(y) is a
// multiple of 4 and x is branch-1 longer.
func interpolate(y, x []float32, h *[halfTaps]float32) {
	for n := 0; n+4 <= len(y); n += 4 {
		w := (*[branch + 3]float32)(x[n:])
		var s0, s1, s2, s3 float32
		for k := range halfTaps {
			c := h[k]
			s0 += c * (w[k] + w[branch-1-k])
			s1 += c * (w[k+1] + w[branch-k])
			s2 += c * (w[k+2] + w[branch+1-k])
			s3 += c * (w[k+3] + w[branch+2-k])
		}
		q := (*[4]float32)(y[n:])
		q[0], q[1], q[2], q[3] = s0, s1, s2, s3
	}
}

// roundUp4 is n made a multiple of 4.
func roundUp4(n int) int { return (n + 3) &^ 3 }

// doubler doubles the rate: odd outputs are the inputs, unchanged, and even ones
// lie between two inputs.
type doubler struct {
	h *[halfTaps]float32
	n int       // input samples in a block
	x []float32 // branch-1 of history, then a block and its rounding to 4
	y []float32
}

func newDoubler(n int) *doubler {
	m := roundUp4(n)
	return &doubler{h: halfBand(), n: n, x: make([]float32, branch-1+m), y: make([]float32, m)}
}

func (d *doubler) convert(dst, src []int16) {
	widen(d.x[branch-1:][:d.n], src)
	interpolate(d.y, d.x, d.h)
	middle := d.x[branch/2:][:d.n]
	y := d.y[:d.n]
	dst = dst[:2*d.n]
	for i, s := range middle {
		dst[2*i] = narrow(y[i])
		dst[2*i+1] = int16(s)
	}
	copy(d.x, d.x[d.n:][:branch-1])
}

func (d *doubler) prime(samples []int16) { fill(d.x[:branch-1], samples) }

// delay is 39 samples of the output.
func (d *doubler) delay() (in, out int) { return halfTaps - 1, 1 }

// halver halves the rate. It keeps the odd input samples, which the branch
// filters, apart from the even ones, which only the middle tap sees.
type halver struct {
	h    *[halfTaps]float32
	n    int       // output samples in a block
	odd  []float32 // branch-1 of history, then a block and its rounding to 4
	even []float32 // halfTaps-1 of history, then a block
	y    []float32
}

func newHalver(n int) *halver {
	m := roundUp4(n / 2)
	return &halver{
		h: halfBand(), n: n / 2,
		odd:  make([]float32, branch-1+m),
		even: make([]float32, halfTaps-1+n/2),
		y:    make([]float32, m),
	}
}

func (d *halver) convert(dst, src []int16) {
	odd, even := d.odd[branch-1:][:d.n], d.even[halfTaps-1:][:d.n]
	d.split(odd, even, src)
	interpolate(d.y, d.odd, d.h)
	dst, y, middle := dst[:d.n], d.y[:d.n], d.even[:d.n]
	for i := range dst {
		dst[i] = narrow((y[i] + middle[i]) / 2)
	}
	copy(d.odd, d.odd[d.n:][:branch-1])
	copy(d.even, d.even[d.n:])
}

// split separates a block into its odd and even samples, silence where src ends.
func (d *halver) split(odd, even []float32, src []int16) {
	k := min(len(src)/2, d.n)
	for i := range k {
		even[i], odd[i] = float32(src[2*i]), float32(src[2*i+1])
	}
	clear(even[k:])
	clear(odd[k:])
	if k < d.n && len(src)%2 == 1 {
		even[k] = float32(src[2*k])
	}
}

func (d *halver) prime(samples []int16) {
	clear(d.odd)
	clear(d.even)
	// The last sample of the history is odd: they alternate backwards from it.
	for i := range samples {
		s := float32(samples[len(samples)-1-i])
		if i%2 == 0 {
			d.odd[branch-2-i/2] = s
		} else {
			d.even[halfTaps-2-i/2] = s
		}
	}
}

// delay is 19 samples of the output. It is one input sample less than for the
// doubler because the last input of a block is not in the middle of any output.
func (d *halver) delay() (in, out int) { return 2*halfTaps - 2, 0 }

// fill makes a history of silence that ends in samples.
func fill(history []float32, samples []int16) {
	at := len(history) - len(samples)
	clear(history[:at])
	widen(history[at:], samples)
}

// sinc is sin(pi x)/(pi x).
func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	return math.Sin(math.Pi*x) / (math.Pi * x)
}

// kaiser is the Kaiser window at x, where it spans (-1, 1).
func kaiser(x, beta float64) float64 {
	if x <= -1 || x >= 1 {
		return 0
	}
	return bessel0(beta*math.Sqrt(1-x*x)) / bessel0(beta)
}

// bessel0 is the modified Bessel function of the first kind and order zero, by
// its power series.
func bessel0(x float64) float64 {
	sum, term := 1.0, 1.0
	for k := 1.0; term > sum*1e-17; k++ {
		term *= (x / 2 / k) * (x / 2 / k)
		sum += term
	}
	return sum
}
