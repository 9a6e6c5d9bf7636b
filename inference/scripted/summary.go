package scripted

import (
	"strings"

	"parley/inference"
)

// maxQuote bounds each quotation of a summary, in code points.
const maxQuote = 160

// summarize quotes a call's transcript, which is all that rules can make of it: what
// the person said first and last, and the agent's last words.
func summarize(transcript string) string {
	var first, last, agent string
	for line := range strings.Lines(transcript) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, inference.SummaryAgent); ok {
			agent = text
		} else if text, ok := strings.CutPrefix(line, inference.SummaryPerson); ok {
			if first == "" {
				first = text
			}
			last = text
		}
	}
	var parts []string
	if first != "" {
		parts = append(parts, inference.SummaryPerson+quote(first))
	}
	if last != first {
		parts = append(parts, "… "+quote(last))
	}
	if agent != "" {
		parts = append(parts, inference.SummaryAgent+quote(agent))
	}
	return strings.Join(parts, " ")
}

func quote(s string) string {
	if r := []rune(s); len(r) > maxQuote {
		s = strings.TrimSpace(string(r[:maxQuote])) + "…"
	}
	return "“" + s + "”"
}
