package scripted

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"parley/inference"
)

// maxQuote bounds each quotation of a transcript, in code points.
const maxQuote = 160

// utterance is something that the person said, and what the agent had said before.
type utterance struct {
	text         string
	heard, asked []string
}

// read takes a transcript apart; agent is what the agent said last.
func read(transcript string) (said []utterance, agent string) {
	var asked []string
	for line := range strings.Lines(transcript) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, inference.SummaryAgent); ok {
			agent, asked = text, tokens(text)
		} else if text, ok := strings.CutPrefix(line, inference.SummaryPerson); ok {
			said = append(said, utterance{text, tokens(text), asked})
			asked = nil
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
		first, last := said[0].text, said[len(said)-1].text
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
	MaxItems    int                `json:"maxItems"`
	Properties  map[string]*schema `json:"properties"`
	Required    []string           `json:"required"`
	Items       *schema            `json:"items"`
}

// extraction fills a schema from what a person said.
type extraction struct {
	*language
	said []utterance
}

// extract answers a request for facts as JSON. It leaves out what was not said.
func extract(code, transcript string, form []byte) string {
	said, _ := read(transcript)
	e := extraction{languageOf(code), said}
	var s schema
	_ = json.Unmarshal(form, &s) // in an unknown form there is nothing to find
	b, _ := json.Marshal(e.object(&s))
	return string(b)
}

func (e extraction) object(s *schema) map[string]any {
	found := map[string]any{}
	for name, p := range s.Properties {
		if p == nil {
			continue
		}
		if v := e.value(name, p); v != nil {
			found[name] = v
		}
	}
	return found
}

// value is what was said of a property; nil: nothing.
func (e extraction) value(name string, s *schema) any {
	var about []string // the words that tell of the property
	for _, w := range append(words(name), tokens(s.Description)...) {
		if !e.stop[w] && len(w) > 2 {
			about = append(about, w)
		}
	}
	switch s.Type {
	case "object":
		if o := e.object(s); len(o) > 0 {
			return o
		}
	case "array":
		return e.list(s)
	case "boolean":
		return e.agreed(about)
	case "string", "integer", "number":
		return e.single(slotOf(name, *s), about, s)
	}
	return nil
}

// single is the latest value, best where the property was spoken of.
func (e extraction) single(want slot, about []string, s *schema) any {
	for _, near := range []bool{true, false} {
		for _, u := range slices.Backward(e.said) {
			asked := mentions(u.asked, about)
			if near != (asked || mentions(u.heard, about)) {
				continue
			}
			found := e.values(u.heard)
			text := found[want.kind]
			switch {
			case want.options != nil:
				text = option(want.options, u.heard)
			case text != "" || !near:
			case want.kind == kindNumber:
				text = found[kindDigits]
			case want.kind == kindText:
				text = clip(u.text)
			case asked:
				text = e.fill(want, u.heard)
			}
			if v := s.typed(text); v != nil {
				return v
			}
		}
	}
	return nil
}

// typed is a text as a value that the schema allows; nil: it is none.
func (s *schema) typed(text string) any {
	if s.Type == "string" {
		if r := []rune(text); s.MaxLength > 0 && len(r) > s.MaxLength {
			text = string(r[:s.MaxLength])
		}
		if text == "" {
			return nil
		}
		return text
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || s.Minimum != nil && float64(n) < *s.Minimum || s.Maximum != nil && float64(n) > *s.Maximum {
		return nil
	}
	return n
}

// list is every word of a list that was said; nil: the schema names none.
func (e extraction) list(s *schema) any {
	if s.Items == nil || len(s.Items.Enum) == 0 {
		return nil
	}
	list := []string{}
	for _, o := range s.Items.Enum {
		said := slices.ContainsFunc(e.said, func(u utterance) bool { return option([]string{o}, u.heard) != "" })
		if said && (s.MaxItems == 0 || len(list) < s.MaxItems) {
			list = append(list, o)
		}
	}
	return list
}

// mentions says whether any of the words was said.
func mentions(heard, about []string) bool {
	return slices.ContainsFunc(about, func(w string) bool { return option([]string{w}, heard) != "" })
}

// agreed says whether the person spoke of a thing, or said yes where the agent did.
func (e extraction) agreed(about []string) bool {
	for _, u := range slices.Backward(e.said) {
		refused := e.says(no, u.heard)
		switch {
		case mentions(u.asked, about) && (refused || e.says(yes, u.heard)):
			return !refused
		case mentions(u.heard, about):
			return !refused
		}
	}
	return false
}

// says reports whether a phrase of small talk was used.
func (e extraction) says(name string, heard []string) bool {
	for _, t := range e.talk {
		if t.name == name && slices.ContainsFunc(t.phrases, func(p []string) bool { return sequence(heard, p) >= 0 }) {
			return true
		}
	}
	return false
}
