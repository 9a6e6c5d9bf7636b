package tidy

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// words are names and phrases that the product does not use, in lower case, each list with
// the standard term. A reader who knows the field finds things by its terms.
var words = []struct {
	not []string
	use string
}{
	{[]string{"busmouth", "mouth of the agent"}, "playout; the bus"},
	{[]string{"thrifty", "nosaving", "begun ahead", "begun in advance", "asked in advance"}, "speculative reply"},
	{[]string{"keepjournal", "keepinput", "unkeep"}, "observe, record, replay"},
	{[]string{"farewell"}, "onUnmatched2xx"},
	{[]string{"alarm", "alarms"}, "timer; an operator's alert or notice"},
	{[]string{"who runs the", "user runs the"}, "operator"},
	{[]string{"is told", "are told", "was told", "were told", "be told", "been told", "being told"}, "say who gets what: returns, reports, sends, announces"},
	{[]string{"whoever", "whomever"}, "name who it is: the caller, the reader, the operator"},
	{[]string{"comes of", "came of", "come of it", "becomes of", "became of", "become of"}, "result, outcome"},
	{[]string{"not-called list", "not called list", "numbers that are not called"}, "do-not-call list"},
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
	text = strings.ToLower(text)
	for _, w := range words {
		for _, phrase := range w.not {
			for _, at := range places(text, phrase) {
				found = append(found, fmt.Sprintf("%d: %q: %s", 1+strings.Count(text[:at], "\n"), phrase, w.use))
			}
		}
	}
	return found
}

// places are where a phrase stands in a text as words of its own, both in lower case.
func places(text, phrase string) (found []int) {
	for from := 0; ; from += len(phrase) {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return found
		}
		if from += i; !letterAt(text, from-1) && !letterAt(text, from+len(phrase)) {
			found = append(found, from)
		}
	}
}

func letterAt(text string, i int) bool {
	return i >= 0 && i < len(text) && text[i] >= 'a' && text[i] <= 'z'
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
	for _, text := range []string{"BusMouth", "begun in advance", "the unkeep", "an alarm", "it is told", "Whoever calls", "what came of it", "the not-called list"} {
		if unwanted(text) == nil {
			t.Errorf("%q passes", text)
		}
	}
	if got := unwanted("The caller hears the playout. He is as told."); got != nil {
		t.Error(got)
	}
}
