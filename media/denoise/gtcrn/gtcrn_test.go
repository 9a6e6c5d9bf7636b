package gtcrn_test

import (
	"bytes"
	"math"
	"os"
	"slices"
	"testing"

	"parley/media/denoise/gtcrn"
	"parley/media/denoise/noisetest"
	"parley/media/mediatest"
	"parley/media/wav"
)

// speech is a question at 16 kHz, -1 to 1.
func speech(t testing.TB) []float64 {
	t.Helper()
	file, err := os.ReadFile("../../../testdata/speech/opening-hours.wav")
	if err != nil {
		t.Fatal(err)
	}
	clip, err := wav.Decode(bytes.NewReader(file), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, len(clip.Samples))
	for i, v := range clip.Samples {
		x[i] = float64(v)
	}
	return x
}

func floats(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v / 32768)
	}
	return y
}

func newStream(t testing.TB) *gtcrn.Stream {
	t.Helper()
	s, err := gtcrn.New()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSameAsPublished: the samples are those of the published module, in speech, in speech with
// noise of several kinds, in silence and in overload.
func TestSameAsPublished(t *testing.T) {
	clean := speech(t)
	n := len(clean)
	loud := noisetest.Mix(clean, noisetest.White(n, 1), -20)
	for i, v := range loud {
		loud[i] = max(-32768, min(32767, v))
	}
	s, o := newStream(t), newOracle(t)
	got, want := make([]float32, gtcrn.Hop), make([]float32, gtcrn.Hop)
	for _, c := range []struct {
		name string
		x    []float64
	}{
		{"speech", clean},
		{"white", noisetest.Mix(clean, noisetest.White(n, 1), 10)},
		{"pink", noisetest.Mix(clean, noisetest.Pink(n, 2), 0)},
		{"car", noisetest.Mix(clean, noisetest.Car(n, 3), 5)},
		{"silence", make([]float64, 16000)},
		{"overload", loud},
		{"speech after it", clean},
	} {
		worst, top := 0.0, 0.0
		for x := floats(c.x); len(x) >= gtcrn.Hop; x = x[gtcrn.Hop:] {
			s.Process(got, x[:gtcrn.Hop])
			o.Process(want, x[:gtcrn.Hop])
			for i, v := range want {
				worst = max(worst, math.Abs(float64(got[i]-v)))
				top = max(top, math.Abs(float64(v)))
			}
		}
		t.Logf("%s, %.1f s: %.1g at most, of %.2f", c.name, float64(len(c.x))/noisetest.Rate, worst, top)
		if !(worst < 1e-5) {
			t.Errorf("%s: a sample differs by %g", c.name, worst)
		}
	}
}

// TestReset: after Reset a stream is like a new one.
func TestReset(t *testing.T) {
	s, x := newStream(t), floats(speech(t))
	run := func() []float32 {
		all := make([]float32, len(x)/gtcrn.Hop*gtcrn.Hop)
		for i := 0; i < len(all); i += gtcrn.Hop {
			s.Process(all[i:], x[i:])
		}
		return all
	}
	first := run()
	s.Reset()
	if !slices.Equal(run(), first) {
		t.Error("it remembers what came before Reset")
	}
}

func TestProcessAllocatesNothing(t *testing.T) {
	s, x := newStream(t), floats(speech(t))[8000:][:gtcrn.Hop]
	out := make([]float32, gtcrn.Hop)
	mediatest.NoAllocs(t, func() { s.Process(out, x) })
}

// BenchmarkGTCRN reports ns for 16 ms of speech, and ms per second of audio.
func BenchmarkGTCRN(b *testing.B) {
	s, x := newStream(b), floats(speech(b))
	out, at := make([]float32, gtcrn.Hop), 0
	for b.Loop() {
		s.Process(out, x[at:][:gtcrn.Hop])
		if at += gtcrn.Hop; at+gtcrn.Hop > len(x) {
			at = 0
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)*noisetest.Rate/gtcrn.Hop/1e6, "ms/s")
}
