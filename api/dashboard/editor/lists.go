package editor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"parley/api/dashboard/page"
)

// maxRows bounds the entries of a list that are read from a form.
const maxRows = 64

// row is an entry of a list.
type row struct {
	n     int               // which it is
	cells map[string]string // what is in its fields, by their names
}

// row makes the nth entry of a list.
func (x *agentField) row(n int, value func(column string) string) row {
	r := row{n, map[string]string{}}
	for _, c := range x.entry.Form.Fields {
		r.cells[c] = strings.TrimSpace(unix(value(c)))
	}
	return r
}

// empty says whether nothing was written into an entry; what was chosen alone is nothing.
func (x *agentField) empty(r row) bool {
	for c, v := range r.cells {
		if v != "" && !x.entry.Properties[c].chosen() {
			return false
		}
	}
	return true
}

// id is what a field of an entry is called on the page.
func (x *agentField) id(column string, n int) string {
	return fmt.Sprintf("%s_%s_%d", x.Name, column, n)
}

// listed says whether a field shows a list: else it may be written as a document.
func (f *agentForm) listed(x *agentField) bool { return x.entry != nil && !f.Values.Has(x.Name) }

// rows are the entries of a list that were sent.
func (f *agentForm) rows(x *agentField) (rows []row) {
	for n := range min(maxRows, len(f.Values[x.Name+"_"+x.entry.Form.Fields[0]])) {
		rows = append(rows, x.row(n, func(c string) string {
			if sent := f.Values[x.Name+"_"+c]; n < len(sent) {
				return sent[n]
			}
			return ""
		}))
	}
	return rows
}

// written are the entries in which something is. The nth entry of a document is the nth of
// these.
func (f *agentForm) written(x *agentField) []row { return slices.DeleteFunc(f.rows(x), x.empty) }

// Row is an entry of a list as the template shows it.
type Row struct {
	Title  string
	Groups [][]control
}

// More is what an entry has besides the first of its fields.
func (r Row) More() [][]control { return r.Groups[1:] }

// Open says whether something is in that, or wrong with it.
func (r Row) Open() bool {
	return slices.ContainsFunc(slices.Concat(r.More()...), func(c control) bool { return c.Value != "" || c.Error != "" })
}

// shownRows are the entries of a list; there is always one to write into.
func (f *agentForm) shownRows(x *agentField) (out []Row) {
	rows := f.rows(x)
	if len(rows) == 0 || f.Value("more") == x.Name {
		rows = append(rows, row{n: len(rows)})
	}
	for _, r := range rows {
		out = append(out, x.shown(r, f.Errors))
	}
	return out
}

// shown is an entry as the template shows it; the one that scripts make more of is number -1.
func (x *agentField) shown(r row, wrong map[string]string) Row {
	var all []control
	for _, c := range x.entry.Form.Fields {
		id := x.id(c, r.n)
		all = append(all, x.entry.Properties[c].control(id, x.Name+"_"+c, r.cells[c], wrong[id], slices.Contains(x.entry.Required, c)))
	}
	switch {
	case x.AnyOf != nil:
		x.chooseEngine(r.n, &all[0])
	case x.agents != nil:
		x.chooseAgent(&all[slices.Index(x.entry.Form.Fields, "agent")])
	}
	return Row{Title: x.entry.Title, Groups: beside(all)}
}

// chooseEngine has the field of the nth engine offer those of the server.
func (x *agentField) chooseEngine(n int, of *control) {
	of.How, of.Label, of.Need = "select", "If that one fails", page.Plain
	choices := []page.Option{{Value: "", Label: "None"}}
	if n == 0 {
		of.Label, choices[0].Label = "First choice", "Server default"
	}
	for _, name := range x.offered {
		choices = append(choices, page.Option{Value: name, Label: name})
	}
	if of.Value != "" && !slices.Contains(x.offered, of.Value) {
		choices = append(choices, page.Option{Value: of.Value, Label: of.Value + " (not offered here)"})
	}
	of.Choose(choices)
}

// rowsOf are the entries of a value; not ok: it is more than entries can show.
func (x *agentField) rowsOf(raw json.RawMessage) (rows []row, ok bool) {
	var entries []map[string]json.RawMessage
	switch {
	case len(raw) == 0 || string(raw) == "null":
	case x.Form.Each != nil:
		return x.factRows(raw)
	case x.AnyOf != nil:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			list = []json.RawMessage{raw}
		}
		for _, one := range list {
			e := map[string]json.RawMessage{"engine": one}
			_ = json.Unmarshal(one, &e) // a name alone stays as it is
			entries = append(entries, e)
		}
	default:
		_ = json.Unmarshal(raw, &entries) // nothing else is stored
	}
	for n, e := range entries {
		rows = append(rows, x.row(n, func(c string) string { return x.entry.Properties[c].text(e[c]) }))
	}
	return rows, true
}

// entries are a list as the document has it; nil: there are none.
func (f *agentForm) entries(x *agentField) any {
	var out []object
	for _, r := range f.written(x) {
		var one object
		for _, c := range x.entry.Form.Fields {
			v := x.entry.Properties[c].value(r.cells[c], func(what string) { f.Fail(x.id(c, r.n), what) })
			if v == nil && slices.Contains(x.entry.Required, c) {
				v = "" // so that it is said
			}
			if v != nil {
				one.add(c, v)
			}
		}
		out = append(out, one)
	}
	switch {
	case len(out) == 0:
		return nil
	case x.Form.Each != nil:
		return f.facts(x, f.written(x))
	case x.AnyOf == nil:
		return out
	}
	var engines []any
	for _, one := range out {
		if len(one) == 1 { // its name alone
			engines = append(engines, one[0].value)
		} else {
			engines = append(engines, one)
		}
	}
	if len(engines) == 1 {
		return engines[0]
	}
	return engines
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
