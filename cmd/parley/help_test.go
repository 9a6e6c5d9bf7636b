package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"parley/api/client/clienttest"
	"parley/cmd/parley/admin"
	"parley/cmd/parley/command"
	"parley/cmd/parley/command/commandtest"
	"parley/cmd/parley/models"
	"parley/cmd/parley/remote"
)

// run executes a command line in this process.
func run(in string, args ...string) commandtest.Outcome {
	root := newRoot()
	return commandtest.Run(root, in, admin.Spelled(root, args), settingsStatus, admin.ExitStatus, remote.ExitStatus, models.ExitStatus)
}

// visible lists all commands that help shows.
func visible(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			list = append(list, visible(sub)...)
		}
	}
	return list
}

// words splits a line as a shell would, quotes and all, into the command lines of a
// pipe. Variables before a command and redirections are left out.
func words(line string) (pipe [][]string) {
	var word strings.Builder
	var command []string
	inWord, quote := false, rune(0)
	skip := false // the next word is where a redirection goes
	flush := func() {
		switch w := word.String(); {
		case !inWord:
		case skip:
			skip = false
		case len(command) == 0 && strings.Contains(w, "=") && strings.ToUpper(w[:strings.Index(w, "=")]) == w[:strings.Index(w, "=")]:
		default:
			command = append(command, w)
		}
		word.Reset()
		inWord = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == ')':
			flush()
		case r == '|':
			flush()
			pipe, command = append(pipe, command), nil
		case r == '>' || r == '<':
			flush()
			skip = true
		case r == '(': // <(command)
			skip = false
			command = nil
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	flush()
	return append(pipe, command)
}

func TestWords(t *testing.T) {
	for line, want := range map[string][][]string{
		`  A=1 parley x --y 'a b' > "f g"`:    {{"parley", "x", "--y", "a b"}},
		`echo 'a|b' | parley x - < in | play`: {{"echo", "a|b"}, {"parley", "x", "-"}, {"play"}},
		`source <(parley completion bash)`:    {{"parley", "completion", "bash"}},
	} {
		if got := words(line); !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// parses says why a command line is none.
func parses(args []string) (*cobra.Command, error) {
	found, rest, err := newRoot().Find(args)
	if err != nil {
		return nil, err
	}
	for _, check := range []func() error{
		func() error { return found.ParseFlags(rest) },
		func() error { return found.ValidateArgs(found.Flags().Args()) },
		found.ValidateRequiredFlags, found.ValidateFlagGroups,
	} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// TestHelp requires of each command what a person who asks for help wants to read,
// and that its examples could be typed.
func TestHelp(t *testing.T) {
	all := visible(newRoot())
	if len(all) < 30 {
		t.Errorf("%d commands", len(all))
	}
	for _, c := range all {
		path := c.CommandPath()
		if c.Short == "" || c.Long == "" || c.Example == "" {
			t.Errorf("%s: short %t, long %t, example %t", path, c.Short != "", c.Long != "", c.Example != "")
		}
		if strings.HasSuffix(c.Short, ".") || c.Long == c.Short || c.Name() != "help" && c.Long != "" && !strings.HasSuffix(c.Long, ".") {
			t.Errorf("%s: %q is a headline without a full stop, %q are sentences", path, c.Short, c.Long)
		}
		own := false
		for _, line := range strings.Split(c.Example, "\n") {
			if !strings.HasPrefix(line, "  ") {
				t.Errorf("%s: the example is not indented: %q", path, line)
			}
			for _, command := range words(line) {
				if len(command) == 0 || command[0] != "parley" {
					continue
				}
				found, err := parses(command[1:])
				if err != nil {
					t.Errorf("%s: %q: %v", path, line, err)
					continue
				}
				own = own || found.CommandPath() == path || c.HasSubCommands() && strings.HasPrefix(found.CommandPath(), path)
			}
		}
		if !own {
			t.Errorf("%s: no example shows the command itself", path)
		}
	}
}

// TestGroups: help lists each command in a group, and the groups in their order.
func TestGroups(t *testing.T) {
	o := run("", "--help")
	at := 0
	for _, g := range groups {
		i := strings.Index(o.Out, "\n"+g.title+":\n")
		if i < at {
			t.Fatalf("%s is not there, or not in its place:\n%s%s", g.title, o.Out, o.ErrOut)
		}
		at = i
		section, _, _ := strings.Cut(o.Out[i+1:], "\n\n")
		var names []string
		for _, line := range strings.Split(section, "\n")[1:] {
			names = append(names, strings.Fields(line)[0])
		}
		if want := slices.Sorted(slices.Values(strings.Fields(g.commands))); !slices.Equal(names, want) {
			t.Errorf("%s has %q, want %q", g.title, names, want)
		}
	}
	if o.Status != command.ExitDone || strings.Contains(o.Out, "Additional") {
		t.Errorf("exit status %d: %s", o.Status, o.Out)
	}
}

// TestVersion: as a flag and as a command, for people and for programs.
func TestVersion(t *testing.T) {
	flag, word, object := run("", "--version"), run("", "version"), run("", "version", "--json")
	if flag.Status != command.ExitDone || !strings.HasPrefix(flag.Out, "parley "+version+" (go") || flag.Out != word.Out {
		t.Errorf("exit status %d: %s%s, and %s", flag.Status, flag.Out, flag.ErrOut, word.Out)
	}
	if !strings.Contains(object.Out, `"version":"`+version+`"`) {
		t.Errorf("as JSON: %s", object.Out)
	}
}

// TestReadme has the command lines of the documents read as those of help are.
func TestReadme(t *testing.T) {
	var text []byte
	for _, document := range []string{"../../README.md", "README.md", "../../deploy/README.md"} {
		one, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(one), "```"); n%2 != 0 {
			t.Errorf("%s has %d fences", document, n)
		}
		text = append(text, one...)
	}
	seen := 0
	for i, block := range strings.Split(string(text), "```") {
		if i%2 == 0 || !strings.HasPrefix(block, "sh\n") {
			continue
		}
		for _, line := range strings.Split(block, "\n") {
			line, _, _ = strings.Cut(line, " # ")
			for _, command := range words(line) {
				if len(command) == 0 || command[0] != "bin/parley" {
					continue
				}
				seen++
				if _, err := parses(command[1:]); err != nil {
					t.Errorf("%s: %v", line, err)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d command lines", seen)
	}
}

func TestHelpDoesNotShowTheKey(t *testing.T) {
	t.Setenv("PARLEY_API_KEY", "sk_secret")
	for _, name := range []string{"synth", "transcribe", "denoise", "talk"} {
		if o := run("", "help", name); o.Status != command.ExitDone || !strings.Contains(o.Out, "parley "+name) || strings.Contains(o.Out, "sk_secret") {
			t.Errorf("%s: exit status %d: %s", name, o.Status, o.Out)
		}
	}
}

// tab is what the program offers for the last of args; the shell picks by what is
// typed already.
func tab(args ...string) []string {
	o := run("", append([]string{"__complete"}, args...)...)
	lines := strings.Split(strings.TrimSpace(o.Out), "\n")
	for i, l := range lines {
		lines[i], _, _ = strings.Cut(l, "\t")
	}
	return lines[:max(0, len(lines)-1)] // the last says how to go on
}

func TestCompletion(t *testing.T) {
	s := clienttest.New(t)
	t.Setenv("PARLEY_URL", s.URL)
	t.Setenv("PARLEY_API_KEY", clienttest.Key)
	for _, tt := range []struct {
		args string
		want string
	}{
		{"synth --voice ", "F1 F2 F3 F4 F5 M1 M2 M3 M4 M5"},
		{"synth --format ", "wav mp3 pcm ulaw"},
		{"transcribe --language ", "en es pt fr it de"},
		{"admin agent create --language ", "en es ca gl eu pt fr it de"},
		{"admin agent update --voice ", "F1 F2 F3 F4 F5 M1 M2 M3 M4 M5"},
		{"talk --agent ", "ag_one ag_two"},
		{"serve --log ", "debug info warn error"},
		{"config check --log ", "debug info warn error"},
		{"bench turn --leg ", "ws sip"},
		{"admin account credit --kind ", "topup bonus adjustment"},
		{"completion ", "bash zsh fish powershell"},
		{"comp", "completion"},
	} {
		args := strings.Fields(tt.args)
		if strings.HasSuffix(tt.args, " ") {
			args = append(args, "")
		}
		if got := strings.Join(tab(args...), " "); got != tt.want {
			t.Errorf("%s: %s", tt.args, got)
		}
	}
	// Whatever is wrong, the prompt stays clean.
	s.Refuse("/v1/agents", clienttest.Problem{Status: 500, Code: "internal.error"})
	for _, key := range []string{clienttest.Key, "sk_other", ""} {
		t.Setenv("PARLEY_API_KEY", key)
		if o := run("", "__complete", "talk", "--agent", ""); o.Status != command.ExitDone || strings.Contains(o.Out, "ag_") || strings.Contains(o.ErrOut, "rror") {
			t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
		}
	}
}

func TestCompletionScripts(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if o := run("", "completion", shell); o.Status != command.ExitDone || !strings.Contains(o.Out, "__complete") {
			t.Errorf("%s: exit status %d: %.200s", shell, o.Status, o.ErrOut)
		}
	}
	if o := run("", "completion", "tcsh"); o.Status != command.ExitUsage || !strings.Contains(o.ErrOut, "tcsh") || o.Out != "" {
		t.Errorf("exit status %d: %s%s", o.Status, o.Out, o.ErrOut)
	}
	// What bash-completion would find out about the command line.
	const press = `_get_comp_words_by_ref() { words=("${COMP_WORDS[@]}"); cword=$COMP_CWORD; cur=${words[cword]}; prev=${words[cword-1]}; }
source <(parley completion bash)
COMP_WORDS=(parley synth --voice M) COMP_CWORD=3 COMP_LINE="parley synth --voice M" COMP_POINT=22
__start_parley
echo "${COMPREPLY[@]}"`
	cmd := exec.Command("bash", "-c", press)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || strings.TrimSpace(string(out)) != "M1 M2 M3 M4 M5" {
		t.Errorf("%v: %s%s", err, out, &stderr)
	}
}

// TestAdminMayBeLeftOut: a command line without admin means the command of an account where there is one, and it names no
// account or operator.
func TestAdminMayBeLeftOut(t *testing.T) {
	for line, want := range map[string]string{
		"account create --name x": "admin account create --name x", "account": "account", "account --json": "account --json", "ledger verify": "ledger verify",
		"agent create --account a --name n": "admin agent create --account a --name n", "agent list": "agent list", "agent list --account=a": "admin agent list --account=a",
		"agent pull ag_1": "agent pull ag_1", "key create --name n": "key create --name n", "key create --operator ana@example.com": "admin key create --operator ana@example.com",
		"number add --account a +34910000001": "admin number add --account a +34910000001", "number search --country ES": "number search --country ES", "admin create a@b.c": "admin create a@b.c", "": "", "help admin": "help admin",
	} {
		if got := strings.Join(admin.Spelled(newRoot(), strings.Fields(line)), " "); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
		if want != "" {
			if _, err := parses(strings.Fields(want)); err != nil {
				t.Errorf("%s: %v", want, err)
			}
		}
	}
}
