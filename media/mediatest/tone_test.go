package mediatest

import (
	"math"
	"math/rand/v2"
	"testing"

	"parley/media"

	"pgregory.net/rapid"
)

// TestPeakFindsTones: any tone of at least some periods, at any rate.
func TestPeakFindsTones(t *testing.T) {
	rates := []media.Rate{media.Rate8k, media.Rate16k, media.Rate22k, media.Rate44k, media.Rate48k}
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom(rates).Draw(t, "rate")
		n := rapid.IntRange(800, 5000).Draw(t, "n")
		width := float64(rate) / float64(n)
		freq := rapid.Float64Range(8*width, float64(rate)/2-8*width).Draw(t, "freq")
		amplitude := rapid.Float64Range(0.01, 1).Draw(t, "amplitude")
		samples := Tone(freq, rate, n, amplitude)
		peak, level := Peak(samples, rate)
		want := 20*math.Log10(amplitude) - 3.01
		if math.Abs(peak-freq) > width/10 || math.Abs(level-want) > 0.2 {
			t.Fatalf("peak at %.2f Hz, %.2f dBFS, want %.2f Hz (of width %.1f), %.2f", peak, level, freq, width, want)
		}
		if l := ToneLevel(samples, rate, freq); math.Abs(l-want) > 0.1 {
			t.Fatalf("ToneLevel %.2f, want %.2f", l, want)
		}
	})
}

func TestPeakOfNothing(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 1000} {
		if f, l := Peak(make([]int16, n), media.Rate8k); f != 0 || !math.IsInf(l, -1) {
			t.Errorf("%d silent samples: %v Hz, %v dBFS", n, f, l)
		}
	}
}

func TestSNR(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, want := range []float64{10, 30, 60} {
		samples := Tone(697, media.Rate8k, 20000, 0.3)
		noise := 0.3 * 32768 / math.Sqrt2 * math.Pow(10, -want/20)
		for i := range samples {
			samples[i] = int16(math.Round(float64(samples[i]) + 100 + noise*rng.NormFloat64())) // with an offset, which does not count
		}
		if got := SNR(samples, media.Rate8k, 697); math.Abs(got-want) > 0.3 {
			t.Errorf("SNR %.2f dB, want %.0f", got, want)
		}
		if got := SNR(samples, media.Rate8k, 900); got > -20 {
			t.Errorf("SNR of a tone that is not there is %.1f dB", got)
		}
	}
	// Rounding to 16 bits is all the noise there is: 1/12 of a step squared.
	if got := SNR(Tone(1000.3, media.Rate16k, 16000, 0.99), media.Rate16k, 1000.3); math.Abs(got-98) > 1 {
		t.Errorf("SNR of a clean tone %.1f dB, want 98", got)
	}
}

func TestLevel(t *testing.T) {
	square := make([]int16, 1000)
	for i := range square {
		square[i] = -32768
	}
	for _, c := range []struct {
		name    string
		samples []int16
		want    float64
	}{
		{"loudest", square, 0},
		{"sine", Tone(100, media.Rate8k, 8000, 1), -3.01},
		{"half a sine", Tone(100, media.Rate8k, 8000, 0.5), -9.03},
	} {
		if got := Level(c.samples); math.Abs(got-c.want) > 0.01 {
			t.Errorf("%s: %.2f dBFS, want %.2f", c.name, got, c.want)
		}
	}
	if got := Level(make([]int16, 10)); !math.IsInf(got, -1) {
		t.Errorf("silence: %v dBFS", got)
	}
}

func TestNoAllocs(t *testing.T) {
	var keep []byte
	r := &recorder{TB: t}
	NoAllocs(r, func() { keep = make([]byte, 100) })
	if len(keep) != 100 || r.found.Len() == 0 {
		t.Errorf("found %q", r.found.String())
	}
}
