package demo_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"parley/cmd/parley/demo"
	"parley/inference"
	"parley/inference/scripted"
)

// TestWords: Lola answers with the words of the recorded calls, of which callers interrupted some.
func TestWords(t *testing.T) {
	text, err := os.ReadFile("recorded/calls.json")
	if err != nil {
		t.Fatal(err)
	}
	var calls []demo.Call
	if err := json.Unmarshal(text, &calls); err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, c := range calls {
		for i := 1; i < len(c.Transcript); i++ {
			if c.Transcript[i-1].Role != "user" {
				continue
			}
			asked++
			r := inference.Request{System: demo.Lola.Prompt, Language: demo.Lola.Language,
				Messages: []inference.Message{{Role: inference.RoleUser, Text: c.Transcript[i-1].Text}}}
			said := ""
			for d := range scripted.New().Complete(t.Context(), r) {
				said += d.Text
			}
			if heard := c.Transcript[i].Text; said == "" || !strings.HasPrefix(heard, said) && !strings.HasPrefix(said, heard) {
				t.Errorf("%s: to %q it says %q, and said %q", c.Name, c.Transcript[i-1].Text, said, heard)
			}
		}
	}
	if asked < 10 {
		t.Errorf("%d questions", asked)
	}
}
