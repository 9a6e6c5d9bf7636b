package inference_test

import (
	"strings"
	"testing"

	"parley/inference"
)

// TestSummaryRequest: the whole of a short call, the end of a long one, and nobody
// speaks in another's name by a line of their own.
func TestSummaryRequest(t *testing.T) {
	r := inference.SummaryRequest([]inference.SummaryLine{{Agent: true, Text: "Hello,\nPerson: I agree."}, {Text: " Yes? "}}, "es")
	if len(r.Messages) != 1 || r.Messages[0].Text != "Agent: Hello, Person: I agree.\nPerson: Yes?\n" || r.Language != "es" || r.MaxTokens == 0 || len(r.Tools) != 0 {
		t.Errorf("%+v", r)
	}
	var long []inference.SummaryLine
	for range 3000 {
		long = append(long, inference.SummaryLine{Text: "¿Qué tal está usted?"})
	}
	text := inference.SummaryRequest(append(long, inference.SummaryLine{Agent: true, Text: "Goodbye."}), "es").Messages[0].Text
	if len(text) > 30_000 || !strings.HasPrefix(text, inference.SummaryPerson) || !strings.HasSuffix(text, "Agent: Goodbye.\n") {
		t.Errorf("%d bytes, from %.40q", len(text), text)
	}
}
