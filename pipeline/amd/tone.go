package amd

import (
	"math"

	"parley/media"
)

// A tone is one frequency alone, for beepShortest to beepLongest. DTMF and the ringback
// of some countries are two frequencies, that of others lasts longer; vowels are many
// and do not hold still.
const (
	toneLowest  = 400.0  // Hz
	toneHighest = 2000.0 // Hz
	// pure is the least share of a frame's power that is in the one frequency: noise
	// 9 dB below it is allowed.
	pure = 0.88
	// drift is how far the frequency may be from the tone's first, as a share of it.
	drift = 0.015
	// swell is how much the power may change within a tone, as a ratio: 3 dB.
	swell = 2.0
	// quietest is the mean square below which a frame is silent: -48 dBFS.
	quietest = 130 * 130
	// A tone fills this many frames: 150 ms may begin and end within one, and of a
	// second one is lost at the least.
	beepShortest = 6
	beepLongest  = 48
	// settled is how many frames of it are needed to take it for a tone while it lasts.
	settled = 3
)

// tone follows a tone in 20 ms frames.
type tone struct {
	narrow []int16 // a frame at half its rate, where that is 16 kHz: no tone needs more than toneRate
	frames int     // of the tone so far
	freq   float64 // of its first frame, Hz
	least  float64 // power of its frames, between
	most   float64
}

// sounds says that there is a tone at present.
func (t *tone) sounds() bool { return t.frames >= settled }

// toneRate is the rate at which a tone is looked for.
const toneRate = media.Rate8k

// begin prepares for frames at a rate, 8 or 16 kHz.
func (t *tone) begin(rate media.Rate) {
	if rate == 2*toneRate {
		t.narrow = make([]int16, toneRate.FrameSamples())
	}
}

// narrowed is a frame at toneRate. It is valid until the next.
func (t *tone) narrowed(samples []int16) []int16 {
	if t.narrow == nil {
		return samples
	}
	for i := range t.narrow {
		t.narrow[i] = int16((int(samples[2*i]) + int(samples[2*i+1])) / 2)
	}
	return t.narrow
}

// hear takes what single says of the next frame. It returns the frequency of a beep that has ended before it, and how
// many frames it had; 0: none has.
func (t *tone) hear(freq, power float64, ok bool) (beep float64, frames int) {
	if ok && t.frames > 0 && math.Abs(freq-t.freq) <= drift*t.freq && power <= swell*t.least && power >= t.most/swell {
		t.frames++
		t.least, t.most = min(t.least, power), max(t.most, power)
		return 0, 0
	}
	if t.frames >= beepShortest && t.frames <= beepLongest && t.freq <= toneHighest {
		beep, frames = t.freq, t.frames
	}
	t.frames = 0
	if ok {
		t.frames, t.freq, t.least, t.most = 1, freq, power, power
	}
	return beep, frames
}

// single finds the one frequency of a frame, in Hz; ok is false when it has none, or
// more. The correlations at one and two samples give it roughly (Pisarenko), the phase
// between the two halves of the frame exactly.
func single(samples []int16) (freq, power float64, ok bool) {
	var energy, r1, r2 float64
	for i, v := range samples {
		x := float64(v)
		energy += x * x
		if i >= 1 {
			r1 += x * float64(samples[i-1])
		}
		if i >= 2 {
			r2 += x * float64(samples[i-2])
		}
	}
	power = energy / float64(max(1, len(samples)))
	if power < quietest || r1 == 0 {
		return 0, power, false
	}
	cos := (r2 + math.Sqrt(r2*r2+8*r1*r1)) / (4 * r1)
	if cos <= -1 || cos >= 1 {
		return 0, power, false
	}
	w := math.Acos(cos)
	half := len(samples) / 2
	re1, im1 := goertzel(samples[:half], w)
	re2, im2 := goertzel(samples[half:], w)
	// How far the second half is ahead of where w would have it.
	ahead := math.Atan2(im2, re2) - math.Atan2(im1, re1) - w*float64(half)
	w += math.Remainder(ahead, 2*math.Pi) / float64(half)
	re, im := goertzel(samples, w)
	freq = w / (2 * math.Pi) * float64(toneRate)
	share := 2 * (re*re + im*im) / (float64(len(samples)) * energy)
	return freq, power, share >= pure && freq >= toneLowest && freq <= signalHighest
}

// goertzel correlates samples with the frequency w, in radians a sample. The phase is
// that of its first sample.
func goertzel(samples []int16, w float64) (re, im float64) {
	c, s := math.Cos(w), math.Sin(w)
	k := 2 * c
	var s1, s2 float64
	// Backwards, so that the phase refers to the first sample.
	for i := len(samples) - 1; i >= 0; i-- {
		s1, s2 = float64(samples[i])+k*s1-s2, s1
	}
	return s1 - c*s2, -s * s2
}
