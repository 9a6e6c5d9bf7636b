package espeak

import (
	"math"
	"math/cmplx"
	"slices"
	"testing"

	"parley/inference"
)

// portrait is what tells a voice from another: its pitch and its average
// spectrum, independent of level.
type portrait struct {
	f0    float64   // median, Hz
	bands []float64 // mean log energy of mel bands, dB, mean removed
	rms   float64
}

const (
	window = 1024 // 46 ms
	hop    = 441
	bands  = 24
)

func paint(samples []int16) portrait {
	var p portrait
	var pitches []float64
	mean, frames, energy := make([]float64, bands), 0.0, 0.0
	for at := 0; at+window <= len(samples); at += hop {
		frame := samples[at : at+window]
		var e float64
		for _, s := range frame {
			e += float64(s) * float64(s)
		}
		if e = e / window; e < 300*300 {
			continue // a pause, or nearly
		}
		energy += e
		frames++
		for i, b := range mel(frame) {
			mean[i] += b
		}
		if f := pitch(frame); f > 0 {
			pitches = append(pitches, f)
		}
	}
	var all float64
	for i := range mean {
		mean[i] /= frames
		all += mean[i] / bands
	}
	for i := range mean {
		mean[i] -= all
	}
	slices.Sort(pitches)
	p.f0, p.bands, p.rms = pitches[len(pitches)/2], mean, math.Sqrt(energy/frames)
	return p
}

// pitch is the strongest period of a voiced frame, by autocorrelation, or 0.
func pitch(frame []int16) float64 {
	correlate := func(lag int) (c float64) {
		var a, b float64
		for i := lag; i < len(frame); i++ {
			x, y := float64(frame[i]), float64(frame[i-lag])
			c, a, b = c+x*y, a+x*x, b+y*y
		}
		return c / math.Sqrt(a*b+1)
	}
	best, lag := 0.0, 0
	for l := 55; l <= 400; l++ { // 400 to 55 Hz
		if c := correlate(l); c > best+0.02 { // the shortest of equal periods
			best, lag = c, l
		}
	}
	if best < 0.7 {
		return 0
	}
	return float64(Rate) / float64(lag)
}

// mel is the log energy of bands between 100 Hz and 8 kHz, evenly spaced in mel.
func mel(frame []int16) []float64 {
	x := make([]complex128, window)
	for i, s := range frame {
		x[i] = complex(float64(s)*(0.5-0.5*math.Cos(2*math.Pi*float64(i)/window)), 0)
	}
	x = fft(x)
	edge := func(i int) float64 {
		lo, hi := 2595*math.Log10(1+100.0/700), 2595*math.Log10(1+8000.0/700)
		return 700 * (math.Pow(10, (lo+(hi-lo)*float64(i)/bands)/2595) - 1)
	}
	out := make([]float64, bands)
	for b := range out {
		var e float64
		from, to := int(edge(b)*window/float64(Rate)), int(edge(b+1)*window/float64(Rate))
		for k := from; k <= to; k++ {
			e += real(x[k])*real(x[k]) + imag(x[k])*imag(x[k])
		}
		out[b] = 10 * math.Log10(e/float64(to-from+1)+1)
	}
	return out
}

func fft(x []complex128) []complex128 {
	n := len(x)
	if n == 1 {
		return x
	}
	even, odd := make([]complex128, n/2), make([]complex128, n/2)
	for i := range even {
		even[i], odd[i] = x[2*i], x[2*i+1]
	}
	even, odd = fft(even), fft(odd)
	out := make([]complex128, n)
	for k := range even {
		t := cmplx.Rect(1, -2*math.Pi*float64(k)/float64(n)) * odd[k]
		out[k], out[k+n/2] = even[k]+t, even[k]-t
	}
	return out
}

// distances are how far two voices are apart: pitch in semitones, spectrum in dB
// (root mean square over the bands).
func distances(a, b portrait) (semitones, spectrum float64) {
	for i := range a.bands {
		spectrum += (a.bands[i] - b.bands[i]) * (a.bands[i] - b.bands[i]) / bands
	}
	return math.Abs(12 * math.Log2(a.f0/b.f0)), math.Sqrt(spectrum)
}

// Bars, chosen from measurement: of the pairs with close spectra M4 and M5 are the
// closest (2.4 dB, 3.0 semitones), of those with close pitch F1 and M3 (1.1
// semitones, 8.2 dB).
const (
	minSpectrum  = 2.0 // dB, for every pair
	minSemitones = 1.5 // unless the spectra differ by farSpectrum
	farSpectrum  = 6.0
	levelSpread  = 1.5 // dB between the loudest and the softest voice
)

func TestVoicesDiffer(t *testing.T) {
	e := start(t)
	var all []portrait
	lowest, loudest := math.Inf(1), 0.0
	for _, v := range e.Voices() {
		s := say(t, e, inference.Speech{Text: sentences["en"] + " How are you today? We open at nine.", VoiceConfig: inference.VoiceConfig{Voice: v.ID, Language: "en"}})
		p := paint(s.samples)
		all = append(all, p)
		lowest, loudest = min(lowest, p.rms), max(loudest, p.rms)
		t.Logf("%s: median F0 %.0f Hz, level %.1f dBFS", v.ID, p.f0, 20*math.Log10(p.rms/32768))
		if female := v.Gender == "female"; female != (p.f0 > 143) {
			t.Errorf("%s is %s at %.0f Hz", v.ID, v.Gender, p.f0)
		}
	}
	if spread := 20 * math.Log10(loudest/lowest); spread > levelSpread {
		t.Errorf("levels spread over %.1f dB", spread)
	}
	for i := range all {
		for j := range i {
			st, sp := distances(all[i], all[j])
			if sp < minSpectrum || st < minSemitones && sp < farSpectrum {
				t.Errorf("%s and %s are too close: %.1f semitones, %.1f dB", voices[j].ID, voices[i].ID, st, sp)
			} else if st < 2 || sp < 3 {
				t.Logf("%s and %s: %.1f semitones, %.1f dB", voices[j].ID, voices[i].ID, st, sp)
			}
		}
	}
}
