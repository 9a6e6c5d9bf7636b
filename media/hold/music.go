package hold

import (
	"math"
	"sync"

	"parley/media/g722"
)

// The music is eight bars of four slow beats: chords that swell and die away, and over each of them a figure that goes up and down.
// What sounds beyond the last bar sounds on in the first, so that the music goes round without a seam.

const (
	bar  = 2.0     // seconds
	note = bar / 8 // from one note of the figure to the next
	// musicLevel is the root mean square of the music, of 32,767: -25 dBFS, below the ringing tone.
	musicLevel = 1850
)

// chords are the bars, as semitones from A4 (440 Hz), the lowest first: C, A minor, F, G, and then C, E minor, F, G.
var chords = [][4]int{{-21, -14, -9, -5}, {-24, -12, -9, -5}, {-28, -16, -12, -9}, {-26, -14, -10, -7},
	{-21, -14, -9, -5}, {-29, -17, -14, -10}, {-28, -16, -12, -9}, {-26, -14, -10, -7}}

// figure is which notes of its chord are heard one after the other, an octave higher.
var figure = [8]int{0, 1, 2, 3, 2, 3, 1, 2}

// partials are the strengths of a note's harmonics.
var partials = []float64{1, 0.32, 0.12}

// music is the music at 16 kHz, a whole number of frames.
var music = sync.OnceValue(func() []int16 {
	mix := make([]float64, int(bar*float64(len(chords)))*int(g722.Rate))
	for i, chord := range chords {
		start := bar * float64(i)
		for _, semitone := range chord {
			play(mix, start-bar/4, semitone, 0.3, bar*1.5, swell)
		}
		for k, which := range figure {
			play(mix, start+note*float64(k), chord[which]+12, 1, 1.2, pluck)
		}
	}
	power := 0.0
	for _, x := range mix {
		power += x * x
	}
	gain := musicLevel / math.Sqrt(power/float64(len(mix)))
	samples := make([]int16, len(mix))
	for i, x := range mix {
		samples[i] = int16(math.Round(gain * x))
	}
	return samples
})

// play adds a note to the mix, from a moment on and for so many seconds. envelope is its strength by how far it is, from 0 to 1.
func play(mix []float64, from float64, semitone int, strength, lasts float64, envelope func(float64) float64) {
	hz := 440 * math.Pow(2, float64(semitone)/12)
	first, n := int(from*float64(g722.Rate)), int(lasts*float64(g722.Rate))
	for i := range n {
		sum, t := 0.0, 2*math.Pi*hz*float64(i)/float64(g722.Rate)
		for h, p := range partials {
			sum += p * math.Sin(float64(h+1)*t)
		}
		mix[(first+i+len(mix))%len(mix)] += strength * envelope(float64(i)/float64(n)) * sum
	}
}

// swell rises and falls evenly.
func swell(x float64) float64 { return math.Pow(math.Sin(math.Pi*x), 2) }

// pluck is there within 2 % of its length and dies away.
func pluck(x float64) float64 { return min(1, x/0.02) * math.Exp(-4*x) * (1 - x) }
