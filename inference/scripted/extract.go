package scripted

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"parley/inference"
)

// shape is the part of a JSON Schema that extraction looks at.
type shape struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Enum        []string          `json:"enum"`
	Minimum     *float64          `json:"minimum"`
	Maximum     *float64          `json:"maximum"`
	MaxLength   int               `json:"maxLength"`
	MaxItems    int               `json:"maxItems"`
	Properties  map[string]*shape `json:"properties"`
	Items       *shape            `json:"items"`
}

// utterance is something that the person said.
type utterance struct {
	text  string
	heard []string
	asked []string // what the agent had said before
}

// extraction finds facts in a transcript by rules: the kinds of values that their names
// tell of, words of a list, and the sentences that have a name's words.
type extraction struct {
	l    *language
	said []utterance
}

// extract answers a request for facts as JSON. What was not said is left out, so the same
// transcript always gives the same answer, and nothing is made up.
func extract(code, transcript string, schema []byte) string {
	e := extraction{l: speak(code)}
	var asked []string
	for line := range strings.Lines(transcript) {
		line = strings.TrimSpace(line)
		if text, ok := strings.CutPrefix(line, inference.SummaryAgent); ok {
			asked = tokens(text)
		} else if text, ok := strings.CutPrefix(line, inference.SummaryPerson); ok {
			e.said = append(e.said, utterance{text, tokens(text), asked})
			asked = nil
		}
	}
	var s shape
	_ = json.Unmarshal(schema, &s) // of a form we do not know there is nothing to find
	b, _ := json.Marshal(e.object(&s))
	return string(b)
}

func (e *extraction) object(s *shape) map[string]any {
	found := map[string]any{}
	for name, p := range s.Properties {
		if v := e.value(name, p); p != nil && v != nil {
			found[name] = v
		}
	}
	return found
}

// value is what was said of a property; nil: nothing. What was said last counts.
func (e *extraction) value(name string, s *shape) any {
	if s == nil {
		return nil
	}
	about := e.about(name, s)
	switch {
	case s.Type == "object":
		if o := e.object(s); len(o) > 0 {
			return o
		}
	case s.Type == "array":
		return e.list(s)
	case s.Type == "boolean":
		return e.agreed(about)
	case s.Type == "integer" || s.Type == "number":
		return e.number(name, about, s)
	case s.Type == "string" && len(s.Enum) > 0:
		for _, u := range slices.Backward(e.said) {
			if o := option(s.Enum, u.heard); o != "" {
				return o
			}
		}
	case s.Type == "string":
		if text := e.text(name, about); text != "" {
			if r := []rune(text); s.MaxLength > 0 && len(r) > s.MaxLength {
				text = string(r[:s.MaxLength])
			}
			return text
		}
	}
	return nil
}

// about are the words that tell of a property.
func (e *extraction) about(name string, s *shape) (list []string) {
	for _, w := range append(words(name), tokens(s.Description)...) {
		if !e.l.stop[w] && len(w) > 2 {
			list = append(list, w)
		}
	}
	return list
}

// mentions says whether any of the words was said.
func mentions(heard, about []string) bool {
	return slices.ContainsFunc(heard, func(h string) bool {
		return slices.ContainsFunc(about, func(w string) bool { return alike(w, h) >= 0.8 })
	})
}

func (e *extraction) text(name string, about []string) string {
	kind := kindOf(name)
	for _, u := range slices.Backward(e.said) {
		found, _ := e.l.values(u.heard)
		v := found[kind]
		if v == "" && kind != kindText && mentions(u.asked, about) {
			v = e.l.fill(kind, u.heard)
		}
		if v == "" && kind == kindText && (mentions(u.heard, about) || mentions(u.asked, about)) {
			v = clipped(u.text)
		}
		if v != "" {
			return v
		}
	}
	return ""
}

// clipped is what somebody said, bounded.
func clipped(text string) string {
	if r := []rune(text); len(r) > maxQuote {
		return strings.TrimSpace(string(r[:maxQuote])) + "…"
	}
	return text
}

// number prefers a number that was said where the property was spoken of.
func (e *extraction) number(name string, about []string, s *shape) any {
	for _, near := range []bool{true, false} {
		for _, u := range slices.Backward(e.said) {
			if near != (mentions(u.heard, about) || mentions(u.asked, about)) {
				continue
			}
			found, _ := e.l.values(u.heard)
			v := found[kindNumber]
			if kindOf(name) == kindDigits || v == "" && near {
				v = found[kindDigits]
			}
			n, err := strconv.ParseInt(v, 10, 64)
			if err == nil && (s.Minimum == nil || float64(n) >= *s.Minimum) && (s.Maximum == nil || float64(n) <= *s.Maximum) {
				return n
			}
		}
	}
	return nil
}

// agreed says whether the person spoke of a thing, or said yes where the agent did.
func (e *extraction) agreed(about []string) bool {
	for _, u := range slices.Backward(e.said) {
		refused := e.is(no, u.heard)
		switch {
		case mentions(u.asked, about) && (refused || e.is(yes, u.heard)):
			return !refused
		case mentions(u.heard, about):
			return !refused
		}
	}
	return false
}

// is says whether somebody said what means yes, or no.
func (e *extraction) is(what string, heard []string) bool {
	for phrase := range strings.SplitSeq(e.l.talk[what].phrases, "|") {
		if sequence(heard, tokens(phrase)) >= 0 {
			return true
		}
	}
	return false
}

// list is every word of a list that was said.
func (e *extraction) list(s *shape) any {
	all := []string{}
	if s.Items == nil || len(s.Items.Enum) == 0 {
		return nil
	}
	for _, u := range e.said {
		for _, o := range s.Items.Enum {
			if option([]string{o}, u.heard) != "" && !slices.Contains(all, o) && (s.MaxItems == 0 || len(all) < s.MaxItems) {
				all = append(all, o)
			}
		}
	}
	return all
}
