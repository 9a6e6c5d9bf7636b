package editor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parley/api/dashboard/page"
	"parley/api/wire"
)

// complaint is what stands at an input whose value the API does not take.
func complaint(m wire.Mistake) string {
	if m.Problem == "is empty" || m.Problem == "is missing" {
		return "This field is required."
	}
	return page.Sentence(m.Problem)
}

// mistaken puts what the API says is wrong where it was entered.
func (f *agentForm) mistaken(wrong []wire.Mistake) {
	for _, m := range wrong {
		x, within := f.fields.at(m.Path)
		ok := x != nil
		switch {
		case ok && f.listed(x):
			var id string
			if id, ok = f.mistakenRow(x, within); ok {
				f.Fail(id, complaint(m))
			}
		case ok:
			f.Fail(x.Name, where(within)+complaint(m))
		}
		if !ok {
			f.Others = append(f.Others, m)
		}
	}
}

// mistakenRow finds the field of an entry that a path within a list is about.
func (f *agentForm) mistakenRow(x *agentField, within string) (id string, ok bool) {
	if x.Form.Each != nil {
		n, column, ok := factAt(f.rows(x), within)
		return x.id(column, n), ok
	}
	written, at := f.written(x), 0
	if rest, indexed := strings.CutPrefix(within, "["); indexed {
		number, deeper, _ := strings.Cut(rest, "]")
		n, err := strconv.Atoi(number)
		if err != nil {
			return "", false
		}
		at, within = n, deeper
	} else if x.AnyOf == nil { // one alone has no number
		return "", false
	}
	if at < 0 || at >= len(written) {
		return "", false
	}
	column, _, _ := strings.Cut(strings.TrimPrefix(within, "."), ".")
	if !slices.Contains(x.entry.Form.Fields, column) {
		column = x.entry.Form.Fields[0]
	}
	return x.id(column, written[at].n), true
}

// where names a place within a field for people: "2nd entry, url: ".
func where(rest string) string {
	if rest == "" {
		return ""
	}
	if at, deeper, ok := strings.Cut(strings.TrimPrefix(rest, "["), "]"); ok && rest[0] == '[' {
		if n, err := strconv.Atoi(at); err == nil {
			return strings.TrimSuffix(fmt.Sprintf("Entry %d, %s", n+1, strings.TrimPrefix(deeper, ".")), ", ") + ": "
		}
	}
	return strings.TrimPrefix(rest, ".") + ": "
}

// OK says whether nothing is wrong.
func (f *agentForm) OK() bool { return f.Form.OK() && len(f.Others) == 0 }

// Complaint is one thing that is wrong, for the list above the form.
type Complaint struct{ Field, Label, What string }

// wrong is what is wrong with a field, and with the entries in it.
func (f *agentForm) wrong(x *agentField) (out []Complaint) {
	if what := f.Errors[x.Name]; what != "" {
		out = append(out, Complaint{x.Name, x.Title, what})
	}
	if !f.listed(x) {
		return out
	}
	for n := range f.rows(x) {
		for _, c := range x.entry.Form.Fields {
			if what := f.Errors[x.id(c, n)]; what != "" {
				out = append(out, Complaint{x.id(c, n), fmt.Sprintf("%s %d, %s", x.Title, n+1, c), what})
			}
		}
	}
	return out
}

// Complaints are all that is wrong, in the order of the form.
func (f *agentForm) Complaints() []Complaint {
	var out []Complaint
	for _, x := range f.fields.all {
		out = append(out, f.wrong(x)...)
	}
	for _, m := range f.Others {
		out = append(out, Complaint{"", m.Path, page.Sentence(m.Problem)})
	}
	return out
}
