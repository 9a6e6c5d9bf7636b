package mediatest

import (
	"math"
	"math/bits"
	"math/cmplx"

	"parley/media"
)

// Peak finds the strongest frequency in samples, in hertz, and its level as Level
// gives it. The frequency is right within a tenth of rate/len(samples) for a lone
// tone, the level within 0.2 dB; direct current is ignored. Silence has no peak:
// it gives 0 and -Inf.
func Peak(samples []int16, rate media.Rate) (freq, level float64) {
	power := Spectrum(samples)
	best := 1
	for k := range power {
		if k >= 1 && power[k] > power[best] {
			best = k
		}
	}
	if len(power) < 3 || power[best] == 0 {
		return 0, math.Inf(-1)
	}
	shift, top := 0.0, math.Log(power[best])
	if best+1 < len(power) && power[best-1] > 0 && power[best+1] > 0 {
		// The window's main lobe is close to a parabola in decibels.
		a, b, c := math.Log(power[best-1]), top, math.Log(power[best+1])
		shift = (a - c) / (a - 2*b + c) / 2
		top -= (a - c) * shift / 4
	}
	n := float64(2 * (len(power) - 1))
	return (float64(best) + shift) * float64(rate) / n, 10 * top / math.Ln10
}

// Spectrum is the power of samples in bins of equal width from 0 to half the
// rate, relative to full scale and so that a lone tone's bin holds its whole
// power. Samples are Hann windowed and padded with silence to twice a power of
// two.
func Spectrum(samples []int16) []float64 {
	if len(samples) == 0 {
		return nil
	}
	n := 2 << bits.Len(uint(len(samples)-1))
	x := make([]complex128, n)
	gain := 0.0
	for i, s := range samples {
		w := 0.5 - 0.5*math.Cos(2*math.Pi*(float64(i)+0.5)/float64(len(samples)))
		gain += w
		x[i] = complex(w*float64(s)/fullScale, 0)
	}
	fft(x)
	power := make([]float64, n/2+1)
	for k := range power {
		a := cmplx.Abs(x[k]) / gain
		power[k] = 2 * a * a
	}
	return power
}

// fft transforms x, whose length is a power of two, in place (Cooley and Tukey,
// decimation in time).
func fft(x []complex128) {
	n := len(x)
	shift := bits.LeadingZeros(uint(n-1)) & (bits.UintSize - 1)
	for i := range x {
		if j := int(bits.Reverse(uint(i)) >> shift); j > i {
			x[i], x[j] = x[j], x[i]
		}
	}
	for size := 2; size <= n; size *= 2 {
		for k := range size / 2 {
			w := cmplx.Rect(1, -2*math.Pi*float64(k)/float64(size))
			for i := k; i < n; i += size {
				a, b := x[i], w*x[i+size/2]
				x[i], x[i+size/2] = a+b, a-b
			}
		}
	}
}
