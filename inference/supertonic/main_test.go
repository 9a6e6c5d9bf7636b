package supertonic

import (
	"cmp"
	"log/slog"
	"math"
	"testing"

	"parley/inference"
	"parley/inference/onnx/onnxtest"
	"parley/inference/supertonic/supertonictest"
	"parley/inference/worker/workertest"
)

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

// run runs an engine of the model in dir for the length of the test; the error says why it cannot.
func run(t testing.TB, dir string, c Config) (*Engine, error) {
	t.Helper()
	c.Program, c.Dir, c.Log = program, dir, slog.New(slog.DiscardHandler)
	c.Library = cmp.Or(c.Library, onnxtest.Library(t))
	e := New(c)
	return e, workertest.Try(t, e)
}

// start runs an engine of the tiny model.
func start(t testing.TB, c Config) *Engine {
	t.Helper()
	e, err := run(t, supertonictest.Write(t, nil), c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// say is all samples of a speech.
func say(t testing.TB, e *Engine, s inference.Speech) []int16 {
	t.Helper()
	var out []int16
	for c, err := range e.Speak(t.Context(), s) {
		if err != nil {
			t.Fatalf("%s %s: %v", s.Language, s.Voice, err)
		}
		if c.Rate != Rate || len(c.Words) > 0 || len(c.Phones) > 0 {
			t.Fatalf("chunk at %v with marks %v, %v", c.Rate, c.Words, c.Phones)
		}
		out = append(out, c.Samples...)
	}
	return out
}

// expect checks that samples are, to the last bit but one, what the model says in so many steps
// for so many characters, those of the tag included.
func expect(t testing.TB, samples []int16, characters int, voice string, speed float64, steps int) {
	t.Helper()
	if want := supertonictest.Samples(characters, voice, speed); len(samples) != want {
		t.Errorf("%s: %d samples, want %d", voice, len(samples), want)
	}
	for i, s := range samples {
		if want := supertonictest.Sample(i, voice, steps) * 32767; math.Abs(float64(s)-want) > 2 {
			t.Errorf("%s: the sample %d is %d, want %.1f", voice, i, s, want)
			return
		}
	}
}
