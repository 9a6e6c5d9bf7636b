package tool

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// TestSearchKnowledge: the model gets passages with their sources, learns when there are none, and reads all of five
// long ones.
func TestSearchKnowledge(t *testing.T) {
	var asked string
	found, failure := []Passage{{Title: "Hours", Source: "hours.pdf", Page: 3, Heading: "Weekend", Text: "Closed <on> Sunday."}}, error(nil)
	f := NewSearchKnowledge(func(_ context.Context, query string) ([]Passage, error) {
		asked = query
		return found, failure
	})
	ask := func(arguments string) (string, error) { return f.Run(t.Context(), json.RawMessage(arguments)) }
	got, err := ask(`{"query":"sunday"}`)
	if want := `{"passages":[{"title":"Hours","source":"hours.pdf","page":3,"heading":"Weekend","text":"Closed <on> Sunday."}]}`; err != nil || got != want || asked != "sunday" {
		t.Errorf("%s, %v", got, err)
	}
	for _, arguments := range []string{"", "{}", `{"query":" "}`, `{"query":7}`, "sunday"} {
		if got, err := ask(arguments); err == nil {
			t.Errorf("%s: %s", arguments, got)
		}
	}
	found = nil
	if got, err := ask(`{"query":"x"}`); err != nil || !strings.HasPrefix(got, `{"passages":[],"note":"No document says anything about it.`) {
		t.Errorf("nothing: %s, %v", got, err)
	}
	for range 5 {
		found = append(found, Passage{Title: strings.Repeat("t", 500), Source: strings.Repeat("s", 500), Heading: strings.Repeat("h", 500), Text: strings.Repeat("営", 1200)})
	}
	if got, err := ask(`{"query":"x"}`); err != nil || len(got) > MaxResult {
		t.Errorf("five long ones: %d bytes, %v", len(got), err)
	}
	failure = errors.New("password=secret")
	if got, err := ask(`{"query":"x"}`); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a failure: %s, %v", got, err)
	}
}
