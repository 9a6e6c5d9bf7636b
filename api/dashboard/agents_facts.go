package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// oneOf is the kind of facts that are one of several texts; the other kinds are JSON
// Schema's types.
const oneOf = "choice"

// factsOf are the facts that a JSON Schema asks for, in its order; not ok: the schema says
// more than a list of facts can.
func factsOf(raw json.RawMessage) (rows []Row, ok bool) {
	var s struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(raw, &s) != nil || len(s.Properties) == 0 {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(s.Properties))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		name, err := d.Token()
		var p struct {
			Type        string   `json:"type"`
			Description string   `json:"description"`
			Enum        []string `json:"enum"`
		}
		if err != nil || d.Decode(&p) != nil {
			return nil, false
		}
		cells := map[string]string{"name": name.(string), "kind": p.Type, "description": p.Description, "choices": strings.Join(p.Enum, ", ")}
		switch {
		case len(p.Enum) > 0:
			cells["kind"] = oneOf
		case p.Type == "string":
			cells["kind"] = ""
		case !slices.ContainsFunc(Row{}.Kinds(), func(o Option) bool { return o.Value == p.Type }):
			return nil, false
		}
		if slices.Contains(s.Required, name.(string)) {
			cells["needed"] = "on"
		}
		rows = append(rows, newRow("analysis_extract", func(c string) string { return cells[c] }))
	}
	again := &agentForm{Form: &Form{}}
	again.setRows("analysis_extract", slices.Clone(rows))
	written, err := json.Marshal(again.entries("analysis_extract"))
	return rows, err == nil && again.Form.OK() && sameSchema(raw, written)
}

// sameSchema says whether two schemas ask for the same, in whatever order.
func sameSchema(a, b json.RawMessage) bool {
	var read [2]map[string]any
	for i, raw := range []json.RawMessage{a, b} {
		if json.Unmarshal(raw, &read[i]) != nil {
			return false
		}
		if required, ok := read[i]["required"].([]any); ok {
			slices.SortFunc(required, func(x, y any) int { return strings.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
			if len(required) == 0 {
				delete(read[i], "required")
			}
		}
	}
	return reflect.DeepEqual(read[0], read[1])
}

// facts are the JSON Schema that asks for what was entered.
func (f *agentForm) facts(rows []Row) any {
	var properties object
	var required, seen []string
	for _, r := range rows {
		name := r.Cells["name"]
		var p object
		p.add("type", map[string]string{"": "string", oneOf: "string"}[r.Cells["kind"]])
		if kind := r.Cells["kind"]; kind != "" && kind != oneOf {
			p[0].value = kind
		}
		if text := r.Cells["description"]; text != "" {
			p.add("description", text)
		}
		switch {
		case name == "":
			f.failRow(r.List, r.N, "name", "Say what it is called in the results.")
		case slices.Contains(seen, name):
			f.failRow(r.List, r.N, "name", "There is another fact of this name.")
		}
		if r.Cells["kind"] == oneOf {
			choices := strings.FieldsFunc(r.Cells["choices"], func(c rune) bool { return c == ',' || c == '\n' })
			for i := range choices {
				choices[i] = strings.TrimSpace(choices[i])
			}
			choices = slices.DeleteFunc(choices, func(c string) bool { return c == "" })
			if len(choices) == 0 {
				f.failRow(r.List, r.N, "choices", "Write the answers, with commas between them.")
			}
			p.add("enum", choices)
		}
		if r.Cells["needed"] != "" {
			required = append(required, name)
		}
		seen = append(seen, name)
		properties.add(name, p)
	}
	var s object
	s.add("type", "object")
	s.add("properties", properties)
	if len(required) > 0 {
		s.add("required", required)
	}
	return s
}

// factAt finds the fact that a path within the schema is about, and which of its fields.
func (f *agentForm) factAt(within string) (n int, column string, ok bool) {
	within, ok = strings.CutPrefix(within, ".properties.")
	if !ok {
		return 0, "", false
	}
	best := -1
	for _, r := range f.written("analysis_extract") {
		name := r.Cells["name"]
		if rest, found := strings.CutPrefix(within, name); found && (rest == "" || strings.ContainsAny(rest[:1], ".[")) && len(name) > best {
			best, n, column = len(name), r.N, "name"
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
