package remote

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/api/starter"
	"parley/cmd/parley/command"
)

// TestAgentNew: each template becomes a file, which is pushed as it is.
func TestAgentNew(t *testing.T) {
	s := fakeServer(t)
	file := filepath.Join(t.TempDir(), "agent.yaml")
	for _, name := range starter.Names() {
		printed := run("", "agent", "new", "--template", name)
		if printed.Status != command.ExitDone || !strings.HasPrefix(printed.Out, "name: ") || printed.ErrOut != "" {
			t.Errorf("%s: exit status %d: %s%s", name, printed.Status, printed.Out, printed.ErrOut)
		}
		written := run("", "agent", "new", "--template", name, "--out", file)
		text, err := os.ReadFile(file)
		if err != nil || written.Status != command.ExitDone || string(text) != printed.Out || written.Out != "" {
			t.Errorf("%s: exit status %d: %s%s, %v\n%s", name, written.Status, written.Out, written.ErrOut, err, text)
		}
		var a struct{ Name, Prompt string }
		if o := run("", "agent", "new", "--template", name, "--json"); json.Unmarshal([]byte(o.Out), &a) != nil || a.Name == "" || a.Prompt == "" {
			t.Errorf("%s: exit status %d: %s%s", name, o.Status, o.Out, o.ErrOut)
		}
	}
	if asked := s.Requests(); len(asked) != 0 {
		t.Errorf("the server was asked %q", asked)
	}
	if o := run("", "agent", "push", file); o.Status != command.ExitDone || !strings.Contains(o.Out, "created\tag_new") {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	for args, want := range map[string]string{"": `"template" not set`, "--template nobody": "--template is one of receptionist, ", "--template leads extra": "unknown command"} {
		if o := run("", append([]string{"agent", "new"}, strings.Fields(args)...)...); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, want) {
			t.Errorf("%s: exit status %d: %s", args, o.Status, o.ErrOut)
		}
	}
	if o := run("", "agent", "new", "--help"); !strings.Contains(o.Out, "order-status") {
		t.Errorf("the help lists no templates: %s", o.Out)
	}
}
