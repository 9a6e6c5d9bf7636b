package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"parley/api/client/clienttest"
)

// TestCallsRecording: a file, standard output, and what is not there.
func TestCallsRecording(t *testing.T) {
	fakeServer(t)
	file := filepath.Join(t.TempDir(), "call.ogg")
	o := run("", "calls", "recording", clienttest.Recorded, "-o", file, "--json")
	var did fetched
	if err := json.Unmarshal([]byte(o.out), &did); o.status != exitDone || err != nil || did.Type != "audio/ogg" || did.Bytes != int64(len(clienttest.RecordingOgg)) {
		t.Errorf("exit status %d: %s%s", o.status, o.out, o.errOut)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != clienttest.RecordingOgg {
		t.Errorf("the file has %q, %v", got, err)
	}
	if o = run("", "calls", "recording", clienttest.Recorded, "--format", "wav"); o.status != exitDone || o.out != clienttest.RecordingWAV {
		t.Errorf("exit status %d: %q%s", o.status, o.out, o.errOut)
	}
	if o = run("", "calls", "recording", clienttest.Recorded, "--format", "mp3"); o.status != exitUsage {
		t.Errorf("a format that is none: exit status %d", o.status)
	}
	lost := filepath.Join(t.TempDir(), "lost.ogg")
	if o = run("", "calls", "recording", "ses_nobody", "-o", lost); o.status != exitNotFound {
		t.Errorf("a call without one: exit status %d: %s", o.status, o.errOut)
	}
	if _, err := os.Stat(lost); err == nil {
		t.Error("a file without a recording stays")
	}
}
