package remote

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestSounds: sounds are added, listed, fetched and deleted.
func TestSounds(t *testing.T) {
	fakeServer(t)
	dir := t.TempDir()
	file, out := filepath.Join(dir, "waltz.wav"), filepath.Join(dir, "out.wav")
	if err := os.WriteFile(file, []byte("RIFF and more"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args   []string
		status int
		out    string // what is printed has it
		errOut string
	}{
		{[]string{"add", file}, command.ExitDone, clienttest.Waltz + "\n", ""},
		{[]string{"add", file, "--json"}, command.ExitDone, `"name":"waltz"`, ""},
		{[]string{"add", file, "--name", "Fanfare", "--json"}, command.ExitDone, `"name":"Fanfare"`, ""},
		{[]string{"add", filepath.Join(dir, "nowhere.wav")}, command.ExitFailed, "", "nowhere.wav"},
		{[]string{"add"}, command.ExitUsage, "", ""},
		{[]string{"list"}, command.ExitDone, clienttest.Waltz + "  Waltz  42s     2026-03-01", ""},
		{[]string{"get", clienttest.Waltz, "-o", out, "--json"}, command.ExitDone, `"bytes":3244`, ""},
		{[]string{"get", "snd_none", "-o", filepath.Join(dir, "none.wav")}, command.ExitNotFound, "", "There is no such thing"},
		{[]string{"delete", clienttest.Waltz}, command.ExitDone, "deleted\t" + clienttest.Waltz + "\n", ""},
		{[]string{"delete", "snd_none"}, command.ExitNotFound, "", ""},
	} {
		o := run("", append([]string{"sound"}, tt.args...)...)
		if o.Status != tt.status || !strings.Contains(o.Out, tt.out) || !strings.Contains(o.ErrOut, tt.errOut) {
			t.Errorf("%v: exit status %d, %s%s", tt.args, o.Status, o.Out, o.ErrOut)
		}
	}
	if b, err := os.ReadFile(out); err != nil || !strings.HasPrefix(string(b), "RIFF") {
		t.Errorf("%q, %v", b, err)
	}
}
