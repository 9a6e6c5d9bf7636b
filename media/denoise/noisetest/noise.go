package noisetest

import (
	"math"
	"math/rand/v2"
)

// Noise makes n samples of noise of unit power.
type Noise func(n int, seed uint64) []float64

// Noises are the four kinds here, by name; the babble is of these utterances.
func Noises(utterances [][]float64) map[string]Noise {
	return map[string]Noise{"white": White, "pink": Pink, "car": Car, "babble": Babble(utterances)}
}

// White is Gaussian noise of equal power at all frequencies.
func White(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return unit(x)
}

// Pink falls by 3 dB an octave, from about 30 Hz: the sum of low-passed noises whose
// corners lie an octave apart, each as strong as the others.
func Pink(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 2))
	var state, coef, gain [9]float64
	for i := range coef {
		coef[i] = math.Exp(-2 * math.Pi * 30 * math.Exp2(float64(i)) / Rate)
		gain[i] = math.Sqrt(1 - coef[i]*coef[i])
	}
	x := make([]float64, n)
	for i := range x {
		for j := range state {
			state[j] = coef[j]*state[j] + gain[j]*rng.NormFloat64()
			x[i] += state[j]
		}
	}
	return unit(x)
}

// Car is the inside of a car: rumble that falls 12 dB an octave above 80 Hz, a
// tyre hiss 20 dB below it that falls 6 dB an octave above 500 Hz, and an engine
// whose pitch wanders around 45 Hz.
func Car(n int, seed uint64) []float64 {
	rng := rand.New(rand.NewPCG(seed, 3))
	low, mid := math.Exp(-2*math.Pi*80/Rate), math.Exp(-2*math.Pi*500/Rate)
	var a, b, c, drift, phase float64
	x := make([]float64, n)
	for i := range x {
		a = low*a + math.Sqrt(1-low*low)*rng.NormFloat64()
		b = low*b + (1-low)*8*a
		c = mid*c + math.Sqrt(1-mid*mid)*rng.NormFloat64()
		drift = 0.99995*drift + 0.01*rng.NormFloat64()
		phase += 2 * math.Pi * (45 + 2*drift) / Rate
		x[i] = b + 0.1*c
		for h := 1.0; h <= 6; h++ {
			x[i] += 0.35 / h * math.Sin(h*phase+h*h)
		}
	}
	return unit(x)
}

// Babble returns a Noise of eight people talking without a pause, each from another
// place of utterances, backwards so that it has no words.
func Babble(utterances [][]float64) Noise {
	var talk []float64
	for _, u := range utterances {
		talk = append(talk, u...)
	}
	return func(n int, seed uint64) []float64 {
		rng := rand.New(rand.NewPCG(seed, 4))
		x := make([]float64, n)
		for range 8 {
			at := rng.IntN(len(talk))
			for i := range x {
				x[i] += talk[at]
				if at--; at < 0 {
					at = len(talk) - 1
				}
			}
		}
		return unit(x)
	}
}

// HalveNoise is x at 8 kHz, of unit power again.
func HalveNoise(x []float64) []float64 { return unit(Halve(x)) }

// Mix adds noise of unit power to speech of active level SpeechLevel at snr dB.
func Mix(speech, noise []float64, snr float64) []float64 {
	g := 32768 * math.Pow(10, (SpeechLevel-snr)/20)
	x := make([]float64, len(speech))
	for i := range x {
		x[i] = speech[i] + g*noise[i]
	}
	return x
}

func unit(x []float64) []float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	scale(x, 1/math.Sqrt(sum/float64(len(x))))
	return x
}

func scale(x []float64, g float64) {
	for i := range x {
		x[i] *= g
	}
}
