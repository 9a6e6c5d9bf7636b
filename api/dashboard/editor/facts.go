package editor

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// oneOf is the kind of facts that are one of several texts; the other kinds are JSON
// Schema's types.
const oneOf = "choice"

// factRows are the facts that a JSON Schema asks for, in its order; not ok: the schema says
// more than a list of facts can.
func (x *agentField) factRows(raw json.RawMessage) (rows []row, ok bool) {
	var s struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if strictly(raw).Decode(&s) != nil || s.Type != "object" {
		return nil, false
	}
	if len(s.Properties) == 0 {
		return nil, len(s.Required) == 0
	}
	d := strictly(s.Properties)
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	kinds := x.entry.Properties["kind"]
	for d.More() {
		name, err := d.Token()
		var p struct {
			Type        string   `json:"type"`
			Description string   `json:"description"`
			Enum        []string `json:"enum"`
		}
		if err != nil || d.Decode(&p) != nil || p.Type == oneOf || !slices.Contains(kinds.Enum, p.Type) {
			return nil, false
		}
		fact := map[string]string{"name": name.(string), "kind": kinds.code(p.Type), "description": p.Description, "choices": strings.Join(p.Enum, ", ")}
		if len(p.Enum) > 0 {
			fact["kind"] = oneOf
		}
		if slices.Contains(s.Required, fact["name"]) {
			fact["needed"] = "on"
		}
		r := x.row(len(rows), func(c string) string { return fact[c] })
		if r.cells["name"] != name || r.cells["description"] != p.Description || !slices.Equal(choicesIn(fact["choices"]), p.Enum) {
			return nil, false // it has spaces or commas that the form would lose
		}
		rows = append(rows, r)
	}
	return rows, true
}

// strictly reads JSON whose objects have no other members than those that are asked for.
func strictly(text json.RawMessage) *json.Decoder {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d
}

// choicesIn are the answers in a text that has commas or ends of lines between them.
func choicesIn(text string) (out []string) {
	for _, c := range strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == '\n' }) {
		if c = strings.TrimSpace(c); c != "" {
			out = append(out, c)
		}
	}
	return out
}

// facts are the JSON Schema that asks for what was entered.
func (f *agentForm) facts(x *agentField, rows []row) any {
	var properties object
	var required, seen []string
	for _, r := range rows {
		var p object
		name, kind := r.cells["name"], r.cells["kind"]
		if kind == "" || kind == oneOf {
			p.add("type", "string")
		} else {
			p.add("type", kind)
		}
		if text := r.cells["description"]; text != "" {
			p.add("description", text)
		}
		switch {
		case name == "":
			f.Fail(x.id("name", r.n), "Enter a name.")
		case slices.Contains(seen, name):
			f.Fail(x.id("name", r.n), "Another entry has this name.")
		}
		if kind == oneOf {
			choices := choicesIn(r.cells["choices"])
			if len(choices) == 0 {
				f.Fail(x.id("choices", r.n), "Write the answers, with commas between them.")
			}
			p.add("enum", choices)
		}
		if r.cells["needed"] != "" {
			required = append(required, name)
		}
		seen = append(seen, name)
		properties.add(name, p)
	}
	s := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		s.add("required", required)
	}
	return s
}

// factAt finds the fact that a path within the schema is about, and which of its fields.
func factAt(rows []row, within string) (n int, column string, ok bool) {
	within, ok = strings.CutPrefix(within, ".properties.")
	if !ok {
		return 0, "", false
	}
	best := -1
	for _, r := range rows {
		name := r.cells["name"]
		if rest, found := strings.CutPrefix(within, name); found && (rest == "" || strings.ContainsAny(rest[:1], ".[")) && len(name) > best {
			best, n, column = len(name), r.n, "name"
			switch {
			case strings.HasPrefix(rest, ".enum"):
				column = "choices"
			case strings.HasPrefix(rest, ".type"):
				column = "kind"
			case strings.HasPrefix(rest, ".description"):
				column = "description"
			}
		}
	}
	return n, column, best >= 0
}
