package bench

import (
	"math"

	"parley/media"
	"parley/pipeline/listen"
)

// tone is a sine of an amplitude from 0 to 1.
func tone(freq float64, rate media.Rate, samples int, amplitude float64) []int16 {
	s := make([]int16, samples)
	for i := range s {
		s[i] = int16(32767 * amplitude * math.Sin(2*math.Pi*freq*float64(i)/float64(rate)))
	}
	return s
}

// voice is something that a detector takes for a voice: a gliding pitch with the
// overtones of a vowel, in syllables, four a second, over a little noise.
func voice(rate media.Rate, samples int) []int16 {
	s := make([]int16, samples)
	phase, noise := 0.0, uint32(1)
	for i := range s {
		t := float64(i) / float64(rate)
		phase += 2 * math.Pi * (140 + 30*math.Sin(2*math.Pi*0.7*t)) / float64(rate)
		v := 0.0
		for k := 1; k <= 20; k++ {
			f := float64(k) * 140
			near := math.Exp(-(f-600)*(f-600)/9e4) + 0.5*math.Exp(-(f-1500)*(f-1500)/2e5) + 0.05
			v += near * math.Sin(float64(k)*phase)
		}
		syllable := 0.25 + 0.75*math.Pow(math.Sin(math.Pi*4*t), 2)
		s[i] = int16(2200*syllable*v) + hiss(&noise)
	}
	return s
}

// background is the noise of a silent line.
func background(samples int) []int16 {
	s := make([]int16, samples)
	noise := uint32(7)
	for i := range s {
		s[i] = hiss(&noise)
	}
	return s
}

// hiss is a sample of noise at -60 dBFS, enough to change a G.711 code.
func hiss(state *uint32) int16 {
	*state = *state*1664525 + 1013904223
	return int16(*state>>16) % 57
}

// level is the mean power of samples, in dBFS.
func level(samples []int16) float64 {
	sum := 0.0
	for _, v := range samples {
		sum += float64(v) * float64(v)
	}
	return 10 * math.Log10(sum/float64(max(1, len(samples)))/(32768*32768)+1e-10)
}

// What counts as sound in dBFS, and as lowered, in dB.
const (
	audible = -45
	lowered = 1
)

// levelListener takes for speech what is loud. It decides on the very frame, so
// that a script knows on which one the caller's turn is over; a detector of real
// speech would blur that by some frames.
type levelListener struct{}

func (levelListener) Hear(f media.Frame) (media.Frame, listen.Activity) {
	l := float32(level(f.Samples))
	return f, listen.Activity{Speech: l > audible, Level: l}
}
