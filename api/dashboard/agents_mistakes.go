package dashboard

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"parley/api/wire"
)

// mistaken puts what the API says is wrong where it was entered.
func (f *agentForm) mistaken(wrong []wire.Mistake) {
	for _, m := range wrong {
		x, within, ok := fieldAt(m.Path)
		switch {
		case ok && x.how == aRows && !f.Values.Has(x.Name):
			ok = f.mistakenRow(x.Name, within, m.Problem)
		case ok:
			f.Fail(x.Name, where(within)+sentence(m.Problem))
		}
		if !ok {
			f.Others = append(f.Others, m)
		}
	}
}

// mistakenRow puts a problem beside the entry that it is about.
func (f *agentForm) mistakenRow(list, within, problem string) bool {
	if list == "analysis_extract" {
		n, column, ok := f.factAt(within)
		if ok {
			f.failRow(list, n, column, sentence(problem))
		}
		return ok
	}
	rows, at := f.written(list), 0
	if rest, indexed := strings.CutPrefix(within, "["); indexed {
		number, deeper, _ := strings.Cut(rest, "]")
		n, err := strconv.Atoi(number)
		if err != nil {
			return false
		}
		at, within = n, deeper
	} else if !strings.HasPrefix(list, "engines_") { // of these one alone has no number
		return false
	}
	if at < 0 || at >= len(rows) {
		return false
	}
	column := strings.TrimPrefix(within, ".")
	if !slices.Contains(agentColumns[list], column) {
		column = agentColumns[list][0]
	}
	f.failRow(list, rows[at].N, column, sentence(problem))
	return true
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

// Complaints are all that is wrong, in the order of the form.
func (f *agentForm) Complaints() []Complaint {
	var out []Complaint
	for _, x := range agentFields {
		if what := f.Errors[x.Name]; what != "" {
			out = append(out, Complaint{x.Name, x.Label, what})
		}
		for _, r := range f.Rows(x.Name) {
			for _, c := range agentColumns[x.Name] {
				if what := r.Errors[c]; what != "" {
					out = append(out, Complaint{r.id(c), fmt.Sprintf("%s %d, %s", x.Label, r.N+1, c), what})
				}
			}
		}
	}
	for _, m := range f.Others {
		out = append(out, Complaint{"", m.Path, sentence(m.Problem)})
	}
	return out
}
