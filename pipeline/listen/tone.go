package listen

import (
	"math"
	"slices"
)

// The tone of the end of speech. A pitch that falls says that the speaker has finished; one that stays where it is on a drawn
// out last syllable says that more follows (A. Gravano and J. Hirschberg, "Turn-taking cues in task-oriented dialogue", Computer
// Speech and Language 25, 2011). A rise says either. It is measured once, when a pause begins, which takes some 0.2 ms.

// Tone is how speech ended.
type Tone uint8

// The tones.
const (
	NoTone  Tone = iota // not known
	Falling             // its pitch fell
	Level               // its last syllable was long, and of one pitch
)

const (
	toneAfter  = 5  // quiet frames after which the tone is measured: turn.Config.StopAfter
	toneFrames = 25 // in which speech ends: half a second

	toneRate   = 4000 // Hz
	toneStep   = toneRate / 50
	toneWindow = 120            // samples that are compared with later ones, 30 ms
	toneLeast  = toneRate / 400 // the period of the highest voices in samples,
	toneMost   = toneRate / 70  // and of the lowest
	tonePoints = toneFrames - (toneWindow+toneMost+1)/toneStep - 1

	toneAlike = 0.6   // correlation of two periods of a voice, at least
	toneSame  = 0.85  // of the best: a shorter period as good as this is the true one
	toneQuiet = 0.001 // of the loudest window: below is the end of the sound

	toneFall   = 2.5  // semitones below the usual that are a fall
	toneFlat   = 1    // semitones that are one pitch
	toneVoiced = 6    // points with a pitch, at least
	toneRecent = 8    // of which these are the latest
	toneEnd    = 3    // and these the end
	toneDip    = 0.25 // of the loudest point of a syllable, 6 dB lower: another one
	toneLong   = 12   // points of a syllable that is drawn out, 240 ms
)

// tone is that of speech which ended toneAfter frames ago.
func (e *feed) tone() Tone {
	if e.n-toneAfter-toneFrames < e.base {
		return NoTone
	}
	var x [toneFrames * toneStep]float32
	fold, size := int(e.rate)/toneRate, e.rate.FrameSamples()
	for i := range x {
		at := i * fold
		frame := e.frame(e.n - toneAfter - toneFrames + int64(at/size))
		for _, v := range frame[at%size:][:fold] {
			x[i] += float32(v)
		}
	}
	return toneOf(&x)
}

// toneOf measures half a second with which speech ended.
func toneOf(x *[toneFrames * toneStep]float32) Tone {
	var energies, pitches, sorted [tonePoints]float32
	loudest := float32(0)
	for i := range energies {
		for _, v := range x[i*toneStep:][:toneWindow] {
			energies[i] += v * v
		}
		loudest = max(loudest, energies[i])
	}
	last, voiced := -1, sorted[:0]
	for i := range pitches {
		if energies[i] > toneQuiet*loudest {
			pitches[i] = pitch(x[i*toneStep:], energies[i])
		}
		if pitches[i] != 0 {
			last, voiced = i, append(voiced, pitches[i])
		}
	}
	if len(voiced) < toneVoiced {
		return NoTone
	}
	recent := voiced[max(0, len(voiced)-toneRecent):]
	end, lowest := mean(recent[len(recent)-toneEnd:]), slices.Min(recent)
	flat := slices.Max(recent)-lowest < toneFlat
	slices.Sort(voiced)
	switch usual := voiced[len(voiced)*3/4]; { // among the highest, but for what is no voice
	case usual-end >= toneFall && end-lowest < toneFlat:
		return Falling
	case flat && syllable(energies[:last+1], pitches[:last+1]) >= toneLong:
		return Level
	}
	return NoTone
}

// syllable is how many points there are in the last one: back to where the voice begins, or the sound swells.
func syllable(energies, pitches []float32) int {
	first := len(energies) - 1
	for peak := energies[first]; first > 0 && pitches[first-1] != 0 && energies[first-1] > toneDip*peak; first-- {
		peak = max(peak, energies[first-1])
	}
	return len(energies) - first
}

func mean(list []float32) (m float32) {
	for _, v := range list {
		m += v / float32(len(list))
	}
	return m
}

// pitch is that of the voice at the beginning of x, in semitones above 1 Hz; 0: there is none. energy is that of the window.
func pitch(x []float32, energy float32) float32 {
	var alike [toneMost + 2]float32
	best := float32(0)
	later := float32(0) // the energy of the window at a lag
	for _, v := range x[toneLeast-1:][:toneWindow] {
		later += v * v
	}
	for lag := toneLeast - 1; lag < len(alike); lag++ {
		sum := float32(0)
		for i, v := range x[:toneWindow] {
			sum += v * x[lag+i]
		}
		if later > 0 {
			alike[lag] = sum / float32(math.Sqrt(float64(energy*later)))
		}
		if lag >= toneLeast && lag <= toneMost {
			best = max(best, alike[lag])
		}
		later += x[lag+toneWindow]*x[lag+toneWindow] - x[lag]*x[lag]
	}
	if best < toneAlike {
		return 0
	}
	for lag := toneLeast; lag <= toneMost; lag++ {
		before, here, after := alike[lag-1], alike[lag], alike[lag+1]
		if here < toneSame*best || here < before || here < after {
			continue
		}
		period := float64(lag)
		if bend := before - 2*here + after; bend < 0 {
			period += float64((before - after) / (2 * bend))
		}
		return float32(12 * math.Log2(toneRate/period))
	}
	return 0
}
