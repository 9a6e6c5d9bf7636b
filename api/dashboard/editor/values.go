package editor

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

// text is a value as it is entered; empty: nothing, or what counts anyway. What cannot be read
// stays out of the form; nothing like that is stored.
func (s *shape) text(raw json.RawMessage) string {
	var v any
	_ = json.Unmarshal(raw, &v)
	if v == nil && s.box() {
		v = s.Default
	}
	if v != nil && s.free() {
		text, _ := wire.YAML(raw) // what is nested without end is not stored
		return text
	}
	switch one := v.(type) {
	case nil:
		return ""
	case bool:
		if s.box() {
			return map[bool]string{true: "on"}[one]
		}
		return s.code(v)
	case string:
		if s.chosen() {
			return s.code(v)
		}
		return one
	case []any, map[string]any:
		return strings.Join(s.lines(v), "\n")
	}
	return string(raw) // a number as it was written
}

// lines are a list, or an object, with a line for each of its entries.
func (s *shape) lines(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if entry, pair := one.(map[string]any); pair {
				var cells []string
				for _, c := range s.Items.Form.Fields {
					cells = append(cells, fmt.Sprint(entry[c]))
				}
				out = append(out, strings.Join(cells, " = "))
			} else {
				out = append(out, fmt.Sprint(one))
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = append(out, fmt.Sprintf("%s = %v", name, v[name]))
		}
	}
	return out
}

// value is what was entered as the document has it; nil: nothing. What no document can hold goes
// to fail.
func (s *shape) value(text string, fail func(string)) any {
	switch {
	case s.box():
		return map[bool]any{true: text != ""}[(text != "") != (s.Default == true)] // nil when it counts anyway
	case text == "":
		return nil
	case s.Type == "boolean":
		return text == "on"
	case s.number() && json.Valid([]byte(text)) && text[0] != '"':
		return json.RawMessage(text)
	case s.Type == "array" && s.Items.Type != "object":
		return slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.TrimSpace(line) == "" })
	case s.free():
		return fromYAML(text, fail)
	case s.Type == "array", s.Type == "object":
		return s.pairs(text, fail)
	}
	return text
}

// fromYAML reads YAML, of which JSON is a part; nil: nothing.
func fromYAML(text string, fail func(string)) any {
	read, err := wire.FromYAML(text)
	if err != nil {
		fail(page.Sentence(err.Error()))
	}
	if err != nil || string(read) == "null" {
		return nil
	}
	return read
}

// pairs reads "this = that", a line each: entries with two members, or the members of an object.
func (s *shape) pairs(text string, fail func(string)) any {
	var list []object
	values := map[string]string{}
	for n, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		left, right, ok := strings.Cut(line, "=")
		left, right = strings.TrimSpace(left), strings.TrimSpace(right)
		_, twice := values[left]
		switch {
		case !ok || left == "":
			fail(fmt.Sprintf("Line %d: write it as “%s”.", n+1, s.Form.Placeholder))
		case twice && s.Type == "object":
			fail(fmt.Sprintf("Line %d: %s is there twice.", n+1, left))
		}
		values[left] = right
		if s.Type == "array" {
			list = append(list, object{{s.Items.Form.Fields[0], left}, {s.Items.Form.Fields[1], right}})
		}
	}
	if s.Type == "array" {
		return list
	}
	return values
}
