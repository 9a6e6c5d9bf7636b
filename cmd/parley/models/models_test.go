package models

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"parley/cmd/parley/command"
	"parley/cmd/parley/command/commandtest"
	"parley/inference/model"
	"parley/inference/model/modeltest"
)

// newRoot is a program with the commands of this package and a catalogue.
func newRoot(catalogue []*model.Manifest) *cobra.Command {
	root := &cobra.Command{Use: "parley"}
	root.AddCommand(newCommand(catalogue))
	return root
}

// machine is a data directory and a catalogue.
type machine struct {
	t         *testing.T
	dir       string
	catalogue []*model.Manifest
}

func newMachine(t *testing.T, catalogue ...*model.Manifest) *machine {
	return &machine{t, filepath.Join(t.TempDir(), "data"), catalogue}
}

func (m *machine) run(in string, args ...string) commandtest.Outcome {
	m.t.Setenv("PARLEY_DATA_DIR", m.dir)
	return commandtest.Run(newRoot(m.catalogue), in, append([]string{"models"}, args...), ExitStatus)
}

// does runs a command that must end so and say so.
func (m *machine) does(status int, says string, args ...string) commandtest.Outcome {
	m.t.Helper()
	o := m.run("", args...)
	if o.Status != status || !strings.Contains(o.Out+o.ErrOut, says) {
		m.t.Errorf("%q: exit status %d, want %d and %q:\n%s%s", args, o.Status, status, says, o.Out, o.ErrOut)
	}
	return o
}

// listed is a model as list --json shows it.
func (m *machine) listed(id string) (found row) {
	m.t.Helper()
	o := m.does(command.ExitDone, "", "list", "--json")
	var list struct{ Models []row }
	if err := json.Unmarshal([]byte(o.Out), &list); err != nil {
		m.t.Fatal(err)
	}
	for _, r := range list.Models {
		if r.ID == id {
			return r
		}
	}
	m.t.Fatalf("no %s in %s", id, o.Out)
	return row{}
}

func TestEmbeddedModels(t *testing.T) {
	m := newMachine(t, model.Catalogue()...)
	t.Setenv("PARLEY_VAD", "spectral,silero")
	o := m.does(command.ExitDone, "silero-vad", "list")
	if lines := strings.Split(strings.TrimSpace(o.Out), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "ID ") || strings.Count(o.Out, "embedded") != 2 {
		t.Errorf("%s", o.Out)
	}
	if r := m.listed("silero-vad"); r.State != model.Embedded || r.Bytes != 2327524 || r.Version != "v5" || r.Licence != "MIT" || strings.Join(r.UsedBy, " ") != "vad" {
		t.Errorf("%+v", r)
	}
	if r := m.listed("gtcrn"); len(r.UsedBy) != 0 {
		t.Errorf("%+v", r)
	}
	m.does(command.ExitDone, "part of the program", "pull", "gtcrn")
	m.does(command.ExitDone, "embedded", "verify", "gtcrn")
	m.does(command.ExitFailed, "part of the program", "pack", "gtcrn", "-o", "x.tar")
	m.does(command.ExitFailed, "embedded", "rm", "gtcrn")
	m.does(command.ExitDone, "sha256: 01a5286d", "manifest", "gtcrn")
	if _, err := os.Stat(m.dir); !os.IsNotExist(err) {
		t.Errorf("a command made the data directory: %v", err)
	}
}

// TestPull brings a model, damages it, and takes it to another machine.
func TestPull(t *testing.T) {
	tiny := modeltest.Tiny()
	host := modeltest.NewHost(t, tiny.Files)
	tiny.Bases = []string{host.URL}
	m := newMachine(t, tiny.Manifest(t))
	if r := m.listed("tiny"); r.State != model.Absent {
		t.Errorf("%+v", r)
	}
	o := m.does(command.ExitDone, "tiny@1 is installed in "+filepath.Join(m.dir, "models", "tiny", "1"), "pull", "tiny")
	if !strings.Contains(o.ErrOut, "Licence: MIT") {
		t.Errorf("%s", o.ErrOut)
	}
	if info, err := os.Stat(m.dir); err != nil || info.Mode().Perm()&0o077&^0o011 != 0 {
		t.Errorf("%v, %v", info, err)
	}
	tiny.Check(t, filepath.Join(m.dir, "models", "tiny", "1"))
	if r := m.listed("tiny"); r.State != model.Installed || r.Have != r.Bytes || r.Bytes == 0 {
		t.Errorf("%+v", r)
	}
	host.Asked()
	m.does(command.ExitDone, "nothing was brought", "pull", "tiny@1")
	if o := m.does(command.ExitDone, `"bytes_brought":0`, "pull", "tiny", "--json"); strings.Contains(o.ErrOut, "Licence") || !json.Valid([]byte(o.Out)) {
		t.Errorf("%s%s", o.Out, o.ErrOut)
	}
	if len(host.Asked()) != 0 {
		t.Error("it was downloaded again")
	}
	m.does(command.ExitDone, "tiny@1", "verify")

	archive := filepath.Join(t.TempDir(), "tiny.tar")
	m.does(command.ExitDone, "packed tiny@1", "pack", "tiny", "-o", archive)
	packed, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	if o := m.does(command.ExitDone, "", "pack", "tiny", "-o", "-"); o.Out != string(packed) {
		t.Errorf("%d bytes on standard output, %d in the file", len(o.Out), len(packed))
	}

	if err := os.WriteFile(filepath.Join(m.dir, "models", "tiny", "1", "model.onnx"), []byte(strings.Repeat("x", len(tiny.Files["model.onnx"]))), 0o600); err != nil {
		t.Fatal(err)
	}
	m.does(command.ExitFailed, "model.onnx", "verify")
	m.does(command.ExitFailed, `"damaged":["model.onnx"]`, "verify", "tiny", "--json")
	m.does(command.ExitFailed, "model.onnx", "pack", "tiny", "-o", archive)
	if now, err := os.ReadFile(archive); err != nil || !bytes.Equal(now, packed) {
		t.Errorf("the archive was replaced: %v", err)
	}
	m.does(command.ExitDone, "64", "pull", "tiny", "--json")
	m.does(command.ExitDone, "tiny@1", "verify")
	m.does(command.ExitDone, "deleted tiny@1", "rm", "tiny")
	m.does(command.ExitFailed, "absent", "rm", "tiny")

	// Elsewhere nobody knows it, and there is no network.
	for name, from := range map[string]string{"archive": archive, "directory": tiny.Dir(t)} {
		there := newMachine(t)
		if name == "directory" {
			there.does(command.ExitFailed, "has no manifest", "pull", "tiny", "--from", from)
			modeltest.Write(t, filepath.Join(from, "manifest.yaml"), tiny.YAML())
		}
		there.does(command.ExitFailed, "has tiny@1", "pull", "large", "--from", from)
		there.does(command.ExitDone, "is installed", "pull", "tiny", "--from", from)
		tiny.Check(t, filepath.Join(there.dir, "models", "tiny", "1"))
	}
	there := newMachine(t)
	if o := there.run(string(packed), "pull", "tiny", "--from", "-"); o.Status != command.ExitDone {
		t.Errorf("%+v", o)
	}
	known := newMachine(t, tiny.Manifest(t))
	known.does(command.ExitDone, "is installed", "pull", "tiny", "--from", tiny.Dir(t)) // files alone
	if len(host.Asked()) != 1 {
		t.Error("the network was used")
	}
}

func TestAdd(t *testing.T) {
	tiny := modeltest.Tiny()
	manifest := filepath.Join(t.TempDir(), "tiny.yaml")
	m := newMachine(t)
	modeltest.Write(t, manifest, tiny.YAML())
	m.does(command.ExitFailed, "no address", "add", "--manifest", manifest)
	if r := m.listed("tiny"); r.State != model.Partial {
		t.Errorf("%+v", r)
	}
	m.does(command.ExitDone, "partial, 0 %", "list")
	m.does(command.ExitFailed, "1 of 1", "verify")
	m.does(command.ExitDone, "is installed", "add", "--manifest", manifest, tiny.Dir(t))
	m.does(command.ExitDone, "nothing was brought", "add", "--manifest", manifest)
	if o := m.does(command.ExitDone, "id: tiny", "manifest", "tiny"); !strings.Contains(o.Out, "path: model.onnx") {
		t.Errorf("%s", o.Out)
	}

	// With addresses it comes from there, or from a mirror.
	host := modeltest.NewHost(t, tiny.Files)
	tiny.Bases = []string{host.URL}
	modeltest.Write(t, manifest, tiny.YAML())
	m = newMachine(t)
	m.does(command.ExitDone, "is installed", "add", "--manifest", manifest)
	mirror := modeltest.NewHost(t, map[string]string{"m/tiny/1/model.onnx": tiny.Files["model.onnx"], "m/tiny/1/voice/a.bin": tiny.Files["voice/a.bin"]})
	t.Setenv("PARLEY_MODELS_URL", mirror.URL+"/m/")
	elsewhere := filepath.Join(t.TempDir(), "weights")
	t.Setenv("PARLEY_MODELS_DIR", elsewhere)
	host.Asked()
	m = newMachine(t)
	m.does(command.ExitDone, "is installed in "+elsewhere, "add", "--manifest", manifest)
	tiny.Check(t, filepath.Join(elsewhere, "tiny", "1"))
	if len(host.Asked()) != 0 || len(mirror.Asked()) != 2 {
		t.Error("the mirror was not used")
	}
	if _, err := os.Stat(m.dir); !os.IsNotExist(err) {
		t.Errorf("the data directory was made: %v", err)
	}

	modeltest.Write(t, manifest, strings.Replace(tiny.YAML(), "path: model.onnx", "path: ../model.onnx", 1))
	m.does(command.ExitFailed, "files[0].path", "add", "--manifest", manifest)
	tiny.Files["model.onnx"] = "another"
	modeltest.Write(t, manifest, tiny.YAML())
	m.does(command.ExitFailed, "another model", "add", "--manifest", manifest, tiny.Dir(t))
}

func TestLicences(t *testing.T) {
	tiny := modeltest.Tiny()
	host := modeltest.NewHost(t, tiny.Files)
	tiny.Bases = []string{host.URL}
	tiny.Licence = "{name: Terms of Use, accept: true, conditions: Say who made it., sha256: " + strings.Repeat("a", 64) + "}"
	m := newMachine(t, tiny.Manifest(t))
	o := m.does(command.ExitRefused, "--accept-licence tiny", "pull", "tiny")
	if !strings.Contains(o.ErrOut, "Terms of Use") || !strings.Contains(o.ErrOut, "Say who made it.") {
		t.Errorf("%s", o.ErrOut)
	}
	m.does(command.ExitRefused, "--accept-licence tiny", "pull", "tiny", "--accept-licence", "large")
	m.does(command.ExitRefused, "--accept-licence tiny", "pull", "tiny", "--json")
	if len(host.Asked()) != 0 {
		t.Error("it was downloaded nevertheless")
	}
	for _, tt := range []struct {
		answer string
		status int
	}{{"no\n", command.ExitRefused}, {"\n", command.ExitRefused}, {"\x04", command.ExitRefused}, {"Yes \n", command.ExitDone}} {
		tty, person := commandtest.Terminal(t)
		if _, err := person.WriteString(tt.answer); err != nil {
			t.Fatal(err)
		}
		var out, errOut bytes.Buffer
		status := command.Execute(newRoot(m.catalogue), []string{"models", "pull", "tiny"}, tty, &out, &errOut, ExitStatus)
		if status != tt.status || !strings.Contains(errOut.String(), "Type yes to accept the licence Terms of Use: ") {
			t.Errorf("%q: exit status %d: %s%s", tt.answer, status, &out, &errOut)
		}
	}
	// It was accepted, once and for all.
	m.does(command.ExitDone, "nothing was brought", "pull", "tiny")
	kept, err := os.ReadFile(filepath.Join(m.dir, "models", "tiny", "1", "accepted.yaml"))
	if err != nil || !strings.Contains(string(kept), "licence: Terms of Use") || !strings.Contains(string(kept), "by: ") {
		t.Errorf("%v: %s", err, kept)
	}
	m.does(command.ExitDone, "deleted", "rm", "tiny")
	m.does(command.ExitDone, `"state":"installed"`, "pull", "tiny", "--accept-licence", "tiny", "--json")
}

// TestModelsInUse: the settings' engines keep a model.
func TestModelsInUse(t *testing.T) {
	tiny := modeltest.Tiny()
	tiny.Engine = "openai/tiny"
	settings := filepath.Join(t.TempDir(), "parley.yaml")
	modeltest.Write(t, settings, `engines:
  - {name: small, stage: llm, vendor: openai, url: "http://127.0.0.1:1/v1", model: tiny}
  - {name: exact, stage: asr, vendor: openai, url: "http://127.0.0.1:1/v1", model: tiny@1}
  - {name: choice, stage: tts, vendor: openai, url: "http://127.0.0.1:1/v1", model: other, models: [other, tiny]}
  - {name: older, stage: tts, vendor: openai, url: "http://127.0.0.1:1/v1", model: tiny@0}
  - {name: vendors, stage: llm, vendor: anthropic, key: secret, model: tiny}
`)
	m := newMachine(t, tiny.Manifest(t))
	m.does(command.ExitDone, "is installed", "pull", "tiny", "--from", tiny.Dir(t))
	m.does(command.ExitDone, "exact, small, choice", "list", "--config", settings)
	o := m.does(command.ExitFailed, "exact, small, choice", "rm", "tiny", "--config", settings)
	if !strings.Contains(o.ErrOut, "--force") {
		t.Errorf("%s", o.ErrOut)
	}
	if r := m.listed("tiny"); r.State != model.Installed || len(r.UsedBy) != 0 {
		t.Errorf("%+v", r)
	}
	m.does(command.ExitDone, `"deleted":true`, "rm", "tiny", "--force", "--json", "--config", settings)
	if r := m.listed("tiny"); r.State != model.Absent {
		t.Errorf("%+v", r)
	}
}

func TestMistakes(t *testing.T) {
	gone := modeltest.NewHost(t, nil)
	tiny := modeltest.Tiny(gone.URL)
	m := newMachine(t, tiny.Manifest(t))
	for _, tt := range []struct {
		status int
		says   string
		args   []string
	}{
		{command.ExitFailed, `no such model: "large"; parley models add`, []string{"pull", "large"}},
		{command.ExitFailed, "no such model", []string{"rm", "large"}},
		{command.ExitFailed, "no such model", []string{"verify", "large"}},
		{command.ExitFailed, "no such model", []string{"manifest", "../tiny"}},
		{command.ExitFailed, "not installed", []string{"pull", "tiny"}},
		{command.ExitFailed, "404 Not Found", []string{"pull", "tiny"}},
		{command.ExitFailed, "is partial", []string{"pack", "tiny", "-o", filepath.Join(t.TempDir(), "x.tar")}},
		{command.ExitFailed, "no such file", []string{"pull", "tiny", "--from", filepath.Join(t.TempDir(), "x.tar")}},
		{command.ExitFailed, "no archive", []string{"pull", "tiny", "--from", "models_test.go"}},
		{command.ExitFailed, "no such file", []string{"add", "--manifest", filepath.Join(t.TempDir(), "x.yaml")}},
		{command.ExitFailed, "models_test.go: the manifest is wrong", []string{"add", "--manifest", "models_test.go"}},
		{command.ExitUsage, "manifest", []string{"add", "."}},
		{command.ExitUsage, "out", []string{"pack", "tiny"}},
		{command.ExitUsage, "arg", []string{"pull"}},
		{command.ExitUsage, "arg", []string{"rm", "tiny", "large"}},
		{command.ExitUsage, "unknown", []string{"nonsense"}},
		{command.ExitUsage, "pipe", []string{"pack", "tiny", "-o", "-", "--json"}},
	} {
		m.does(tt.status, tt.says, tt.args...)
	}
}

func TestCompletion(t *testing.T) {
	m := newMachine(t, append(model.Catalogue(), modeltest.Tiny().Manifest(t))...)
	t.Setenv("PARLEY_DATA_DIR", m.dir)
	tab := func(args ...string) string {
		return commandtest.Run(newRoot(m.catalogue), "", append([]string{"__complete", "models"}, args...), ExitStatus).Out
	}
	if got := tab("pull", ""); !strings.HasPrefix(got, "gtcrn\nsilero-vad\ntiny\n:") {
		t.Errorf("%s", got)
	}
	t.Setenv("PARLEY_LOG", "nonsense")
	if got := tab("pull", ""); !strings.HasPrefix(got, ":") {
		t.Errorf("%s", got)
	}
}
