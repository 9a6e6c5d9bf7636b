package acceptance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/inference/model/modeltest"
	"parley/inference/onnx"
	"parley/inference/onnx/onnxtest"
	"parley/inference/smartturn/smartturntest"
	"parley/inference/supertonic/supertonictest"
)

// bring installs a model of an operator's, with the files in files.
func bring(t *testing.T, dir string, m modeltest.Model, files string) {
	t.Helper()
	m.Version, m.Files = "1", map[string]string{}
	err := fs.WalkDir(os.DirFS(files), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(filepath.Join(files, path))
		m.Files[path] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(t.TempDir(), "manifest.yaml")
	modeltest.Write(t, manifest, m.YAML())
	if o := do(t, command(dir, nil, "models", "add", "--manifest", manifest, files)); o.status != 0 {
		t.Fatalf("%s: exit status %d, %s%s", m.ID, o.status, o.out, o.errOut)
	}
}

// TestNeuralModels: an operator brings a voice and a judge of the end of turns, and calls have them; stand-ins of the published
// networks, in ONNX Runtime. What is wrong with a model is said before a call needs it.
func TestNeuralModels(t *testing.T) {
	t.Parallel()
	dir, turns, voices := newDataDir(t), t.TempDir(), supertonictest.Write(t, nil)
	smartturntest.Write(t, turns)
	bring(t, dir, modeltest.Model{ID: "my-turns", Engine: "onnx/smart-turn"}, turns)
	bring(t, dir, modeltest.Model{ID: "my-voices", Stage: "tts", Engine: "onnx/supertonic"}, voices)
	file := filepath.Join(t.TempDir(), "parley.yaml")
	modeltest.Write(t, file, `engines:
  - {name: turns, stage: turn, vendor: onnx, model: my-turns}
  - {name: voices, stage: tts, vendor: onnx, model: my-voices}
tts: [voices, espeak]
`)
	env := []string{"PARLEY_CONFIG=" + file, "PARLEY_ONNX_LIBRARY=" + onnxtest.Library(t)}
	if o := do(t, command(dir, env, "models", "list")); !strings.Contains(o.out, "voices") || !strings.Contains(o.out, "turns") {
		t.Errorf("%s%s", o.out, o.errOut)
	}
	if o := do(t, command(dir, env, "doctor")); !strings.Contains(o.out, "voices works") || !strings.Contains(o.out, "turns works") {
		t.Errorf("%s%s", o.out, o.errOut)
	}
	for args, want := range map[string]string{"list": "voices", "test voices": "parley doctor", "bench voices": "this machine"} {
		if o := do(t, command(dir, env, append([]string{"engine"}, strings.Fields(args)...)...)); !strings.Contains(o.out+o.errOut, want) {
			t.Errorf("%s: exit status %d, %s%s", args, o.status, o.out, o.errOut)
		}
	}
	s := serve(t, dir, env)
	who := newCustomer(t, s, "10")
	asks, spoken := []string{"PARLEY_URL=http://" + s.addrs["http"], "PARLEY_API_KEY=" + who.key}, filepath.Join(t.TempDir(), "spoken.wav")
	if o := do(t, command(dir, asks, "synth", "One. Two.", "--engine", "voices", "-o", spoken)); o.status != 0 {
		t.Errorf("exit status %d, %s", o.status, o.errOut)
	} else if info, err := os.Stat(spoken); err != nil || info.Size() < 44_100 {
		t.Errorf("%v, %v", info, err)
	}
	if o := do(t, command(dir, asks, "synth", "One. Two.", "--engine", "gone", "-o", spoken)); o.status == 0 || !strings.Contains(o.errOut, `"gone" is none`) {
		t.Errorf("exit status %d, %s", o.status, o.errOut)
	}
	c := connect(t, s, who.key, who.agent)
	c.awaitStatus("listening")
	c.say(question(t, micRate))
	c.awaitWords("open", "monday")
	c.awaitStatus("speaking")
	c.awaitStatus("listening")
	c.hangUp()
	var past struct{ Engines map[string]any }
	readAs(t, s, who.key, "/v1/calls/"+openBooks(t, s).closed(who.account, 1)[0].ID, &past)
	if got := fmt.Sprint(past.Engines); !strings.Contains(got, "voices") {
		t.Errorf("served by %s", got)
	}

	wrong := smartturntest.Network()
	wrong.Inputs[0].Shape = []int64{onnx.Any, 64, onnx.Any}
	other := t.TempDir()
	onnxtest.Write(t, other, "other.onnx", wrong)
	bring(t, dir, modeltest.Model{ID: "other-turns", Engine: "onnx/smart-turn"}, other)
	modeltest.Write(t, file, "engines: [{name: turns, stage: turn, vendor: onnx, model: other-turns}]\n")
	if o := do(t, command(dir, env, "doctor")); !strings.Contains(o.out, "contract: other.onnx: the tensor input_features is float32[any,64,any]") {
		t.Errorf("%s%s", o.out, o.errOut)
	}
	s.kill()
	for model, want := range map[string]string{"gone": "gone", "my-voices": "onnx/supertonic"} {
		modeltest.Write(t, file, "engines: [{name: turns, stage: turn, vendor: onnx, model: "+model+"}]\n")
		if o := do(t, command(dir, env, "serve")); o.status == 0 || !strings.Contains(o.errOut, want) {
			t.Errorf("%s: exit status %d, %s", model, o.status, o.errOut)
		}
	}
}
