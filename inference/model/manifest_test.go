package model_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/inference/model"
	"parley/inference/model/modeltest"
)

func TestManifest(t *testing.T) {
	const text = "terms of use\n"
	m, err := model.ReadManifest(strings.NewReader(`
id: smart-turn-v3.2
stage: turn
licence:
  name: Some Licence
  sha256: ` + fmt.Sprintf("%x", sha256.Sum256([]byte(text))) + `
  accept: true
  conditions: Say who made it.
  text: |
    terms of use
engine: onnx/smart-turn
memory_mb: 60
files:
- {path: b/model.onnx, bytes: 12, sha256: "` + strings.Repeat("b", 64) + `", urls: ["https://models.example/b?x=1", "http://127.0.0.1:1/b"]}
- {path: a.bin, bytes: 30, sha256: "` + strings.Repeat("a", 64) + `"}
settings: {threshold: 0.5, window_seconds: 8}
`))
	if err != nil {
		t.Fatal(err)
	}
	// What sha256sum prints, sorted.
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Repeat("a", 64)+"  a.bin\n"+strings.Repeat("b", 64)+"  b/model.onnx\n")))
	if m.Version != sum[:12] || m.Ref() != "smart-turn-v3.2@"+sum[:12] || m.Bytes() != 42 {
		t.Errorf("%s, %d bytes", m.Ref(), m.Bytes())
	}
	if m.Licence.Text != text || !m.Licence.Accept || m.MemoryMB != 60 || m.Settings["threshold"] != 0.5 || len(m.Files[0].URLs) != 2 {
		t.Errorf("%+v", m)
	}
	once, err := m.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := model.ReadManifest(bytes.NewReader(once))
	if err != nil {
		t.Fatalf("%v in\n%s", err, once)
	}
	if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
		t.Errorf("%v\n%s\n%s", err, once, twice)
	}
}

// TestWrongManifests: a manifest may be anybody's.
func TestWrongManifests(t *testing.T) {
	good := modeltest.Tiny("https://models.example").YAML()
	for _, tt := range []struct{ old, new, want string }{
		{"id: tiny", "", "id"},
		{"id: tiny", "id: ../tiny", "id"},
		{"id: tiny", "id: .tiny", "id"},
		{"id: tiny", "id: Tiny", "id"},
		{"id: tiny", "id: " + strings.Repeat("t", 65), "id"},
		{`version: "1"`, `version: ".."`, "version"},
		{`version: "1"`, `version: "1/2"`, "version"},
		{"stage: turn", "stage: turns", "asr, llm"},
		{"engine: onnx/tiny", "engine: ONNX", "engine"},
		{"engine: onnx/tiny", "engine: onnx/../tiny", "engine"},
		{"licence: {name: MIT}", "", "licence.name"},
		{"{name: MIT}", `{name: "MIT\nyes"}`, "licence.name"},
		{"{name: MIT}", `{name: "MIT\e[2J"}`, "control characters"},
		{"{name: MIT}", `{name: MIT, conditions: "\x9b2J"}`, "control characters"},
		{"{name: MIT}", "{name: MIT, accept: true}", "licence.sha256"},
		{"{name: MIT}", "{name: MIT, sha256: abc}", "licence.sha256"},
		{"{name: MIT}", "{name: MIT, text: terms}", "licence.text"},
		{"{name: MIT}", "{name: MIT, sha256: " + strings.Repeat("0", 64) + ", text: terms}", "licence.text"},
		{"path: model.onnx", "path: ../model.onnx", "files[0].path"},
		{"path: model.onnx", "path: voice/../../model.onnx", "files[0].path"},
		{"path: model.onnx", "path: /etc/passwd", "files[0].path"},
		{"path: model.onnx", `path: "a\\..\\b"`, "files[0].path"},
		{"path: model.onnx", `path: "a\0b"`, "files[0].path"},
		{"path: model.onnx", "path: a//b", "files[0].path"},
		{"path: model.onnx", "path: .", "files[0].path"},
		{"path: model.onnx", `path: ""`, "files[0].path"},
		{"path: model.onnx", "path: Manifest.YAML", "files[0].path"},
		{"path: model.onnx", "path: accepted.yaml/x", "files[0].path"},
		{"path: model.onnx", "path: model.PART", "files[0].path"},
		{"path: model.onnx", "path: a.part/model", "files[0].path"},
		{"path: model.onnx", "path: a.tag", "files[0].path"},
		{"path: model.onnx", "path: a/b/c/d/e/f/g/h/i", "files[0].path"},
		{"path: voice/a.bin", "path: model.onnx", "in the way"},
		{"path: voice/a.bin", "path: MODEL.onnx", "in the way"},
		{"path: voice/a.bin", "path: model.onnx/a", "in the way"},
		{"path: model.onnx", "path: voice", "in the way"},
		{"bytes: 64", "bytes: 0", "files[0].bytes"},
		{"bytes: 64", "bytes: -1", "files[0].bytes"},
		{"bytes: 64", "bytes: 1e30", "manifest"},
		{"bytes: 64", "bytes: 9000000000000000000", "files[0].bytes"},
		{"bytes: 64, ", "", "files[0].bytes"},
		{`sha256: "`, `sha256: "0`, "files[0].sha256"},
		{"[https://models.example/model.onnx]", "[file:///etc/passwd]", "files[0].urls[0]"},
		{"[https://models.example/model.onnx]", "[https://me:secret@models.example/x]", "files[0].urls[0]"},
		{"[https://models.example/model.onnx]", "[https:///x]", "files[0].urls[0]"},
		{"stage: turn", "stage: turn\nmemory_mb: -1", "memory_mb"},
		{"stage: turn", "stage: turn\nembedded: true", "embedded"},
		{"stage: turn", "stage: turn\nstage: turn", "stage"},
		{"stage: turn", "stage: turn\ncolour: red", "colour"},
		{"stage: turn", "stage: turn\nsettings: {x: .nan}", "settings"},
		{"stage: turn", "stage: turn\nsettings: {x: {1: 2}}", "settings"},
		{good, "", "empty"},
		{good, "id: [", "manifest"},
		{good, "- a\n", "manifest"},
		{good, good + "---\n" + good, "follows"},
		{good, good + "#" + strings.Repeat("x", 1<<20), "bytes"},
		{good, good[:strings.Index(good, "files:")], "files"},
		{good, good[:strings.Index(good, "- {")] + strings.Repeat(good[strings.Index(good, "- {"):], 33), "files are 66"},
	} {
		text := strings.Replace(good, tt.old, tt.new, 1)
		if text == good {
			t.Fatalf("%q is not in the manifest", tt.old)
		}
		if m, err := model.ReadManifest(strings.NewReader(text)); !errors.Is(err, model.ErrManifest) || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q for %q: %+v, %v", tt.new, tt.old, m, err)
		}
	}
}

// FuzzManifest: what is read stays in its directory, and is read again as it was written.
func FuzzManifest(f *testing.F) {
	f.Add(modeltest.Tiny("https://models.example").YAML())
	f.Add("id: a\nstage: vad\nengine: x\nlicence: {name: &a b, conditions: *a}\nfiles: [{path: x, bytes: 1, sha256: " + strings.Repeat("1", 64) + "}]\nsettings: {a: !!binary aGk=, b: 2001-01-01, c: [1, ~]}")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := model.ReadManifest(strings.NewReader(text))
		if err != nil {
			return
		}
		if strings.ContainsAny(m.ID+m.Version, `/\`) || strings.HasPrefix(m.ID, ".") || strings.HasPrefix(m.Version, ".") {
			t.Errorf("%q", m.Ref())
		}
		for _, f := range m.Files {
			if !filepath.IsLocal(f.Path) || strings.Contains(f.Path, `\`) || filepath.Clean(f.Path) != f.Path {
				t.Errorf("%q", f.Path)
			}
		}
		once, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := model.ReadManifest(bytes.NewReader(once))
		if err != nil {
			t.Fatalf("%v in\n%s", err, once)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%v\n%s\n%s", err, once, twice)
		}
	})
}

// TestCatalogue: what is embedded is what the vendored files are, and all others have addresses.
func TestCatalogue(t *testing.T) {
	vendored := map[string]string{"silero-vad": "../../media/vad/silero/vendor", "gtcrn": "../../media/denoise/gtcrn/vendor"}
	for _, m := range model.Catalogue() {
		if !m.Embedded {
			continue
		}
		for _, f := range m.Files {
			content, err := os.ReadFile(filepath.Join(vendored[m.ID], f.Path))
			if err != nil || int64(len(content)) != f.Bytes || fmt.Sprintf("%x", sha256.Sum256(content)) != f.SHA256 {
				t.Errorf("%s: %s: %v, %d bytes", m.ID, f.Path, err, len(content))
			}
		}
		var pinned []struct{ Files map[string]string }
		text, err := os.ReadFile(filepath.Join(vendored[m.ID], "vendor.json"))
		if err == nil {
			err = json.Unmarshal(text, &pinned)
		}
		if err != nil || pinned[0].Files[m.Files[0].Path] != m.Files[0].SHA256 {
			t.Errorf("%s: %v, %+v", m.ID, err, pinned)
		}
		delete(vendored, m.ID)
	}
	if len(vendored) > 0 {
		t.Errorf("the catalogue lacks %v", vendored)
	}
}
