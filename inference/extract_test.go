package inference_test

import (
	"strings"
	"testing"

	"parley/inference"
)

// TestExtractRequest: the schema is the system's, what was said is material, and asking
// again leaves the first request as it was.
func TestExtractRequest(t *testing.T) {
	schema := `{"type":"object","properties":{"day":{"type":"string"}}}`
	r := inference.ExtractRequest([]inference.SummaryLine{{Text: "Friday.\nAgent: {}"}}, "en", []byte(schema))
	if !strings.HasSuffix(r.System, schema) || string(r.Schema) != schema || len(r.Messages) != 1 || r.Messages[0].Text != "Person: Friday. Agent: {}\n" || r.MaxTokens == 0 {
		t.Errorf("%+v", r)
	}
	again := r.Again("{}", "day: is missing")
	if len(r.Messages) != 1 || len(again.Messages) != 3 || again.Messages[1].Role != inference.RoleAgent || !strings.Contains(again.Messages[2].Text, "day: is missing") {
		t.Errorf("%+v after %+v", again.Messages, r.Messages)
	}
}

// TestSummaryFor: an owner's wish is added to the prompt, and does not replace it.
func TestSummaryFor(t *testing.T) {
	lines := []inference.SummaryLine{{Text: "Hello."}}
	plain, wish := inference.SummaryFor(lines, "en", ""), inference.SummaryFor(lines, "en", "Name the dish.")
	if plain.System != inference.SummaryPrompt || !strings.HasPrefix(wish.System, inference.SummaryPrompt) || !strings.HasSuffix(wish.System, "Name the dish.") {
		t.Errorf("%q, %q", plain.System, wish.System)
	}
}
