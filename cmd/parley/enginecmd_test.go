package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/cmd/parley/command"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
)

// TestEngineListIsTruthful: no vendor has answered any of its engines yet, and the list says so of each.
func TestEngineListIsTruthful(t *testing.T) {
	text, vendors := "engines:\n", 0
	for stage, list := range map[string]string{"asr": "assemblyai cartesia deepgram elevenlabs openai soniox", "llm": "anthropic gemini openai",
		"tts": "cartesia deepgram elevenlabs inworld openai rime", "realtime": "gemini openai"} {
		for _, vendor := range strings.Fields(list) {
			vendors++
			text += fmt.Sprintf("  - {name: e%d, stage: %s, vendor: %s, key: k, url: \"http://127.0.0.1:1\"}\n", vendors, stage, vendor)
		}
	}
	if n := len(engine.Documented()); n != vendors {
		t.Errorf("there are engines of %d vendors and stages, listed are %d", n, vendors)
	}
	file := filepath.Join(t.TempDir(), "parley.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := run("", "engine", "list", "--config", file, "--json")
	var listed struct {
		Engines []struct{ Name, Vendor, Tried string }
	}
	if err := json.Unmarshal([]byte(o.Out), &listed); err != nil || o.Status != command.ExitDone {
		t.Fatalf("exit status %d, %v: %s", o.Status, err, o.ErrOut)
	}
	for _, e := range listed.Engines {
		want := "tried against a fake only"
		if (config.Engine{Vendor: e.Vendor}).Embedded() {
			want = "yes"
		} else {
			vendors--
		}
		if e.Tried != want {
			t.Errorf("%s of %s: %s", e.Name, e.Vendor, e.Tried)
		}
	}
	if vendors != 0 {
		t.Errorf("%d are not listed", vendors)
	}
}
