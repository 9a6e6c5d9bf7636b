package denoise_test

import (
	"math"
	"testing"

	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
)

// process sends samples through s in frames and takes its delay off.
func process(s denoise.Suppressor, rate media.Rate, in []int16) []int16 {
	n := rate.FrameSamples()
	delay := s.Delay().Samples(rate)
	out := make([]int16, 0, len(in)+delay+2*n)
	frame := make([]int16, n)
	for i := 0; len(out) < len(in)+delay; i += n {
		clear(frame)
		copy(frame, in[min(i, len(in)):])
		out = append(out, s.Process(media.Frame{Samples: frame, Rate: rate}).Samples...)
	}
	return out[delay : delay+len(in)]
}

func newSpectral(t testing.TB, rate media.Rate) denoise.Suppressor {
	t.Helper()
	s, err := denoise.New(denoise.Spectral, rate)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func floats(x []int16) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// speech is half of the utterances at one of two rates, and which 20 ms are active.
func speech(t testing.TB, rate media.Rate) (clean []float64, active []bool) {
	t.Helper()
	var some [][]float64
	for i, u := range noisetest.Utterances(t) {
		if i%2 == 0 {
			some = append(some, u)
		}
	}
	track := noisetest.Lay(some, 2)
	if rate == media.Rate8k {
		track = track.Halve()
	}
	return track.Samples, noisetest.Active(track.Samples, int(rate))
}

// TestQuality holds the suppressor to its bars: segmental SNR gained, as the mean of
// 0, 5 and 10 dB, and what is taken off where nobody speaks.
func TestQuality(t *testing.T) {
	bars := map[string]struct{ gain, pause float64 }{
		"white": {4.5, -6}, "pink": {2.3, -6}, "car": {3.3, -6}, "babble": {-0.5, 0},
	}
	noises := noisetest.Noises(noisetest.Utterances(t))
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		clean, active := speech(t, rate)
		r := int(rate)
		for name, bar := range bars {
			noise := noises[name](len(clean)*noisetest.Rate/r, 7)
			if rate == media.Rate8k {
				noise = noisetest.HalveNoise(noise)
			}
			var gain, pause, level float64
			for _, snr := range []float64{0, 5, 10} {
				x := noisetest.Mix(clean, noise, snr)
				y := floats(process(newSpectral(t, rate), rate, noisetest.PCM(x)))
				g := noisetest.SegSNR(clean, y, r) - noisetest.SegSNR(clean, x, r)
				p := noisetest.LevelWhere(y, active, false, r) - noisetest.LevelWhere(x, active, false, r)
				l := noisetest.LevelWhere(y, active, true, r) - noisetest.LevelWhere(clean, active, true, r)
				t.Logf("%v %-6s %2.0f dB: segmental SNR %+.2f dB, pauses %+.1f dB, speech %+.2f dB", rate, name, snr, g, p, l)
				gain, pause, level = gain+g/3, pause+p/3, level+l/3
			}
			t.Logf("%v %-6s mean : segmental SNR %+.2f dB, pauses %+.1f dB, speech %+.2f dB", rate, name, gain, pause, level)
			if gain < bar.gain {
				t.Errorf("%v %s: segmental SNR %+.2f dB, want at least %+.1f", rate, name, gain, bar.gain)
			}
			if pause > bar.pause {
				t.Errorf("%v %s: pauses %+.1f dB, want at most %+.0f", rate, name, pause, bar.pause)
			}
		}
	}
}

// TestCleanSpeech: what needs no cleaning comes out as it was, also from a Recording.
func TestCleanSpeech(t *testing.T) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		clean, active := speech(t, rate)
		pcm := noisetest.PCM(clean)
		for name, out := range map[string][]int16{
			"stream": process(newSpectral(t, rate), rate, pcm),
			"whole":  clip(t, denoise.Spectral, pcm, rate),
		} {
			y := floats(out)
			level := noisetest.LevelWhere(y, active, true, int(rate)) - noisetest.LevelWhere(clean, active, true, int(rate))
			seg := noisetest.SegSNR(clean, y, int(rate))
			t.Logf("%v %s: level %+.3f dB, segmental SNR %.1f dB", rate, name, level, seg)
			if math.Abs(level) > 0.5 || seg < 25 {
				t.Errorf("%v %s: level %+.2f dB, segmental SNR %.1f dB, want within 0.5 and at least 25", rate, name, level, seg)
			}
		}
	}
}
