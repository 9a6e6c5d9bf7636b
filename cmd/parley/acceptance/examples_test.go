package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/api/docs"
)

// prelude gives an older Node what browsers and newer ones have: the standard
// WebSocket. Debian's package node-ws installs this module.
const prelude = `globalThis.WebSocket ??= require("/usr/share/nodejs/ws");` + "\n"

// debianPython is where Debian's packages put modules, whatever else is on the PATH.
const debianPython = "/usr/bin/python3"

// TestExamples runs every example of the documentation, as readers see it, against
// one server: in curl, which shows the wire, and in Go. It is the short form of TestSoakExamples.
func TestExamples(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") != "" {
		t.Skip("PARLEY_SOAK is set: TestSoakExamples runs them in other languages, as the same people on the same server")
	}
	t.Parallel()
	runExamples(t, "curl", "go")
}

// TestSoakExamples runs them in the languages whose programs take half a second of a processor to
// start: they ask for the same.
func TestSoakExamples(t *testing.T) {
	soak(t)
	runExamples(t, "javascript", "python")
}

func runExamples(t *testing.T, languages ...string) {
	examples, err := docs.Examples()
	if err != nil {
		t.Fatal(err)
	}
	s := shared(t, demonstration)
	r := newExampleRunner(t, examples, newCustomer(t, s, "100"), "http://"+s.addrs["http"])
	r.env = append(r.env, "OPERATOR_KEY="+newOperator(t, s, "ana@example.com"))
	// An example gives a number back while others take the first that the account has.
	owner, buys := newCustomer(t, s, "100"), *r
	buys.env = append(slices.Clone(r.env), "PARLEY_API_KEY="+owner.key, "AGENT_ID="+owner.agent)
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		e := examples[name]
		if e.Skip != "" {
			continue
		}
		for _, c := range e.Codes {
			if c.Missing == "" && slices.Contains(languages, c.Language) {
				t.Run(name+"/"+c.Language, func(t *testing.T) {
					t.Parallel()
					switch name {
					case "callcenter/numbers", "callcenter/trunks", "messages/messages":
						buys.run(t, e, c)
					case "callcenter/hours", "callcenter/rules", "calls/listen", "calls/review": // which others would meet, or theirs
						alone := *r
						alone.env = append(slices.Clone(r.env), "PARLEY_API_KEY="+newCustomer(t, s, "100").key)
						alone.run(t, e, c)
					default:
						r.run(t, e, c)
					}
				})
			}
		}
	}
}

// exampleRunner holds what examples need.
type exampleRunner struct {
	dir   string // of speech.wav, offer.sdp and the programs
	built string // the Go examples, one program: its argument says which
	env   []string
}

func newExampleRunner(t *testing.T, examples map[string]*docs.Example, c customer, url string) *exampleRunner {
	t.Helper()
	r := &exampleRunner{dir: t.TempDir()}
	r.env = append(os.Environ(), "PARLEY_URL="+url, "PARLEY_API_KEY="+c.key, "AGENT_ID="+c.agent)
	question := append(silence(300*time.Millisecond, micRate), speak(t, "slt", "what time do you open on Monday", micRate)...)
	writeWAV(t, filepath.Join(r.dir, "speech.wav"), question, micRate)
	if err := os.WriteFile(filepath.Join(r.dir, "prelude.cjs"), []byte(prelude), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "offer.sdp"), []byte(offered(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	r.buildGo(t, examples)
	return r
}

// buildGo builds all Go examples as one program, which takes a linker's run instead
// of twenty: each becomes a package, laid over this module and nowhere on disk.
func (r *exampleRunner) buildGo(t *testing.T, examples map[string]*docs.Example) {
	t.Helper()
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	overlay := map[string]string{}
	add := func(name, text string) {
		file := filepath.Join(r.dir, fmt.Sprintf("go%d.txt", len(overlay)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Join(here, "examples", name, "main.go")] = file
	}
	var imports, cases strings.Builder
	for name, e := range examples {
		for _, c := range e.Codes {
			if c.Language != "go" || c.Missing != "" {
				continue
			}
			pkg := fmt.Sprintf("example%d", len(overlay))
			text := strings.Replace(c.Text, "package main\n", "package "+pkg+"\n", 1)
			add(pkg, strings.Replace(text, "\nfunc main() {", "\nfunc Main() {", 1))
			fmt.Fprintf(&imports, "\t\"parley/cmd/parley/acceptance/examples/%s\"\n", pkg)
			fmt.Fprintf(&cases, "\tcase %q:\n\t\t%s.Main()\n", name, pkg)
		}
	}
	add("", "package main\n\nimport (\n\t\"os\"\n"+imports.String()+")\n\nfunc main() {\n\tswitch os.Args[1] {\n"+cases.String()+"\t}\n}\n")
	replace, err := json.Marshal(map[string]any{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(r.dir, "overlay.json")
	if err := os.WriteFile(file, replace, 0o600); err != nil {
		t.Fatal(err)
	}
	r.built = filepath.Join(r.dir, "examples")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-overlay", file, "-o", r.built, "parley/cmd/parley/acceptance/examples")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the Go examples: %v\n%s", err, out)
	}
}

// run runs one example and looks at what it prints.
func (r *exampleRunner) run(t *testing.T, e *docs.Example, c docs.Code) {
	dir := t.TempDir()
	for _, file := range []string{"speech.wav", "offer.sdp"} {
		if err := os.Symlink(filepath.Join(r.dir, file), filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "example.mjs"), []byte(c.Text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := map[string][]string{
		"curl":       {"sh", "-euc", c.Text},
		"javascript": {"node", "--require", filepath.Join(r.dir, "prelude.cjs"), "example.mjs"},
		"python":     {debianPython, "-c", c.Text},
		"go":         {r.built, e.Name},
	}[c.Language]
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var out, errOut bytes.Buffer
	do := func() error {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, r.env
		cmd.Stdout, cmd.Stderr = &out, &errOut
		if e.Asks != "" && c.Language != "curl" {
			return askServer(cmd, e.Asks)
		}
		return cmd.Run()
	}
	err := do()
	if err != nil && strings.Contains(out.String()+errOut.String(), `"code":"service.unavailable"`) {
		// The documentation says to try again: all examples have one account, whose wallet the server waits two seconds for.
		t.Logf("again after %s%s", shortened(out.String()), shortened(errOut.String()))
		out.Reset()
		errOut.Reset()
		err = do()
	}
	if err != nil {
		t.Fatalf("%v\n%s%s", err, shortened(out.String()), shortened(errOut.String()))
	}
	if !e.Expect.MatchString(out.String()) {
		t.Errorf("it prints what does not match %s:\n%s%s", e.Expect, shortened(out.String()), shortened(errOut.String()))
	}
}

// shortened is text without the middle of what is long, such as audio in base64.
func shortened(text string) string {
	const most = 2000
	if len(text) <= most {
		return text
	}
	return text[:most/2] + " … " + text[len(text)-most/2:]
}

// askServer runs a program that is a server until it has answered a request, as "POST /path".
// What it answered stands in place of its output.
func askServer(cmd *exec.Cmd, request string) error {
	out := cmd.Stdout
	cmd.Stdout, cmd.Env = nil, append(slices.Clone(cmd.Env), "PORT=0")
	said, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	home, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		return fmt.Errorf("it says no address: %w", err)
	}
	method, path, _ := strings.Cut(request, " ")
	r, err := http.NewRequest(method, strings.TrimSpace(home)+path, nil)
	if err != nil {
		return err
	}
	client := http.Client{Timeout: patience}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(out, answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s, %v", answer.Status, err)
	}
	return nil
}
