package smartturn_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/onnx"
	"parley/inference/onnx/onnxtest"
	"parley/inference/smartturn"
	"parley/inference/smartturn/smartturntest"
	"parley/inference/worker/workertest"
)

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

// run runs an engine for the length of the test; the error says why it cannot.
func run(t *testing.T, c smartturn.Config) (*smartturn.Engine, error) {
	t.Helper()
	c.Program, c.Log = program, slog.New(slog.DiscardHandler)
	if c.Library == "" {
		c.Library = onnxtest.Library(t)
	}
	e := smartturn.New(c)
	return e, workertest.Try(t, e)
}

// network is a stand-in for the published one.
func network(t *testing.T) string { return smartturntest.Write(t, onnxtest.Dir(t)) }

// ready runs one of the network's stand-in.
func ready(t *testing.T) *smartturn.Engine {
	t.Helper()
	e, err := run(t, smartturn.Config{Model: network(t)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestConformance(t *testing.T) {
	e := ready(t)
	enginetest.TestTurnScorer(t, e, nil)
}

// speech is noise, with silence of half a second after it when it has ended.
func speech(ended bool) []int16 {
	x := make([]int16, 8*16000)
	for i := range x {
		if x[i] = int16(i*i*7919) / 4; ended && i > len(x)-8000 {
			x[i] = 0
		}
	}
	return x
}

// TestScore: the sound decides, by way of the features.
func TestScore(t *testing.T) {
	e := ready(t)
	score := func(ended bool) float64 {
		p, err := e.Score(t.Context(), inference.Pause{Audio: speech(ended), Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	if p := score(true); p < 0.5 {
		t.Errorf("silence after speech: %v", p)
	}
	if p := score(false); p > 0.5 {
		t.Errorf("speech that goes on: %v", p)
	}
	if _, err := e.Score(t.Context(), inference.Pause{Audio: speech(true), Language: "gl"}); inference.FaultOf(err) != inference.ErrLanguage {
		t.Errorf("a language that it does not know: %v", err)
	}
	if lag := e.Lag(); lag != 0 {
		t.Errorf("%v of lag", lag)
	}
}

// TestWrongFiles: what cannot be used is said before the first call, with the tensor that is wrong.
func TestWrongFiles(t *testing.T) {
	wrong := smartturntest.Network()
	wrong.Inputs[0].Shape = []int64{onnx.Any, 64, smartturn.Frames}
	text := filepath.Join(onnxtest.Dir(t), "text.onnx")
	if err := os.WriteFile(text, []byte("these are no weights"), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]smartturn.Config{
		"contract: wrong.onnx: the tensor input_features is float32[any,64,800]; an input float32[any,80,800] is needed": {Model: onnxtest.Write(t, onnxtest.Dir(t), "wrong.onnx", wrong)},
		"text.onnx":                         {Model: text},
		"none.onnx":                         {Model: filepath.Join(onnxtest.Dir(t), "none.onnx")},
		"libonnxruntime.so.1: no such file": {Model: network(t), Library: filepath.Join(t.TempDir(), "libonnxruntime.so.1")},
	} {
		if _, err := run(t, c); inference.FaultOf(err) != inference.ErrUnavailable || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestKilled: the pauses of a worker that dies get no answer, the next ones do.
func TestKilled(t *testing.T) {
	e := ready(t)
	var asking sync.WaitGroup
	for range 4 {
		asking.Go(func() {
			if _, err := e.Score(t.Context(), inference.Pause{Audio: speech(true), Language: "en"}); err != nil && inference.FaultOf(err) != inference.ErrFailed && inference.FaultOf(err) != inference.ErrUnavailable {
				t.Error(err)
			}
		})
	}
	for _, pid := range e.PIDs() {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	asking.Wait()
	for {
		_, err := e.Score(t.Context(), inference.Pause{Audio: speech(true), Language: "en"})
		if err == nil {
			return
		}
		if inference.FaultOf(err) != inference.ErrFailed && inference.FaultOf(err) != inference.ErrUnavailable {
			t.Fatal(err)
		}
	}
}
