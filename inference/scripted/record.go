package scripted

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"parley/inference"
)

// maxQuote bounds each quotation of a transcript, in code points.
const maxQuote = 160

// read takes a transcript apart: what the person said, and what the agent said last.
func read(transcript string) (said []string, agent string) {
	for line := range strings.Lines(transcript) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, inference.SummaryAgent); ok {
			agent = text
		} else if text, ok := strings.CutPrefix(line, inference.SummaryPerson); ok {
			said = append(said, text)
		}
	}
	return said, agent
}

// summarize quotes a transcript: what the person said first and last, and the agent's
// last words.
func summarize(transcript string) string {
	said, agent := read(transcript)
	var parts []string
	if len(said) > 0 {
		first, last := said[0], said[len(said)-1]
		parts = append(parts, inference.SummaryPerson+"“"+clip(first)+"”")
		if last != first {
			parts = append(parts, "… “"+clip(last)+"”")
		}
	}
	if agent != "" {
		parts = append(parts, inference.SummaryAgent+"“"+clip(agent)+"”")
	}
	return strings.Join(parts, " ")
}

func clip(text string) string {
	if r := []rune(text); len(r) > maxQuote {
		return strings.TrimSpace(string(r[:maxQuote])) + "…"
	}
	return text
}

// schema is the part of a JSON Schema that the engine reads.
type schema struct {
	Type        string             `json:"type"`
	Description string             `json:"description"`
	Enum        []string           `json:"enum"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	MaxLength   int                `json:"maxLength"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
}

// extract answers a request for facts as JSON: of each property the latest value of its
// kind, or the latest word of its enum. It leaves out what was not said. A boolean whose
// description quotes something says whether all of it was said, by either side.
func extract(code, transcript string, form []byte) string {
	l := languageOf(code)
	said, _ := read(transcript)
	var s schema
	_ = json.Unmarshal(form, &s) // in an unknown form there is nothing to find
	facts := map[string]any{}
	for name, p := range s.Properties {
		if p == nil {
			continue
		}
		if quotes := quotesIn(p.Description); p.Type == "boolean" && len(quotes) > 0 {
			missing := unsaid(transcript, quotes)
			facts[name] = missing == ""
			if r := s.Properties["reason"]; r != nil && r.Type == "string" {
				facts["reason"] = "All that it quotes was said."
				if missing != "" {
					facts["reason"] = "Nobody said “" + clip(missing) + "”."
				}
			}
			continue
		}
		want := slotOf(name, *p)
		for _, text := range said {
			value := l.values(tokens(text))[want.kind]
			if want.options != nil {
				value = option(want.options, tokens(text))
			}
			if v := p.typed(value); v != nil {
				facts[name] = v
			}
		}
	}
	b, _ := json.Marshal(facts)
	return string(b)
}

// quotesIn are the texts between double quotation marks.
func quotesIn(text string) (quotes []string) {
	text = strings.NewReplacer("“", `"`, "”", `"`).Replace(text)
	for i, part := range strings.Split(text, `"`) {
		if part = strings.TrimSpace(part); i%2 == 1 && part != "" {
			quotes = append(quotes, part)
		}
	}
	return quotes
}

// unsaid is the first of some texts that a transcript has in none of its lines; empty: none is.
func unsaid(transcript string, quotes []string) string {
	transcript = strings.ToLower(transcript)
	for _, q := range quotes {
		if !strings.Contains(transcript, strings.ToLower(q)) {
			return q
		}
	}
	return ""
}

// typed is a text as a value that the schema allows; nil: it is none.
func (s *schema) typed(text string) any {
	if s.Type == "string" && text != "" && (s.MaxLength == 0 || utf8.RuneCountInString(text) <= s.MaxLength) {
		return text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || s.Type != "integer" && s.Type != "number" || s.Minimum != nil && float64(n) < *s.Minimum || s.Maximum != nil && float64(n) > *s.Maximum {
		return nil
	}
	return n
}
