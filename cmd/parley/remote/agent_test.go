package remote

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"parley/api/client/clienttest"
	"parley/cmd/parley/command"
)

// TestAgentCommands: what is asked of the agents of an account, but for files.
func TestAgentCommands(t *testing.T) {
	s := fakeServer(t)
	s.ChangeAgent("ag_one", "We are open from nine to six.\nClosed on Mondays.")
	for _, tt := range []struct {
		line   string
		status int
		says   []string
	}{
		{"agent list", command.ExitDone, []string{"2 agents\n", "ag_one", "Max", "version 1"}},
		{"agent list --json", command.ExitDone, []string{`"has_more":false`, `"id":"ag_two"`}},
		{"agent list --metadata team", command.ExitUsage, nil},
		{"agent show ag_one", command.ExitDone, []string{"2, of", "none", "\n               Closed on Mondays."}},
		{"agent show ag_nobody", command.ExitNotFound, nil},
		{"agent versions ag_one", command.ExitDone, []string{"2 versions\n2 "}},
		{"agent restore ag_one 1", command.ExitDone, []string{"restored", "version 3"}},
		{"agent restore ag_one first", command.ExitUsage, nil},
		{"agent schema", command.ExitDone, []string{"2020-12"}},
		{"agent delete ag_one", command.ExitDone, []string{"deleted"}},
		{"agent delete ag_nobody", command.ExitNotFound, nil},
	} {
		o := run("", strings.Fields(tt.line)...)
		if o.Status != tt.status {
			t.Errorf("%s: exit status %d: %s%s", tt.line, o.Status, o.Out, o.ErrOut)
		}
		for _, want := range tt.says {
			if !strings.Contains(o.Out, want) {
				t.Errorf("%s: %q is not in\n%s", tt.line, want, o.Out)
			}
		}
	}
}

// TestAgentComparison: a version, or a draft in a file, is compared with the stored agent on recorded calls.
func TestAgentComparison(t *testing.T) {
	s := fakeServer(t)
	s.ChangeAgent("ag_one", "We are open from nine to six.")
	for _, tt := range []struct {
		line, in string
		status   int
		says     []string
	}{
		{"agent compare ag_one --with 1 --calls 5", "", command.ExitDone, []string{"1 recorded call\n", "turn 1", "when do you open", "differs", "in the call", "At ten.", "Version 2 of 5 calls", "Version 1 of 5 calls",
			"calls hours {}", "would call lookup", "8120 in", "left out", "3 turns"}},
		{"agent compare ag_one --with 2", "", command.ExitDone, []string{"Version 2 of 0 calls"}},
		{"agent compare ag_one --with draft --file -", "name: Lola\nprompt: I am new.\n", command.ExitDone, []string{"draft", "I am new."}},
		{"agent compare ag_one --with 1 --json", "", command.ExitDone, []string{`"out_tokens":460`, `"recorded":{"text":"At ten."`}},
		{"agent compare ag_one", "", command.ExitUsage, nil},
		{"agent compare ag_one --with first", "", command.ExitUsage, nil},
		{"agent compare ag_one --with draft", "", command.ExitUsage, nil},
		{"agent compare ag_one --with 1 --file lola.yaml", "", command.ExitUsage, nil},
		{"agent compare ag_one --with 1 --calls 21", "", command.ExitUsage, nil},
		{"agent compare ag_nobody --with 1", "", command.ExitNotFound, nil},
	} {
		o := run(tt.in, strings.Fields(tt.line)...)
		if o.Status != tt.status {
			t.Errorf("%s: exit status %d: %s%s", tt.line, o.Status, o.Out, o.ErrOut)
		}
		for _, want := range tt.says {
			if !strings.Contains(o.Out, want) {
				t.Errorf("%s: %q is not in\n%s", tt.line, want, o.Out)
			}
		}
	}
}

// TestAgentInGit: a file is pulled, changed, compared and pushed, and what others have changed meanwhile is not lost.
func TestAgentInGit(t *testing.T) {
	s := fakeServer(t)
	t.Chdir(t.TempDir())
	text := func() string {
		t.Helper()
		b, err := os.ReadFile("lola.yaml")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	must := func(line, want string) {
		t.Helper()
		if o := run("", strings.Fields(line)...); o.Status != command.ExitDone || !strings.Contains(o.Out+o.ErrOut, want) {
			t.Fatalf("%s: exit status %d: %s%s", line, o.Status, o.Out, o.ErrOut)
		}
	}
	refused := func(line string, status int, want ...string) {
		t.Helper()
		o := run("", strings.Fields(line)...)
		if o.Status != status {
			t.Errorf("%s: exit status %d: %s%s", line, o.Status, o.Out, o.ErrOut)
		}
		for _, w := range want {
			if !strings.Contains(o.ErrOut, w) {
				t.Errorf("%s: %q is not in %s", line, w, o.ErrOut)
			}
		}
	}
	must("agent pull ag_one lola.yaml", "version 1")
	if !strings.HasPrefix(text(), "id: ag_one\nversion: 1\nname: Lola\nvoice: F1\nlanguage: en\n") {
		t.Errorf("the file is\n%s", text())
	}
	must("agent diff lola.yaml --exit-code", "0 changes\n")
	must("agent push lola.yaml", "unchanged\tag_one\tversion 1")

	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, 0o640)); err != nil {
			t.Fatal(err)
		}
	}
	write("lola.yaml", "# who answers\n"+strings.Replace(text(), `prompt: ""`, "prompt: |\n  We are open\n  from nine to six.", 1))
	must("agent diff lola.yaml", "1 change\nprompt\n  - \n  + We are open\n  + from nine to six.\n")
	refused("agent diff lola.yaml --exit-code", command.ExitFailed)
	must("agent push lola.yaml", "pushed\tag_one\tversion 2")
	if got := text(); !strings.HasPrefix(got, "# who answers\nid: ag_one\nversion: 2\n") || !strings.Contains(got, "  from nine to six.\n") {
		t.Errorf("pushed, the file is\n%s", got)
	}
	if info, err := os.Stat("lola.yaml"); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}

	s.ChangeAgent("ag_one", "Somebody else's words.")
	before := text()
	refused("agent push lola.yaml", command.ExitFailed, "pulled at version 2", "it has version 3", "parley agent diff lola.yaml", "--force")
	if text() != before {
		t.Errorf("refused, the file is\n%s", text())
	}
	must("agent push lola.yaml --force", "version 4")
	s.ChangeAgent("ag_one", "We are open\nfrom nine to six.\n") // the same again
	must("agent push lola.yaml", "unchanged\tag_one\tversion 5")
	must("agent diff lola.yaml --exit-code", "0 changes")

	// The same file for another agent, and a file that is no agent's yet.
	refused("agent push lola.yaml --id ag_two", command.ExitUsage, "was not pulled from ag_two")
	before = text()
	must("agent push lola.yaml --id ag_two --force", "ag_two")
	if text() != before {
		t.Errorf("pushed to another agent, the file is\n%s", text())
	}
	write("new.yaml", "---\nname: New # for people\n")
	refused("agent diff new.yaml", command.ExitUsage, "names no agent")
	must("agent push new.yaml", "created\tag_new\tversion 1")
	if b, err := os.ReadFile("new.yaml"); err != nil || string(b) != "---\nid: ag_new\nversion: 1\nname: New # for people\n" {
		t.Errorf("created, the file is %q, %v", b, err)
	}
	if left, err := filepath.Glob(".*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestAgentFileMistakes are found before anything is sent, but for what only the server knows.
func TestAgentFileMistakes(t *testing.T) {
	s := fakeServer(t)
	for text, want := range map[string]string{
		"name: Lola\nfrist_message: Hello\n":  `no "frist_message"`,
		"- name: Lola\n":                      "this is no agent",
		"":                                    "this is no agent",
		"name: Lola\nname: Max\n":             "is there twice",
		"id: [ag_one]\nname: Lola\n":          "id: as parley agent pull writes it",
		"id: ag_one\nversion: one\nname: X\n": "version: as parley agent pull writes it",
		"name: &a Lola\nprompt: *a\n":         "anchors",
		"name: " + strings.Repeat("x", 1<<20): "larger",
	} {
		for _, verb := range []string{"push", "diff"} {
			if o := run(text, "agent", verb, "-"); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, want) || o.Out != "" {
				t.Errorf("%s of %.40q: exit status %d: %.200s%s", verb, text, o.Status, o.ErrOut, o.Out)
			}
		}
	}
	if asked := s.Requests(); len(asked) != 0 {
		t.Errorf("the server was asked %q", asked)
	}
	if o := run("id: ag_one\nname: Lola\nvoice: Z9\n", "agent", "diff", "-"); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, "-: voice: must be one of") {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
	}
	s.Refuse("/v1/agents/ag_one", clienttest.Problem{Status: 403, Code: "auth.ticket_not_allowed", Error: "No."})
	if o := run("id: ag_one\nversion: 1\nname: Lola\n", "agent", "push", "-"); o.Status != command.ExitRefused {
		t.Errorf("exit status %d: %s", o.Status, o.ErrOut)
	}
}
