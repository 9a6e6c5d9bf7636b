// Package mediatest is what tests of audio need: tones and how to find them
// again, a check that a function does not allocate, a packet network in memory
// that loses and reorders by seed, and the suite that every media.Leg passes.
//
// Nothing but tests imports it.
package mediatest

import (
	"math"

	"parley/media"
)

// fullScale is the amplitude that 0 dBFS stands for.
const fullScale = 32768

// Tone returns n samples of a sine of freq hertz that starts at phase 0.
// Amplitude is a fraction of full scale, 0 to 1.
func Tone(freq float64, rate media.Rate, n int, amplitude float64) []int16 {
	samples := make([]int16, n)
	fillTone(samples, freq, rate, 0, amplitude)
	return samples
}

// fillTone fills samples with a tone from its sample number first on.
func fillTone(samples []int16, freq float64, rate media.Rate, first int, amplitude float64) {
	w := 2 * math.Pi * freq / float64(rate)
	for i := range samples {
		v := math.Round(fullScale * amplitude * math.Sin(w*float64(first+i)))
		samples[i] = int16(max(-fullScale, min(v, fullScale-1)))
	}
}

// Level is the root mean square of samples in dB relative to full scale: 0 for a
// square wave that is as loud as can be, -3.01 for such a sine (dBov in ITU-T
// G.100.1), -Inf for digital silence.
func Level(samples []int16) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return decibels(sum/float64(max(1, len(samples))), fullScale*fullScale)
}

// SNR is the power of the sine of freq hertz in samples over the power of all
// else but a constant offset, in dB. Amplitude and phase are fitted by least
// squares, so samples need not hold whole periods, but some tens of them.
func SNR(samples []int16, rate media.Rate, freq float64) float64 {
	signal, rest := fitTone(samples, rate, freq)
	return decibels(signal, rest)
}

// ToneLevel is the root mean square of the sine of freq hertz in samples, as
// Level gives it, whatever else there is.
func ToneLevel(samples []int16, rate media.Rate, freq float64) float64 {
	signal, _ := fitTone(samples, rate, freq)
	return decibels(signal, fullScale*fullScale)
}

func decibels(power, reference float64) float64 { return 10 * math.Log10(power/reference) }

// fitTone splits the mean power of samples into that of a sine of freq and that
// of the rest, after fitting cosine, sine and a constant together.
func fitTone(samples []int16, rate media.Rate, freq float64) (signal, rest float64) {
	w := 2 * math.Pi * freq / float64(rate)
	base := func(i int) [3]float64 {
		sin, cos := math.Sincos(w * float64(i))
		return [3]float64{cos, sin, 1}
	}
	var m [3][4]float64 // the normal equations
	for i, s := range samples {
		b := base(i)
		for r := range 3 {
			for c := range 3 {
				m[r][c] += b[r] * b[c]
			}
			m[r][3] += b[r] * float64(s)
		}
	}
	x := solve(m)
	for i, s := range samples {
		b := base(i)
		tone := x[0]*b[0] + x[1]*b[1]
		r := float64(s) - tone - x[2]
		signal += tone * tone
		rest += r * r
	}
	n := float64(max(1, len(samples)))
	return signal / n, rest / n
}

// solve is Gauss-Jordan elimination; the matrix is symmetrical and positive
// definite, so it needs no pivoting.
func solve(m [3][4]float64) (x [3]float64) {
	for p := range 3 {
		for r := range 3 {
			if r == p {
				continue
			}
			f := m[r][p] / m[p][p]
			for c := p; c < 4; c++ {
				m[r][c] -= f * m[p][c]
			}
		}
	}
	for r := range 3 {
		x[r] = m[r][3] / m[r][r]
	}
	return x
}
