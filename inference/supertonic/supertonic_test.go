package supertonic

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/onnx"
	"parley/inference/onnx/onnxtest"
	"parley/inference/supertonic/supertonictest"
)

func speech(voice, text string) inference.Speech {
	return inference.Speech{Text: text, VoiceConfig: inference.VoiceConfig{Voice: voice, Language: "en"}}
}

// hello is 5 characters of text; the full stop and the tags <en></en> are 10 more.
const (
	hello      = "Hello"
	helloSays  = 15
	tagsAndDot = 10
)

func TestSpeech(t *testing.T) {
	e := start(t, Config{})
	for _, c := range []struct {
		voice string
		speed float64
		steps int
		pace  float64 // what lengths are divided by
		takes int     // steps
	}{
		{"F1", 0, 0, 1.05, 8}, {"M5", 1, 0, 1.05, 8}, {"F3", 2, 1, 2.1, 1}, {"M1", 0.5, 6, 0.525, 6},
		{"F2", 9, 99, 2.1, 12}, {"F1", 0.1, -1, 0.525, 1},
	} {
		s := speech(c.voice, hello)
		s.Speed, s.Steps = c.speed, c.steps
		expect(t, say(t, e, s), helloSays, c.voice, c.pace, c.takes)
	}
}

// TestSettings: the name and the steps of the configuration, and a directory that is named from here.
func TestSettings(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.Rel(here, supertonictest.Write(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	e, err := run(t, dir, Config{Name: "ours", Steps: 5, Processes: 1})
	if err != nil {
		t.Fatal(err)
	}
	if info := e.Info(); info.Name != "ours" || !info.Local || info.Caps.WordTimes {
		t.Errorf("%+v", info)
	}
	expect(t, say(t, e, speech("F4", hello)), helloSays, "F4", 1.05, 5)
	for _, err := range e.Speak(t.Context(), speech("X1", hello)) {
		if of, ok := errors.AsType[*inference.Error](err); !ok || of.Engine != "ours" || of.Fault != inference.ErrVoice {
			t.Errorf("%v", err)
		}
	}
	if n := len(e.pool.PIDs()); n != 1 {
		t.Errorf("%d processes", n)
	}
}

// TestLongSpeech is made chunk by chunk, with silence between them.
func TestLongSpeech(t *testing.T) {
	e := start(t, Config{})
	first := "We are open from nine to five. "
	second := strings.Repeat("On Saturdays we close at one. ", 10)
	samples := say(t, e, speech("F1", first+second))
	n, m := len(strings.TrimSpace(first))+tagsAndDot-1, len(strings.TrimSpace(second))+tagsAndDot-1
	a := supertonictest.Samples(n, "F1", 1.05)
	const silence = 13230
	if want := a + silence + supertonictest.Samples(m, "F1", 1.05); len(samples) != want {
		t.Fatalf("%d samples, want %d", len(samples), want)
	}
	expect(t, samples[:a], n, "F1", 1.05, 8)
	if slices.ContainsFunc(samples[a:a+silence], func(s int16) bool { return s != 0 }) {
		t.Error("sound between the chunks")
	}
	expect(t, samples[a+silence:], m, "F1", 1.05, 8)
	if samples := say(t, e, speech("F1", "漢字 👋")); len(samples) > 0 {
		t.Errorf("%d samples of what the model cannot say", len(samples))
	}
}

func TestConformance(t *testing.T) {
	e := start(t, Config{})
	enginetest.TestTTS(t, e, enginetest.TTSOptions{Busy: e.pool.Busy})
}

// TestKilledWorker is replaced, before the first sound without a word.
func TestKilledWorker(t *testing.T) {
	e := start(t, Config{Processes: 1})
	for _, pid := range e.pool.PIDs() {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	expect(t, say(t, e, speech("M2", hello)), helloSays, "M2", 1.05, 8)
}

// TestCancelled: the worker is free again when the sequence has ended, and the cause comes last.
func TestCancelled(t *testing.T) {
	e := start(t, Config{Processes: 1})
	hangup := errors.New("hang-up")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var last error
	chunks := 0
	for _, err := range e.Speak(ctx, speech("F1", strings.Repeat("On and on it goes, on and on. ", 100))) {
		if last = err; err == nil {
			chunks++
		}
		cancel(hangup)
	}
	if last != hangup || chunks != 1 || e.pool.Busy() != 0 {
		t.Errorf("%d chunks, then %v; %d are busy", chunks, last, e.pool.Busy())
	}
	expect(t, say(t, e, speech("F1", hello)), helloSays, "F1", 1.05, 8)
}

// TestContract: a graph with another tensor is refused, and Ready names it.
func TestContract(t *testing.T) {
	for graph, g := range supertonictest.Graphs() {
		for _, tensor := range slices.Concat(g.Inputs[len(g.Inputs)-1:], g.Outputs) {
			refused(t, graph+".onnx: the tensor "+tensor.Name+" is missing", func(all map[string]onnxtest.Graph) { rename(all[graph], tensor.Name) })
		}
	}
	for want, change := range map[string]func(all map[string]onnxtest.Graph){
		"text_encoder.onnx: the tensor text_ids is float32[1,any]; an input int64[any,any] is needed": func(all map[string]onnxtest.Graph) {
			all["text_encoder"].Inputs[0].Type = onnx.Float32
		},
		"duration_predictor.onnx: the tensor style_dp is float32[1,9,16]; an input float32[any,8,16] is needed": func(all map[string]onnxtest.Graph) {
			all["duration_predictor"].Inputs[1].Shape = []int64{1, 9, 16}
		},
		"vocoder.onnx: the tensor latent is float32[1,120,any]; an input float32[any,144,any] is needed": func(all map[string]onnxtest.Graph) {
			all["vocoder"].Inputs[0].Shape = []int64{1, 120, onnx.Any}
		},
		"vector_estimator.onnx: the tensor guidance is an input that this version does not know": func(all map[string]onnxtest.Graph) {
			g := all["vector_estimator"]
			g.Inputs = append(g.Inputs, onnx.Tensor{Name: "guidance", Type: onnx.Float32, Shape: []int64{1}})
			all["vector_estimator"] = g
		},
	} {
		refused(t, want, change)
	}
}

// refused checks that Ready says of a changed model what is wrong.
func refused(t *testing.T, want string, change func(map[string]onnxtest.Graph)) {
	t.Helper()
	_, err := run(t, supertonictest.Write(t, change), Config{Processes: 1})
	if inference.FaultOf(err) != inference.ErrUnavailable || !strings.Contains(err.Error(), "contract: "+want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// rename gives a tensor of a graph another name.
func rename(g onnxtest.Graph, name string) {
	for _, list := range [][]onnx.Tensor{g.Inputs, g.Outputs} {
		for i := range list {
			if list[i].Name == name {
				list[i].Name = "other"
			}
		}
	}
	for n := range g.Nodes {
		for _, list := range [][]string{g.Nodes[n].In, g.Nodes[n].Out} {
			for i := range list {
				if list[i] == name {
					list[i] = "other"
				}
			}
		}
	}
}

// TestUnreadable: what is missing or broken is named by Ready.
func TestUnreadable(t *testing.T) {
	for _, file := range []string{"onnx/duration_predictor.onnx", "onnx/text_encoder.onnx", "onnx/vector_estimator.onnx", "onnx/vocoder.onnx", "onnx/tts.json", "voice_styles/F1.json"} {
		dir := supertonictest.Write(t, nil)
		if err := os.Remove(filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		if _, err := run(t, dir, Config{Processes: 1}); err == nil || !strings.Contains(err.Error(), filepath.Base(file)) {
			t.Errorf("%s: %v", file, err)
		}
	}
	dir := supertonictest.Write(t, nil)
	if err := os.WriteFile(filepath.Join(dir, "onnx", "vocoder.onnx"), []byte("these are no weights"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run(t, dir, Config{Processes: 1}); err == nil || !strings.Contains(err.Error(), "vocoder.onnx") {
		t.Error(err)
	}
	if _, err := run(t, supertonictest.Write(t, nil), Config{Library: "/nonexistent/" + onnx.Library, Processes: 1}); err == nil || !strings.Contains(err.Error(), onnx.Library+": no such file") {
		t.Error(err)
	}
}

// TestWrongNumbers: graphs that keep the contract and make nonsense end the speech, not the worker.
func TestWrongNumbers(t *testing.T) {
	for want, change := range map[string]func(all map[string]onnxtest.Graph){
		"duration_predictor.onnx has the speech last": func(all map[string]onnxtest.Graph) {
			all["duration_predictor"].Constants["each"] = onnx.Value{Float32: []float32{1e9}, Shape: []int64{1}}
		},
		"vocoder.onnx made": func(all map[string]onnxtest.Graph) {
			all["vocoder"].Constants["tone"] = onnx.Value{Float32: make([]float32, 100), Shape: []int64{1, 1, 100}}
		},
	} {
		e, err := run(t, supertonictest.Write(t, change), Config{Processes: 1})
		if err != nil {
			t.Fatal(err)
		}
		pids := e.pool.PIDs()
		var last error
		for _, last = range e.Speak(t.Context(), speech("F1", hello)) {
		}
		if inference.FaultOf(last) != inference.ErrFailed || !strings.Contains(last.Error(), want) {
			t.Errorf("%v, want %s", last, want)
		}
		if now := e.pool.PIDs(); !slices.Equal(now, pids) {
			t.Errorf("the worker ended: %v, was %v", now, pids)
		}
	}
}
