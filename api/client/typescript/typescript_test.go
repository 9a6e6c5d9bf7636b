package typescript_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestModules runs what needs no browser: filters, the queue, the state of a conversation, and a session over a
// network that the tests play.
func TestModules(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here: make test installs it")
	}
	dir := t.TempDir()
	// Without it node takes the files for something else than modules.
	if err := os.WriteFile(filepath.Join(dir, "package.json"), []byte(`{"type":"module"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"voice/*.js", "testdata/*.test.js"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal("no files match", pattern, err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), node, "--test", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
