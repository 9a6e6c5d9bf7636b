package remote

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/cmd/parley/command"
)

// TestAgentImport: an assistant of another service becomes a file, which is pushed as it is.
func TestAgentImport(t *testing.T) {
	s := fakeServer(t)
	file := filepath.Join(t.TempDir(), "lola.yaml")
	const vapi = "../foreign/testdata/vapi.json"
	printed := run("", "agent", "import", "--from", "vapi", vapi)
	if printed.Status != command.ExitDone || !strings.HasPrefix(printed.Out, "name: Casa Lola\nvoice: F1 # it was 11labs sarah\nlanguage: es\n") ||
		!strings.Contains(printed.ErrOut, "\nbackgroundSound: has no equivalent") || strings.Contains(printed.Out+printed.ErrOut, "s3cret") {
		t.Errorf("exit status %d: %s%s", printed.Status, printed.Out, printed.ErrOut)
	}
	written := run("", "agent", "import", "--from", "vapi", vapi, "--out", file)
	text, err := os.ReadFile(file)
	if err != nil || written.Status != command.ExitDone || string(text) != printed.Out || written.Out != "" || written.ErrOut != printed.ErrOut {
		t.Errorf("exit status %d: %s%s, %v\n%s", written.Status, written.Out, written.ErrOut, err, text)
	}
	o := run("", "agent", "import", "--from", "retell", "../foreign/testdata/retell-agent.json", "../foreign/testdata/retell-llm.json", "--json")
	var answer struct {
		Agent struct{ Name, Voice string }
		Notes []struct{ Path, Text string }
	}
	if err := json.Unmarshal([]byte(o.Out), &answer); err != nil || answer.Agent.Name != "Casa Lola" || answer.Agent.Voice != "M1" || len(answer.Notes) == 0 || o.ErrOut != "" {
		t.Errorf("exit status %d: %s%s, %v", o.Status, o.Out, o.ErrOut, err)
	}
	if asked := s.Requests(); len(asked) != 0 {
		t.Errorf("the server was asked %q", asked)
	}
	if o := run("", "agent", "push", file); o.Status != command.ExitDone || !strings.Contains(o.Out, "created\tag_new") {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	for args, want := range map[string]string{"--from bland " + vapi: "--from is one of vapi, retell", vapi: `"from" not set`, "--from vapi": "at least 1 arg",
		"--from retell " + vapi: "no agent of Retell"} {
		if o := run("", append([]string{"agent", "import"}, strings.Fields(args)...)...); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, want) {
			t.Errorf("%s: exit status %d: %s", args, o.Status, o.ErrOut)
		}
	}
}

// TestMigrationPage: the commands of the page for people who come from other services are real ones, and do what it says.
func TestMigrationPage(t *testing.T) {
	page, err := os.ReadFile("../../../api/docs/page/migration.html")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{"assistant.json": "vapi.json", "tool.json": "vapi-tool.json", "agent.json": "retell-agent.json", "llm.json": "retell-llm.json"}
	dir := t.TempDir()
	for name, from := range files {
		text, err := os.ReadFile(filepath.Join("../foreign/testdata", from))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	fakeServer(t)
	t.Chdir(dir)
	ran := 0
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSuffix(strings.TrimSpace(line), "</code></pre></div>")
		if _, rest, is := strings.Cut(line, `"><code>`); is {
			line = rest
		}
		args, is := strings.CutPrefix(line, "parley agent ")
		if !is {
			continue
		}
		ran++
		if o := run("", append([]string{"agent"}, strings.Fields(args)...)...); o.Status != command.ExitDone {
			t.Errorf("%s: exit status %d: %s%s", line, o.Status, o.Out, o.ErrOut)
		}
	}
	if ran != 3 {
		t.Errorf("%d commands were run", ran)
	}
}
