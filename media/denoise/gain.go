package denoise

import "math"

// lsa maps v to exp(E1(v)/2), the factor by which the log-spectral amplitude
// estimator exceeds the Wiener gain (Ephraim and Malah 1985, eq. 20), by linear
// interpolation in a table of 16 steps an octave (error below 0.1 %).
type lsa [lsaSteps + 1]float32

const (
	lsaLow, lsaHigh = -14, 5 // octaves of v: outside, the nearest end serves
	lsaStepBits     = 4
	lsaSteps        = (lsaHigh - lsaLow) << lsaStepBits
	// lsaBase is the bit pattern of 2^lsaLow; float32 bits are linear in v within
	// an octave, so they are index and fraction at once.
	lsaBase  = (127 + lsaLow) << 23
	lsaShift = 23 - lsaStepBits
)

var lsaTable = newLSA()

func newLSA() *lsa {
	t := new(lsa)
	for i := range t {
		v := math.Float32frombits(uint32(lsaBase + i<<lsaShift))
		t[i] = float32(math.Exp(e1(float64(v)) / 2))
	}
	return t
}

// at is exp(E1(v)/2) for v >= 0.
func (t *lsa) at(v float32) float32 {
	x := int(math.Float32bits(v)) - lsaBase
	x = max(0, min(x, lsaSteps<<lsaShift-1))
	i := x >> lsaShift
	f := float32(x&(1<<lsaShift-1)) * (1.0 / (1 << lsaShift))
	return t[i] + f*(t[i+1]-t[i])
}

// e1 is the exponential integral, the integral of exp(-t)/t from v to infinity: by
// its power series near 0, by its continued fraction elsewhere (Abramowitz and
// Stegun 5.1.11 and 5.1.22).
func e1(v float64) float64 {
	const gamma = 0.57721566490153286
	if v < 1 {
		sum, term := -gamma-math.Log(v), 1.0
		for k := 1.0; k < 20; k++ {
			term *= -v / k
			sum -= term / k
		}
		return sum
	}
	f := v
	for k := 60.0; k >= 1; k-- {
		f = v + k/(1+k/f)
	}
	return math.Exp(-v) / f
}
