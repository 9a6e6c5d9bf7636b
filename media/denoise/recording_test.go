package denoise_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/resample"

	"pgregory.net/rapid"
)

// recording begins one of so many samples.
func recording(t testing.TB, name string, rate media.Rate, samples int) denoise.Recording {
	t.Helper()
	r, err := denoise.NewRecording(name, rate, int64(samples))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// clip cleans a whole recording.
func clip(t testing.TB, name string, samples []int16, rate media.Rate) []int16 {
	t.Helper()
	r := recording(t, name, rate, len(samples))
	r.Learn(samples)
	return r.Finish(r.Clean(nil, samples))
}

// TestRecordingAnything: any length, any rate, no sample lost.
func TestRecordingAnything(t *testing.T) {
	for name, rates := range map[string][]media.Rate{
		denoise.Spectral: {-1, 0, 1, 100, 5512, 8000, 11025, 22050, 32000, 96000},
		denoise.GTCRN:    {4000, 8000, 11025, 16000, 22050, 32000, 96000},
	} {
		for _, rate := range rates {
			for _, n := range []int{0, 1, 159, 160, 161, 4321} {
				in := make([]int16, n)
				for i := range in {
					in[i] = int16(i * 7919)
				}
				if out := clip(t, name, in, rate); len(out) != n {
					t.Errorf("%s, rate %d: %d samples became %d", name, rate, n, len(out))
				}
			}
		}
		if out := clip(t, name, make([]int16, 20000), 8000); slices.Max(out) != 0 || slices.Min(out) != 0 {
			t.Errorf("%s: silence did not stay silence", name)
		}
	}
	for name, rate := range map[string]media.Rate{denoise.GTCRN: 44101, denoise.Off: 8000} {
		var refused *denoise.Error
		if _, err := denoise.NewRecording(name, rate, 1); !errors.As(err, &refused) || refused.Rate != rate {
			t.Errorf("%s at %v: %v", name, rate, err)
		}
	}
}

// TestRecordingInPieces: however a recording is cut up, it comes out the same.
func TestRecordingInPieces(t *testing.T) {
	t.Run(denoise.Spectral, func(t *testing.T) { inPieces(t, denoise.Spectral, media.Rate16k, 20_000) })
	t.Run(denoise.GTCRN, func(t *testing.T) { inPieces(t, denoise.GTCRN, 11025, 5_000) })
}

func inPieces(t *testing.T, name string, rate media.Rate, n int) {
	in := noisetest.PCM(noisetest.White(n, 3))
	for i := range in {
		in[i] *= 300
	}
	want := clip(t, name, in, rate)
	rapid.Check(t, func(rt *rapid.T) {
		r := recording(t, name, rate, len(in))
		pieces := func(take func([]int16)) {
			for rest := in; len(rest) > 0; {
				n := min(len(rest), rapid.SampledFrom([]int{0, 1, 7, 159, 160, 161, 5000}).Draw(rt, "piece"))
				take(rest[:n])
				rest = rest[n:]
				if n == 0 {
					take(rest)
					break
				}
			}
		}
		pieces(r.Learn)
		var out []int16
		pieces(func(p []int16) { out = r.Clean(out, p) })
		if out = r.Finish(out); !slices.Equal(out, want) {
			rt.Fatal("the pieces make another recording")
		}
	})
}

// TestRecordingStartsClean: a recording is as clean in its first half second as later.
func TestRecordingStartsClean(t *testing.T) {
	const rate = media.Rate16k
	clean, _ := speech(t, rate)
	clean = clean[2*noisetest.Rate-1600:] // 100 ms of noise, then speech
	x := noisetest.PCM(noisetest.Mix(clean, noisetest.White(len(clean), 5), 10))
	y := clip(t, denoise.Spectral, x, rate)
	if len(y) != len(x) {
		t.Fatalf("%d samples became %d", len(x), len(y))
	}
	first := []bool{true, true, true, true}
	before := noisetest.LevelWhere(floats(x[:1280]), first, true, int(rate))
	after := noisetest.LevelWhere(floats(y[:1280]), first, true, int(rate))
	if after-before > -10 {
		t.Errorf("the first 80 ms are lowered by %.1f dB, want 10", before-after)
	}
	if g := noisetest.SegSNR(clean, floats(y), int(rate)) - noisetest.SegSNR(clean, floats(x), int(rate)); g < 3 {
		t.Errorf("segmental SNR %+.2f dB, want at least 3: is the delay off?", g)
	}
}

// material is speech and the noises at a rate of files. What is made at 16 kHz has
// nothing above 8; "hiss" is white noise up to the top of 44.1 kHz.
func material(t *testing.T, rate media.Rate) (clean []float64, noises map[string][]float64) {
	t.Helper()
	var some [][]float64
	for i, u := range noisetest.Utterances(t) {
		if i%7 == 0 {
			some = append(some, u)
		}
	}
	track := noisetest.Lay(some, 0.5).Samples
	noises = map[string][]float64{}
	for name, noise := range noisetest.Noises(noisetest.Utterances(t)) {
		noises[name] = noise(len(track), 7)
	}
	switch rate {
	case media.Rate8k:
		for name, x := range noises {
			noises[name] = noisetest.HalveNoise(x)
		}
		return noisetest.Halve(track), noises
	case media.Rate44k:
		for name, x := range noises {
			noises[name] = upsampled(x, 3000)
		}
		clean = upsampled(track, 1)
		noises["hiss"] = noisetest.White(len(clean), 7)
		return clean, noises
	}
	return track, noises
}

// upsampled is x at 44.1 kHz; times unit it is loud and does not clip.
func upsampled(x []float64, unit float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = unit * v
	}
	y = floats(resample.All(noisetest.PCM(y), noisetest.Rate, media.Rate44k))
	for i := range y {
		y[i] /= unit
	}
	return y
}

// TestRecordingQuality holds a cleaned recording to the suppressor's bars at the
// rates that files have.
func TestRecordingQuality(t *testing.T) {
	bars := map[string]float64{"white": 4.5, "pink": 2.3, "car": 3.3, "babble": -0.5, "hiss": 4.5}
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k, media.Rate44k} {
		clean, noises := material(t, rate)
		r := int(rate)
		for name, noise := range noises {
			gain := 0.0
			for _, snr := range []float64{0, 5, 10} {
				x := noisetest.Mix(clean, noise, snr)
				y := floats(clip(t, denoise.Spectral, noisetest.PCM(x), rate))
				gain += (noisetest.SegSNR(clean, y, r) - noisetest.SegSNR(clean, x, r)) / 3
			}
			t.Logf("%v %-6s: segmental SNR %+.2f dB", rate, name, gain)
			if gain < bars[name] {
				t.Errorf("%v %s: segmental SNR %+.2f dB, want at least %+.1f", rate, name, gain, bars[name])
			}
		}
		active := noisetest.Active(clean, r)
		y := floats(clip(t, denoise.Spectral, noisetest.PCM(clean), rate))
		level := noisetest.LevelWhere(y, active, true, r) - noisetest.LevelWhere(clean, active, true, r)
		t.Logf("%v clean : level %+.3f dB", rate, level)
		if math.Abs(level) > 0.5 {
			t.Errorf("%v: clean speech changes by %+.2f dB, want 0.5 at most", rate, level)
		}
	}
}

// TestNeuralRecordingQuality holds GTCRN to its bars over a recording, for noise of 5 dB, which it takes off
// without a delay.
func TestNeuralRecordingQuality(t *testing.T) {
	for rate, bars := range map[media.Rate]map[string]float64{
		media.Rate8k: {"white": 6, "pink": 2, "car": 8}, media.Rate44k: {"white": 9, "pink": 4, "car": 8.5},
	} {
		clean, noises := material(t, rate)
		n, r := len(clean)/4, int(rate)
		clean = clean[:n]
		for name, bar := range bars {
			x := noisetest.Mix(clean, noises[name][:n], 5)
			y := floats(clip(t, denoise.GTCRN, noisetest.PCM(x), rate))
			gain := noisetest.SegSNR(clean, y, r) - noisetest.SegSNR(clean, x, r)
			t.Logf("%v %-6s: segmental SNR %+.2f dB", rate, name, gain)
			if gain < bar {
				t.Errorf("%v %s: segmental SNR %+.2f dB, want at least %+.1f", rate, name, gain, bar)
			}
		}
	}
}
