package tidy

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// words are names and phrases that the product does not use, each with the standard term.
// A reader who knows the field finds things by its terms.
var words = []struct {
	not *regexp.Regexp
	use string
}{
	{regexp.MustCompile(`[a-z]Mouth|\bmouth\b[^ s]`), "playout"},
	{regexp.MustCompile(`\b(thrifty|noSaving)\b`), "speculative reply"},
	{regexp.MustCompile(`(?i)\bbegun (ahead|in advance)\b|\basked in advance\b`), "speculative reply"},
	{regexp.MustCompile(`(?i)\b(un)?keep(Journal|Input)\b|\bunkeep\b|\bwitness\(`), "observe, record, replay"},
	{regexp.MustCompile(`(?i)\b(stray|farewell|remind)\(`), "onUnmatched2xx, timer, retransmit"},
	{regexp.MustCompile(`(?i)\balarms?\b`), "timer; an operator's alert or notice"},
	{regexp.MustCompile(`(?i)\bwho(ever)? runs? (the|this) server\b`), "operator"},
	{regexp.MustCompile(`(?i)\b(is|are|was|were|be|been|being) told\b`), "say who gets what: returns, reports, sends, announces"},
	{regexp.MustCompile(`(?i)\b(whoever|whomever)\b`), "name who it is: the caller, the reader, the operator"},
	{regexp.MustCompile(`(?i)\b(what|whatever|nothing|something) (has )?(comes?|came|becomes?|became|become) of\b`), "result, outcome"},
	{regexp.MustCompile(`(?i)\bnot[- ]called (list|numbers?)\b|\blists? of numbers that are not called\b`), "do-not-call list"},
}

// speaks says of which files the words count: code, pages and documents, our own.
// Migrations never change, and tests may speak as they like.
func speaks(path string) bool {
	switch filepath.Ext(path) {
	case ".go", ".html", ".md", ".yaml", ".yml", ".js", ".cfg", ".conf", ".sh", "":
		return !strings.Contains(path, "testdata/") && !strings.Contains(path, "/vendor/") && path != "LICENSE" && path != "NOTICE" &&
			!strings.HasPrefix(path, "store/migrations/") && !strings.HasSuffix(path, "_test.go") && !strings.Contains(path, "test/")
	}
	return false
}

// unwanted lists the words of a text that have a standard term.
func unwanted(text string) []string {
	var found []string
	for _, w := range words {
		for _, at := range w.not.FindAllStringIndex(text, -1) {
			found = append(found, fmt.Sprintf("%d: %q: %s", 1+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], w.use))
		}
	}
	return found
}

func TestWords(t *testing.T) {
	for _, path := range files(t, speaks) {
		for _, what := range unwanted(read(t, path)) {
			t.Errorf("%s:%s", path, what)
		}
	}
}

// TestWordsAreSeen: each pattern finds what it is for.
func TestWordsAreSeen(t *testing.T) {
	for _, text := range []string{"busMouth", "begun in advance", "unkeep", "c.witness(x)", "b.stray(p)", "an alarm", "who runs the server", "it is told", "Whoever calls", "what came of it", "the not-called list"} {
		if unwanted(text) == nil {
			t.Errorf("%q passes", text)
		}
	}
	if got := unwanted("The caller hears the playout. It came of age."); got != nil {
		t.Error(got)
	}
}
