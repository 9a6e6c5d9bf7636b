package docs

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"html/template"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// examples/<topic>/<name>.txt says what there is to say about an example, and the
// files of the same name hold it in each language. Those in Go are example functions beside
// this file, which the compiler sees.
//
//go:embed examples example_*_test.go example_test.go
var exampleFiles embed.FS

// languages are those that examples are written in.
var languages = []struct{ name, title, suffix string }{
	{"curl", "curl", ".sh"},
	{"javascript", "JavaScript", ".js"},
	{"python", "Python", ".py"},
	{"go", "Go", ""},
}

// Example shows one thing in every language.
type Example struct {
	Name   string // topic/name
	Title  string
	Covers []string // operations that it uses, as "POST /denoise"
	// Expect is what its standard output matches, in any language, when it is run in
	// a directory with a recording speech.wav and with PARLEY_URL, PARLEY_API_KEY,
	// AGENT_ID and OPERATOR_KEY in the environment. It is nil when Skip says why it is not run.
	Expect *regexp.Regexp
	// Asks is a request, as "POST /talk-ticket", of examples that are servers: they listen
	// at PORT of the environment, print their address, and what they answer matches Expect.
	// In the shell they are CGI programs, which print the answer.
	Asks  string
	Skip  string
	Codes []Code
}

// Code is an example in one language: a whole program, as readers see it. When
// there is none, Missing says why.
type Code struct {
	Language string // curl, javascript, python or go
	Title    string
	Text     string
	Missing  string
}

// ID is the example's anchor.
func (e *Example) ID() string { return "example-" + strings.ReplaceAll(e.Name, "/", "-") }

// Examples are all of them, by name. They are read anew by each call.
func Examples() (map[string]*Example, error) {
	names, err := fs.Glob(exampleFiles, "examples/*/*.txt")
	if err != nil {
		return nil, err
	}
	programs, err := goPrograms()
	if err != nil {
		return nil, fmt.Errorf("docs: examples in Go: %w", err)
	}
	all := map[string]*Example{}
	for _, file := range names {
		name := strings.TrimSuffix(strings.TrimPrefix(file, "examples/"), ".txt")
		if all[name], err = readExample(name, programs[path.Base(name)]); err != nil {
			return nil, fmt.Errorf("docs: example %s: %w", name, err)
		}
		delete(programs, path.Base(name))
	}
	for name := range programs {
		return nil, fmt.Errorf("docs: the example %s has no text", name)
	}
	return all, nil
}

// readExample reads one; program is it in Go, empty when there is none.
func readExample(name, program string) (*Example, error) {
	about, err := exampleFiles.ReadFile(path.Join("examples", name+".txt"))
	if err != nil {
		return nil, err
	}
	e := &Example{Name: name}
	missing := map[string]string{}
	for line := range strings.Lines(string(about)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "title":
			e.Title = value
		case "covers":
			e.Covers = append(e.Covers, value)
		case "expect":
			if e.Expect, err = regexp.Compile("(?s)" + value); err != nil {
				return nil, err
			}
		case "skip":
			e.Skip = value
		case "asks":
			e.Asks = value
		default:
			language, ok := strings.CutPrefix(key, "no-")
			if !ok {
				return nil, fmt.Errorf("%q is not known", key)
			}
			missing[language] = value
		}
	}
	if e.Title == "" || (e.Expect == nil) == (e.Skip == "") {
		return nil, fmt.Errorf("it needs a title, and either what to expect or why it is skipped")
	}
	for _, l := range languages {
		text := program
		if l.suffix != "" {
			file, err := exampleFiles.ReadFile(path.Join("examples", name+l.suffix))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			text = strings.TrimPrefix(string(file), "#!/bin/sh\nset -eu\n")
		}
		if (text != "") == (missing[l.name] != "") {
			return nil, fmt.Errorf("%s: it needs either a program or a reason why there is none", l.name)
		}
		e.Codes = append(e.Codes, Code{l.name, l.title, strings.TrimSpace(text), missing[l.name]})
	}
	return e, nil
}

// goPrograms are the examples in Go by the last part of their names, each a whole program: with
// its imports, and what it needs of other functions, as go/doc puts them together.
func goPrograms() (map[string]string, error) {
	files, err := fs.Glob(exampleFiles, "example*_test.go")
	if err != nil {
		return nil, err
	}
	imports, rest := map[string]bool{}, "" // of all files, since go/doc looks at one
	for _, file := range files {
		text, err := exampleFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		head, declarations, _ := strings.Cut(string(text), "\n)\n")
		for _, m := range importLine.FindAllString(head, -1) {
			imports[m] = true
		}
		rest += declarations
	}
	ours := slices.SortedFunc(maps.Keys(imports), func(a, b string) int {
		return cmp.Or(strings.Count(a, ".")-strings.Count(b, "."), strings.Compare(a, b))
	})
	if i := slices.IndexFunc(ours, func(s string) bool { return strings.Contains(s, ".") }); i >= 0 {
		ours = slices.Insert(ours, i, "")
	}
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, "", "package docs_test\n\nimport (\n"+strings.Join(ours, "\n")+"\n)\n"+rest, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, e := range doc.Examples(parsed) {
		name := upper.ReplaceAllStringFunc(strings.TrimPrefix(e.Name, "_"), func(s string) string { return "-" + strings.ToLower(s) })
		if all[name], err = program(set, e); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

var (
	importLine = regexp.MustCompile(`(?m)^\t"[^"]+"$`)
	upper      = regexp.MustCompile("[A-Z]")
)

// program is an example as a file; go/doc leaves out the comments within declarations.
func program(set *token.FileSet, e *doc.Example) (string, error) {
	if e.Play == nil {
		return "", errors.New("it uses what is nowhere")
	}
	for _, d := range e.Play.Decls {
		for _, c := range e.Comments {
			if d.Pos() < c.Pos() && c.End() < d.End() && !slices.Contains(e.Play.Comments, c) {
				e.Play.Comments = append(e.Play.Comments, c)
			}
		}
	}
	slices.SortFunc(e.Play.Comments, func(a, b *ast.CommentGroup) int { return cmp.Compare(a.Pos(), b.Pos()) })
	var b strings.Builder
	err := format.Node(&b, set, e.Play)
	return b.String(), err
}

// HTML is the text with its comments marked.
func (c Code) HTML() template.HTML {
	mark := "#"
	if c.Language == "javascript" || c.Language == "go" {
		mark = "//"
	}
	lines := strings.Split(template.HTMLEscapeString(c.Text), "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), mark) {
			lines[i] = `<span class="comment">` + l + `</span>`
		}
	}
	return template.HTML(strings.Join(lines, "\n"))
}

// Covering are the examples that use an operation, by name; at is one of its addresses.
func Covering(all map[string]*Example, method, at string) (found []*Example) {
	at = plain(at)
	for _, e := range all {
		if slices.Contains(e.Covers, method+" "+at) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b *Example) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// plain is the usual one of an endpoint's addresses: the synthesis socket has two,
// and what is under the address of the agent socket is the same as without.
func plain(at string) string {
	if at == "/ws" {
		return "/ws/tts"
	}
	if rest, ok := strings.CutPrefix(at, "/ws/agent/"); ok {
		return "/" + rest
	}
	return at
}
