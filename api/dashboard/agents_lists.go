package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
)

// maxRows bounds the entries of a list that are read from a form.
const maxRows = 64

// Row is an entry of a list.
type Row struct {
	List   string
	N      int               // which it is; -1: one that scripts make more of
	Cells  map[string]string // what is in its fields, of which there is each column
	Errors map[string]string // what is wrong with them
}

func newRow(list string, value func(column string) string) Row {
	r := Row{List: list, Cells: map[string]string{}}
	for _, c := range agentColumns[list] {
		r.Cells[c] = strings.TrimSpace(unix(value(c)))
	}
	return r
}

func blankRow(list string) Row { return newRow(list, func(string) string { return "" }) }

// empty says whether nothing was written into it; what was chosen alone is nothing.
func (r Row) empty() bool {
	for c, v := range r.Cells {
		if v != "" && c != "kind" && c != "needed" && c != "warm" {
			return false
		}
	}
	return true
}

// id is what a field of the entry is called on the page.
func (r Row) id(column string) string { return fmt.Sprintf("%s_%s_%d", r.List, column, r.N) }

// Field makes an input of the entry: see Form.Field.
func (r Row) Field(column, label string, options ...string) Field {
	return r.Select(column, label, "", nil, options...)
}

// Select makes a field of choices: see Form.Select.
func (r Row) Select(column, label, chosen string, choices []Option, options ...string) Field {
	name := r.List + "_" + column
	f := NewForm(name, r.Cells[column])
	if what := r.Errors[column]; what != "" {
		f.Fail(name, what)
	}
	x := f.Select(name, label, chosen, choices, options...)
	x.ID = r.id(column)
	return x
}

// Rows are the entries of a list.
func (f *agentForm) Rows(list string) []Row { return f.lists[list] }

// setRows replaces the entries of a list; there is always one to write into.
func (f *agentForm) setRows(list string, rows []Row) {
	if len(rows) == 0 || f.Value("more") == list {
		rows = append(rows, blankRow(list))
	}
	for i := range rows {
		rows[i].N = i
	}
	if f.lists == nil {
		f.lists = map[string][]Row{}
	}
	f.lists[list] = rows
}

// written are the entries in which something is. The nth entry of a document is the nth
// of these.
func (f *agentForm) written(list string) []Row {
	var out []Row
	for _, r := range f.lists[list] {
		if !r.empty() {
			out = append(out, r)
		}
	}
	return out
}

// failRow says what is wrong with a field of an entry.
func (f *agentForm) failRow(list string, n int, column, what string) {
	r := &f.lists[list][n]
	if r.Errors == nil {
		r.Errors = map[string]string{}
	}
	if r.Errors[column] == "" {
		r.Errors[column] = what
	}
	f.Fail(r.id(column), what)
}

// readRows takes the entries of a list from what was sent.
func (f *agentForm) readRows(list string) {
	columns := agentColumns[list]
	most := maxRows
	for _, c := range columns {
		most = min(most, len(f.Values[list+"_"+c]))
	}
	rows := make([]Row, most)
	for i := range rows {
		rows[i] = newRow(list, func(c string) string { return f.Values[list+"_"+c][i] })
	}
	f.setRows(list, rows)
}

// rowsOf are the entries of a setting; not ok: it is more than entries can show.
func rowsOf(list string, raw json.RawMessage) (rows []Row, ok bool) {
	switch {
	case list == "analysis_extract":
		return factsOf(raw)
	case strings.HasPrefix(list, "engines_"):
		var names []string
		if json.Unmarshal(raw, &names) != nil {
			names = make([]string, 1)
			_ = json.Unmarshal(raw, &names[0]) // nothing else is stored
		}
		for _, name := range names {
			rows = append(rows, newRow(list, func(string) string { return name }))
		}
		return rows, true
	}
	var entries []map[string]any
	_ = json.Unmarshal(raw, &entries) // nothing else is stored
	for _, e := range entries {
		rows = append(rows, newRow(list, func(c string) string {
			if on, flag := e[c].(bool); flag {
				return map[bool]string{true: "on"}[on]
			}
			text, _ := e[c].(string)
			return text
		}))
	}
	return rows, true
}

// sameRows says whether two lists have the same in them.
func sameRows(a, b []Row) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !maps.Equal(a[i].Cells, b[i].Cells) {
			return false
		}
	}
	return true
}

// object is one whose members have an order, which models see.
type object []struct {
	name  string
	value any
}

func (m *object) add(name string, value any) {
	*m = append(*m, struct {
		name  string
		value any
	}{name, value})
}

// MarshalJSON writes them in their order.
func (m object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, x := range m {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(x.name) // a string can be written
		value, err := json.Marshal(x.value)
		if err != nil {
			return nil, err
		}
		b.Write(append(append(name, ':'), value...))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// entries are a list as the document has it; nil: there are none.
func (f *agentForm) entries(list string) any {
	rows := f.written(list)
	switch {
	case len(rows) == 0:
		return nil
	case list == "analysis_extract":
		return f.facts(rows)
	case strings.HasPrefix(list, "engines_"):
		names := make([]string, len(rows))
		for i, r := range rows {
			names[i] = r.Cells["engine"]
		}
		if len(names) == 1 {
			return names[0]
		}
		return names
	}
	out := make([]object, len(rows))
	for i, r := range rows {
		for _, c := range agentColumns[list] {
			switch v := r.Cells[c]; {
			case c == "warm":
				if v != "" {
					out[i].add(c, true)
				}
			case v != "", c == "title", c == "text", c == "number": // those must be there, so that it is said
				out[i].add(c, v)
			}
		}
	}
	return out
}
