package denoise_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/resample"
)

func newNeural(t testing.TB, rate media.Rate) denoise.Suppressor {
	t.Helper()
	s, err := denoise.New(denoise.GTCRN, rate)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// few is an eighth of the utterances at one of three rates.
func few(t testing.TB, rate media.Rate) []float64 {
	t.Helper()
	u := noisetest.Utterances(t)
	track := noisetest.Lay(u[:len(u)/8], 1)
	switch rate {
	case media.Rate8k:
		return track.Halve().Samples
	case media.Rate48k:
		return floats(resample.All(noisetest.PCM(track.Samples), noisetest.Rate, rate))
	}
	return track.Samples
}

// TestNeuralSpeech: speech comes out as it was, after exactly Delay, in frames that keep their length and
// time.
func TestNeuralSpeech(t *testing.T) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k, media.Rate48k} {
		s := newNeural(t, rate)
		if d := s.Delay(); d > 35*media.Millisecond || d != rate.Duration(d.Samples(rate)) {
			t.Errorf("%v: delay is %v", rate, d.Duration())
		}
		f := s.Process(media.Frame{Samples: make([]int16, rate.FrameSamples()), Rate: rate, At: 9})
		if len(f.Samples) != rate.FrameSamples() || f.Rate != rate || f.At != 9 {
			t.Errorf("%v: frame of %d samples, rate %v, at %d", rate, len(f.Samples), f.Rate, f.At)
		}
		s.Reset()
		clean := few(t, rate)
		in := noisetest.PCM(clean)
		untouched := slices.Clone(in)
		y := floats(process(s, rate, in))
		if !slices.Equal(in, untouched) {
			t.Errorf("%v: the input was changed", rate)
		}
		level := noisetest.LevelWhere(y, noisetest.Active(clean, int(rate)), true, int(rate)) - noisetest.ActiveLevel(clean, int(rate))
		seg := noisetest.SegSNR(clean, y, int(rate))
		t.Logf("%v: delay %v, level %+.2f dB, segmental SNR %.1f dB", rate, s.Delay().Duration(), level, seg)
		if math.Abs(level) > 0.5 || seg < 30 {
			t.Errorf("%v: level %+.2f dB, segmental SNR %.1f dB, want within 0.5 and at least 30", rate, level, seg)
		}
	}
}

// TestNeuralQuality holds it to its bars at 5 dB, in dB: it gains more than spectral in hiss and in a
// car, and takes far more off where nobody speaks.
func TestNeuralQuality(t *testing.T) {
	bars := map[string]struct{ gain8, gain16, pause float64 }{
		"white": {6, 9, -20}, "pink": {2, 4, -15}, "car": {8, 8.5, -20},
	}
	noises := noisetest.Noises(noisetest.Utterances(t))
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		r, clean := int(rate), few(t, rate)
		active := noisetest.Active(clean, r)
		for name, bar := range bars {
			noise := noises[name](len(clean)*noisetest.Rate/r, 7)
			least := bar.gain16
			if rate == media.Rate8k {
				noise, least = noisetest.HalveNoise(noise), bar.gain8
			}
			x := noisetest.Mix(clean, noise, 5)
			y := floats(process(newNeural(t, rate), rate, noisetest.PCM(x)))
			gain := noisetest.SegSNR(clean, y, r) - noisetest.SegSNR(clean, x, r)
			pause := noisetest.LevelWhere(y, active, false, r) - noisetest.LevelWhere(x, active, false, r)
			level := noisetest.LevelWhere(y, active, true, r) - noisetest.LevelWhere(clean, active, true, r)
			t.Logf("%v %-6s: segmental SNR %+.2f dB, pauses %+.1f dB, speech %+.2f dB", rate, name, gain, pause, level)
			if gain < least || pause > bar.pause {
				t.Errorf("%v %s: want a segmental SNR of %+.1f dB at least, pauses %+.0f dB at most", rate, name, least, bar.pause)
			}
		}
	}
}

// TestNeuralRecovers: no input, however wild, spoils what comes after a Reset, and of none does it
// give out too little.
func TestNeuralRecovers(t *testing.T) {
	const rate = media.Rate8k
	rng := rand.New(rand.NewPCG(1, 1))
	in := noisetest.PCM(few(t, rate)[:rate*2])
	s := newNeural(t, rate)
	first := process(s, rate, in)
	wild := make([]int16, rate)
	for i := range wild {
		wild[i] = int16(rng.Uint32())
	}
	process(s, rate, wild)
	for _, n := range []int{0, 77, 160, 200} {
		if f := s.Process(media.Frame{Rate: rate, Samples: wild[:n]}); len(f.Samples) != rate.FrameSamples() {
			t.Errorf("of %d samples it makes %d", n, len(f.Samples))
		}
	}
	s.Reset()
	if !slices.Equal(process(s, rate, in), first) {
		t.Error("it remembers what came before Reset")
	}
}

// TestNeuralAnalysis: it knows of a frame what spectral knows of it, at once.
func TestNeuralAnalysis(t *testing.T) {
	const rate = media.Rate16k
	n, s := newNeural(t, rate), newSpectral(t, rate)
	in := noisetest.PCM(few(t, rate)[:rate*2])
	for ; len(in) >= rate.FrameSamples(); in = in[rate.FrameSamples():] {
		f := media.Frame{Samples: in[:rate.FrameSamples()], Rate: rate}
		n.Process(f)
		s.Process(f)
		if *n.Analysis() != *s.Analysis() {
			t.Fatalf("%+v, want %+v", *n.Analysis(), *s.Analysis())
		}
	}
}
