package scripted

import (
	"strings"
	"testing"

	"parley/inference"
)

// TestSummary quotes what was said; rules cannot do more, and must not do less.
func TestSummary(t *testing.T) {
	for _, tt := range []struct {
		lines []inference.SummaryLine
		want  string
	}{
		{[]inference.SummaryLine{{Agent: true, Text: "Hello."}, {Text: "Yes, Friday is fine."}, {Agent: true, Text: "See you."}}, "Person: “Yes, Friday is fine.” Agent: “See you.”"},
		{[]inference.SummaryLine{{Text: "Hello?"}, {Text: "Yes."}}, "Person: “Hello?” … “Yes.”"},
		{[]inference.SummaryLine{{Agent: true, Text: "Please call us back."}}, "Agent: “Please call us back.”"},
		{[]inference.SummaryLine{{Text: strings.Repeat("ñ", 500)}}, "Person: “" + strings.Repeat("ñ", 160) + "…”"},
	} {
		said := ""
		for d, err := range New().Complete(t.Context(), inference.SummaryRequest(tt.lines, "en")) {
			if err != nil {
				t.Fatal(err)
			}
			said += d.Text
		}
		if said != tt.want {
			t.Errorf("%q, want %q", said, tt.want)
		}
	}
}
