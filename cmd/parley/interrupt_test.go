package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestInterruptCancelsTheTask interrupts the program while the server works.
func TestInterruptCancelsTheTask(t *testing.T) {
	s := clienttest.New(t)
	s.StickTasks()
	cmd := parley(t.TempDir(), "synth", "hello", "-o", filepath.Join(t.TempDir(), "out.mp3"))
	cmd.Env = append(cmd.Env, "PARLEY_URL="+s.URL, "PARLEY_API_KEY="+clienttest.Key)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	asked := func(r string) bool { return slices.Contains(s.Requests(), r) }
	eventually(t, "the task is asked about", func() bool { return asked("GET /api/tts/tasks/task_1") })
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if _, ok := err.(*exec.ExitError); !ok || cmd.ProcessState.ExitCode() != command.ExitFailed || !strings.Contains(stderr.String(), "the task was cancelled") {
		t.Errorf("%v: %s", err, &stderr)
	}
	if !asked("DELETE /api/tts/tasks/task_1") {
		t.Errorf("asked %v", s.Requests())
	}
}
