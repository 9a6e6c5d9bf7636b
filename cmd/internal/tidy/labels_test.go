package tidy

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// stumbles are phrases that stop readers, in lower case, each with what is said instead: clauses without an
// antecedent, things named by a question, words of our own for what has a name. They count wherever people read:
// on pages, in documents, in help and messages.
var stumbles = []struct {
	not []string
	use string
}{
	{[]string{"makes a link for you with", "runs this server"}, "ask the operator for a reset link"},
	{[]string{"makes the user who", "the two are not the same"}, "creates the operator; passwords do not match"},
	{[]string{"thing to mend", "things to mend", "name it in settings.variables"}, "problems to fix; add it under Variables"},
	{[]string{"called out", "before (utc)"}, "outbound; to (UTC)"},
	{[]string{"what was said"}, "transcript"},
	{[]string{"how long each answer took", "where the time went", "where the time of each turn went"}, "response latency"},
	{[]string{"was taken to be over", "been begun before"}, "end of the turn; replies may start earlier"},
	{[]string{"connected: talk", "start without microphone", "you speak over it"}, "connected, say something; chat by text; interrupting"},
	{[]string{"nobody is talking", "what to try"}, "no live calls; get started"},
	{[]string{"what became of it", "machines are talked to"}, "outcome; voicemail: the agent talks"},
	{[]string{"who is on it twice", "unless you say otherwise"}, "duplicates; by default"},
	{[]string{"a file to begin with", "need a look", "a minute with everybody"}, "template; issues; per minute if all answer"},
	{[]string{"who calls one of these numbers", "a month costs", "numbers of this country cannot be called"}, "calls to these numbers; a month each; is not open for calls"},
	{[]string{"what it went to", "balance then", "language model, read", "early answers"}, "usage; balance; LLM input; speculative replies"},
	{[]string{"none chosen", "those that there will be", "are kept with each call anyway", "only saves asking"}, "leave empty for all events, including future ones; need not poll"},
	{[]string{"not taken so far", "keep this key now", "everything but people", "people, too"}, "failed, retrying; copy your key now; all but members"},
	{[]string{"make a link", "nothing is broken", "what it stands on", "asked first"}, "create an invitation; all checks passed; dependencies; primary"},
	{[]string{"name then", "new conversations go by it"}, "nothing; new calls use it"},
	{[]string{"what it knows besides", "what it can do", "as the server has it", "in programs it is"}, "knowledge; tools; server default; agent ID"},
	{[]string{"what it came to", "what they came to", "the call came to", "all of them come to", "is not told of"}, "outcome; results; statistics; does not see"},
	{[]string{"was begun before", "goes on now", "nobody whom"}, "speculative replies; calls in progress; a sentence with a subject"},
	{[]string{"everybody else those", "what is missing of it", "a number that is added so", "payment is succeeded"}, "a sentence with a subject"},
}

// bareLabels are too short, or too common, to count in prose. They count as all that a button, heading, head of a
// column, choice or message says.
var bareLabels = map[string]string{
	"The same again": "Confirm password", "Is empty": "This field is required", "Called in": "Inbound", "Web": "Web call with …",
	"Way": "Direction", "End": "Outcome", "Show": "Apply", "Older ones": "Older calls", "Own": "Overhead",
	"Waits": "Queued", "Go on": "Resume", "Together": "Total", "Again": "Retry", "Change it": "Settings", "Not said": "No description",
	"Good": "Active", "Take back": "Revoke", "Keep": "Cancel", "Works": "Active", "In order": "OK", "Whole document": "YAML", "Now": "Current",
}

// noLabels are Go literals that equal one and are none: the direction of a call, beside inbound and outbound.
var noLabels = []string{"Web"}

// text is something that people read, and the line on which it begins.
type text struct {
	line  int
	says  string
	whole bool // it may be a label
}

// shown are the texts of a file that people read; none of files that they do not.
func shown(path, content string) []text {
	under := func(folders ...string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return strings.HasPrefix(path, f) })
	}
	switch {
	case strings.Contains(path, "/vendor/"), strings.Contains(path, "testdata/"), under("cmd/internal/", "store/migrations/"):
		return nil
	case under("api/docs/examples/"), path == "README.md", path == "api/openapi.yaml",
		under("deploy/") && !under("deploy/decisions/") && slices.Contains([]string{".md", ".yaml"}, filepath.Ext(path)):
		return []text{{1, content, false}}
	case strings.HasSuffix(path, ".html"):
		return append(ofPage(content), text{1, content, false})
	case strings.HasSuffix(path, ".js") && under("api/"):
		return ofScript(content)
	case strings.HasSuffix(path, "_test.go"):
		if under("api/docs/example_") {
			return []text{{1, content, false}}
		}
	case isGo(path) && !strings.Contains(path, "test/") && (under("pipeline/agent/") || !under("pipeline/", "inference/")): // those speak to models
		return ofCode(path, content)
	}
	return nil
}

var (
	pageCode   = regexp.MustCompile(`(?s)<code>.*?</code>`)
	pageAction = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	pageTag    = regexp.MustCompile(`(?s)<[^>]*>`)
	pageNamed  = regexp.MustCompile(`(?:aria-label|title|placeholder|alt|data-label)="([^"]*)"`)
	quoted     = regexp.MustCompile(`"([^"]*)"`)
)

// ofPage are what may be labels of a template: what stands between tags and actions, names in attributes, and texts
// in actions.
func ofPage(content string) (all []text) {
	parts := func(s string) {
		for _, says := range strings.Split(s, "\x00") {
			all = append(all, text{0, says, true})
		}
	}
	for _, action := range pageAction.FindAllString(content, -1) {
		for _, m := range quoted.FindAllStringSubmatch(action, -1) {
			if m[1] != strings.ToLower(m[1]) { // a class, or the name of a template
				parts(m[1])
			}
		}
	}
	content = pageAction.ReplaceAllString(pageCode.ReplaceAllString(content, "\x00x\x00"), "\x00")
	for _, m := range pageNamed.FindAllStringSubmatch(content, -1) {
		parts(m[1])
	}
	parts(pageTag.ReplaceAllString(content, "\x00"))
	return all
}

var scriptToken = regexp.MustCompile("(?s)/\\*.*?\\*/|//[^\n]*|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|`(?:[^`\\\\]|\\\\.)*`")

// ofScript are the strings of a script.
func ofScript(content string) (all []text) {
	for _, m := range scriptToken.FindAllStringIndex(content, -1) {
		if s := content[m[0]:m[1]]; s[0] != '/' {
			all = append(all, text{1 + strings.Count(content[:m[0]], "\n"), s[1 : len(s)-1], true})
		}
	}
	return all
}

// ofCode are the string literals of a Go file, those that are added up as one.
func ofCode(path, content string) (all []text) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, path, content, 0)
	if err != nil {
		return []text{{1, err.Error(), false}}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BinaryExpr:
			if says, ok := sum(n); ok {
				all = append(all, text{set.Position(n.Pos()).Line, says, false})
				return false
			}
		case *ast.BasicLit:
			if says, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
				all = append(all, text{set.Position(n.Pos()).Line, says, !slices.Contains(noLabels, says)})
			}
		}
		return true
	})
	return all
}

// sum is a string that is added up, with a mark in place of what is no literal; not ok: nothing of it is one.
func sum(e ast.Expr) (says string, ok bool) {
	switch e := e.(type) {
	case *ast.BinaryExpr:
		if e.Op != token.ADD {
			return "\x00", false
		}
		a, left := sum(e.X)
		b, right := sum(e.Y)
		return a + b, left || right
	case *ast.BasicLit:
		if says, err := strconv.Unquote(e.Value); e.Kind == token.STRING && err == nil {
			return says, true
		}
	}
	return "\x00", false
}

// stumbled lists what in a file stops its readers.
func stumbled(path, content string) (found []string) {
	for _, x := range shown(path, content) {
		if x.whole {
			label := strings.TrimRight(strings.TrimSpace(x.says), ".")
			for bare, use := range bareLabels {
				// Code compares words in lower case; pages show them so.
				if label == bare || strings.HasSuffix(path, ".html") && strings.EqualFold(label, bare) {
					found = append(found, fmt.Sprintf("%d: the label %q: %s", x.line, label, use))
				}
			}
			if strings.HasSuffix(path, ".html") { // whose whole text comes, too
				continue
			}
		}
		says := strings.ToLower(strings.NewReplacer("\n", " ", "\t", " ").Replace(x.says))
		for _, s := range stumbles {
			for _, phrase := range s.not {
				for _, at := range places(says, phrase) {
					found = append(found, fmt.Sprintf("%d: %q: %s", x.line+strings.Count(x.says[:min(at, len(x.says))], "\n"), phrase, s.use))
				}
			}
		}
	}
	return found
}

func TestLabels(t *testing.T) {
	for _, path := range files(t, func(string) bool { return true }) {
		switch filepath.Ext(path) {
		case ".go", ".html", ".js", ".md", ".yaml", ".txt", ".sh", ".py":
			for _, what := range stumbled(path, read(t, path)) {
				t.Errorf("%s:%s", path, what)
			}
		}
	}
}

// TestLabelsAreSeen: each phrase is found in each kind of file, a short one only as a label.
func TestLabelsAreSeen(t *testing.T) {
	const page, code, script = "api/dashboard/template/page/x.html", "api/x.go", "api/dashboard/static/x.js"
	for _, s := range stumbles {
		for _, phrase := range s.not {
			says := strings.ToUpper(phrase[:1]) + phrase[1:]
			head, rest := says[:1], says[1:]
			for path, content := range map[string]string{page: "<p>" + says + ".</p>", "README.md": "So:\n" + says, script: `say("` + says + `")`,
				code: "package x\n\nconst a = \"" + head + "\" +\n\t\"" + rest + "\" + b\n", "api/docs/examples/x/y.txt": "title: " + says} {
				if len(stumbled(path, content)) != 1 {
					t.Errorf("%s: %q: %q", path, content, stumbled(path, content))
				}
			}
		}
	}
	for bare := range bareLabels {
		for _, content := range []string{"<button>" + bare + "</button>", `<td data-label="` + bare + `">1</td>`, "<b>{{if .A}}" + bare + ".{{else}}No{{end}}</b>", `{{field .Form "a" "` + bare + `"}}`} {
			if len(stumbled(page, content)) != 1 {
				t.Errorf("%q passes", content)
			}
		}
		if content := "package x\n\nvar a = \"" + bare + "\"\n"; !slices.Contains(noLabels, bare) && len(stumbled(code, content)) != 1 {
			t.Errorf("%q passes", content)
		}
		if content := "x = '" + bare + "';"; len(stumbled(script, content)) != 1 {
			t.Errorf("%q passes", content)
		}
	}
	for path, content := range map[string]string{
		page: `<p class="good">Show it again now: <code>now</code> works, in order.</p>{{template "end"}}`, script: "// Again\nx = 'again';", code: "package x\n\n// What was said.\nvar a = \"good\"\n",
		"pipeline/toolbox/x.go": "package x\n\nvar a = \"what was said\"\n", "api/dashboard/x_test.go": "package x\n\nvar a = \"what was said\"\n",
	} {
		if found := stumbled(path, content); found != nil {
			t.Errorf("%s: %q", path, found)
		}
	}
}
