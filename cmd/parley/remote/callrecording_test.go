package remote

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestCallsRecording: a file, standard output, and what is not there.
func TestCallsRecording(t *testing.T) {
	fakeServer(t)
	file := filepath.Join(t.TempDir(), "call.ogg")
	o := run("", "calls", "recording", clienttest.Recorded, "-o", file, "--json")
	var did struct {
		Type  string
		Bytes int64
	}
	if err := json.Unmarshal([]byte(o.Out), &did); o.Status != command.ExitDone || err != nil || did.Type != "audio/ogg" || did.Bytes != int64(len(clienttest.RecordingOgg)) {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != clienttest.RecordingOgg {
		t.Errorf("the file has %q, %v", got, err)
	}
	if o = run("", "calls", "recording", clienttest.Recorded, "--format", "wav"); o.Status != command.ExitDone || o.Out != clienttest.RecordingWAV {
		t.Errorf("exit status %d: %q%s", o.Status, o.Out, o.ErrOut)
	}
	if o = run("", "calls", "recording", clienttest.Recorded, "--format", "mp3"); o.Status != command.ExitUsage {
		t.Errorf("a format that is none: exit status %d", o.Status)
	}
	lost := filepath.Join(t.TempDir(), "lost.ogg")
	if o = run("", "calls", "recording", "ses_nobody", "-o", lost); o.Status != command.ExitNotFound {
		t.Errorf("a call without one: exit status %d: %s", o.Status, o.ErrOut)
	}
	if _, err := os.Stat(lost); err == nil {
		t.Error("a file without a recording stays")
	}
}
