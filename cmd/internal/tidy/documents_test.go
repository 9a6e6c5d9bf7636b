package tidy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"parley/cmd/parley/config"
)

const exampleFile = "deploy/parley.example.yaml"

func isDocument(path string) bool { return strings.HasSuffix(path, ".md") }

var (
	fence    = regexp.MustCompile("(?ms)^[ \t]*```.*?^[ \t]*```")
	link     = regexp.MustCompile(`\]\(([^)\s]+)[^)]*\)`)
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	// treePath is a code span that means a place in the repository.
	treePath = regexp.MustCompile(`^(cmd|media|sip|pipeline|inference|api|billing|store|deploy|testdata|\.ci)/[A-Za-z0-9_./-]*$`)
	variable = regexp.MustCompile(`PARLEY_[A-Z0-9][A-Z0-9_]*`)
)

// targets lists the repository paths that a document in folder dir points at.
func targets(dir, text string) []string {
	text = fence.ReplaceAllString(text, "")
	var paths []string
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		to, _, _ := strings.Cut(m[1], "#")
		if to == "" || strings.Contains(to, ":") { // in the same page, or elsewhere
			continue
		}
		paths = append(paths, filepath.Join(dir, to))
	}
	for _, m := range codeSpan.FindAllStringSubmatch(text, -1) {
		if treePath.MatchString(m[1]) {
			paths = append(paths, filepath.Clean(m[1]))
		}
	}
	return paths
}

// README.md is for newcomers, ARCHITECTURE.md is one page: what does not fit belongs on a
// page that they link to, or beside the code.
func TestDocumentsAreShort(t *testing.T) {
	for doc, most := range map[string]int{"README.md": 150, "ARCHITECTURE.md": 200} {
		if n := strings.Count(read(t, doc), "\n"); n > most {
			t.Errorf("%s has %d lines, %d are allowed", doc, n, most)
		}
	}
}

func TestDocumentsPointAtThingsThatExist(t *testing.T) {
	for _, doc := range files(t, isDocument) {
		for _, path := range targets(filepath.Dir(doc), read(t, doc)) {
			if _, err := os.Stat(filepath.Join(root(t), path)); err != nil {
				t.Errorf("%s points at %s, which does not exist", doc, path)
			}
		}
	}
}

func TestTargetsRule(t *testing.T) {
	text := "See [a](../x.md#part), [b](https://example.com/y), [c](#part), [d](e.md \"title\"), `store/private`, `go test`, " +
		"`/api/status/health`, `media/*`.\n```\n[f](g.md) `cmd/h`\n```\n"
	want := []string{"x.md", "docs/e.md", "store/private"}
	if got := targets("docs", text); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Names of settings in documents, scripts and messages are those that the
// server reads. Tests may use wrong ones.
func TestSettingsInDocumentsExist(t *testing.T) {
	paths := files(t, func(p string) bool {
		return isDocument(p) || p == "Makefile" || strings.HasPrefix(p, ".ci/") || strings.HasPrefix(p, "deploy/") || strings.HasPrefix(p, "api/docs/page/") ||
			isGo(p) && !strings.HasSuffix(p, "_test.go")
	})
	for _, path := range paths {
		for _, name := range unknownVariables(read(t, path)) {
			t.Errorf("%s speaks of %s, which is not a setting", path, name)
		}
	}
}

func unknownVariables(text string) []string {
	var unknown []string
	for _, name := range variable.FindAllString(text, -1) {
		if !config.Known(name) && !slices.Contains(unknown, name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}

func TestVariableRule(t *testing.T) {
	text := "PARLEY_HTTP_ADDR PARLEY_SECRET_FILE PARLEY_<STAGE>_URL PARLEY_CONFIG PARLEY_NOT_THIS PARLEY_LOG_FILE PARLEY_NOT_THIS"
	if got := unknownVariables(text); !slices.Equal(got, []string{"PARLEY_NOT_THIS", "PARLEY_LOG_FILE"}) {
		t.Error(got)
	}
}

func TestSettingsAreDocumented(t *testing.T) {
	text := ""
	for _, doc := range files(t, isDocument) {
		text += read(t, doc)
	}
	example := read(t, exampleFile)
	for _, s := range config.Settings() {
		inText := regexp.MustCompile(`\bPARLEY_` + s.Name + `\b`).MatchString(text)
		if !inText && !strings.Contains(example, "\n#"+s.Key()+": ") {
			t.Errorf("PARLEY_%s is in no document and not in %s", s.Name, exampleFile)
		}
	}
}

// mapped is how ARCHITECTURE.md names packages: a table row or list item that begins
// with one as code, or with several, separated by commas.
var mapped = regexp.MustCompile("(?m)^(?:\\| |[-*] )((?:`[a-z0-9_./-]+`(?:, )?)+)")

// codemap compares the section "Codemap" of a document with the packages. A
// line may also name a folder without Go code.
func codemap(text string, pkgs []string, exists func(string) bool) []string {
	_, section, found := strings.Cut(text, "\n## Codemap\n")
	if !found {
		return []string{"ARCHITECTURE.md has no section \"## Codemap\""}
	}
	section, _, _ = strings.Cut(section, "\n## ")
	var wrong, seen []string
	var paths []string
	for _, line := range mapped.FindAllStringSubmatch(section, -1) {
		for _, m := range codeSpan.FindAllStringSubmatch(line[1], -1) {
			paths = append(paths, m[1])
		}
	}
	for _, path := range paths {
		switch {
		case slices.Contains(seen, path):
			wrong = append(wrong, fmt.Sprintf("the codemap names %s twice", path))
		case !slices.Contains(pkgs, path) && !exists(path):
			wrong = append(wrong, fmt.Sprintf("the codemap names %s, which does not exist", path))
		}
		seen = append(seen, path)
	}
	for _, p := range pkgs {
		if !slices.Contains(seen, p) {
			wrong = append(wrong, fmt.Sprintf("the codemap lacks %s: add a line that begins with `%s` and says what it is", p, p))
		}
	}
	return wrong
}

func TestCodemapNamesEveryPackage(t *testing.T) {
	var pkgs []string
	for _, p := range packages(t) {
		if !strings.HasSuffix(p.path(), "test") && !strings.Contains(p.path(), "/internal/") || strings.HasPrefix(p.path(), "cmd/internal/") {
			pkgs = append(pkgs, p.path())
		}
	}
	top := root(t)
	exists := func(path string) bool {
		info, err := os.Stat(filepath.Join(top, path))
		return err == nil && info.IsDir()
	}
	for _, wrong := range codemap(read(t, "ARCHITECTURE.md"), pkgs, exists) {
		t.Error(wrong)
	}
}

func TestCodemapRule(t *testing.T) {
	text := "# A\n\n## Codemap\n\n| Package | Is |\n| :- | :- |\n| `media` | frames, see `media/nothing` |\n| `media` | again |\n- `deploy`, `gone` were\n\n## Next\n- `other`\n"
	got := codemap(text, []string{"media", "sip"}, func(p string) bool { return p == "deploy" })
	want := []string{"the codemap names media twice", "the codemap names gone, which does not exist",
		"the codemap lacks sip: add a line that begins with `sip` and says what it is"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := codemap("# A\n", nil, nil); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
