package editor

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"parley/api/dashboard/page"
	"parley/api/status"
)

// shape is the JSON Schema of a value, as far as it says how people enter it: its x-form is
// what pipeline/schema calls Entry.
type shape struct {
	Title, Type      string
	Enum, Required   []string
	Default          any
	Minimum, Maximum *float64
	MaxItems         int
	Items            *shape
	Properties       map[string]*shape
	AnyOf            []*shape // one value, or a list of them; of engines a name, an object, or a list of both
	Others           any      `json:"additionalProperties"`
	Form             struct {
		page.Field
		Heading, Lead, Add string
		Beside             bool
		Choices            [][2]any // values and their words
		Each               *shape
		Fields             []string
		Sections           []agentSection
	} `json:"x-form"`
}

// box says whether the value is entered by ticking.
func (s *shape) box() bool { return s.Type == "boolean" && len(s.Form.Choices) == 0 }

// chosen says whether the value is one of several.
func (s *shape) chosen() bool { return len(s.Form.Choices) > 0 || len(s.Enum) > 0 }

// one is the shape of a value that may be written as a list, which has one entry at most: it is entered alone.
func (s *shape) one() *shape {
	if len(s.AnyOf) == 0 || !slices.ContainsFunc(s.AnyOf, func(of *shape) bool { return of.MaxItems == 1 }) {
		return s
	}
	alone := *s.AnyOf[0]
	alone.Title, alone.Form = s.Title, s.Form
	return &alone
}

// free says whether the value is an object with whatever members, which is written as a document.
func (s *shape) free() bool { return s.Type == "object" && s.Properties == nil && s.Others == nil }

// number says whether the value is one.
func (s *shape) number() bool { return s.Type == "integer" || s.Type == "number" }

// each is the shape of the entries, where the value is entered as several; else nil.
func (s *shape) each() *shape {
	switch {
	case s.Form.Each != nil:
		return s.Form.Each
	case s.AnyOf != nil:
		return s.AnyOf[1] // an engine with more than its name
	case s.Type == "array" && s.Items.Type == "object" && s.Form.Rows == "":
		return s.Items
	}
	return nil
}

// agentSection is a part of the form. All but those that the template names stay closed while
// nothing is in them.
type agentSection struct {
	ID, Title, Summary, Lead string
	Fields                   []string
	fields                   []*agentField

	Open   bool        // as it is shown
	Groups [][]control // of its fields
}

// agentField is a field of the form: a setting, or another member of the document.
type agentField struct {
	*shape
	Name    string        // on the page
	path    string        // in the document: "name", "settings.engines.llm"
	entry   *shape        // of a list; nil: it is none
	offered []string      // the engines of the server that may be chosen, in its order
	ticks   []page.Option // values that are ticked, see offerCollections; nil: they are entered
	agents  []page.Option // that entries may name, see offerAgents; nil: they name none
}

// agentFields are all of them, in the order of the form.
type agentFields struct {
	sections []agentSection
	all      []*agentField
}

// newAgentFields makes the form's fields of the schema of agents. What is not in it is what has a
// hand-made place in the template: the texts, the voice and the functions.
func newAgentFields(q *page.Request) (*agentFields, error) {
	schema, err := page.Read[shape](q, "/v1/agents/schema")
	if err != nil {
		return nil, err
	}
	f := &agentFields{}
	for _, m := range [][2]string{{"name", "Name"}, {"first_message", "First message"}, {"prompt", "Prompt"}, {"voice", "Voice"}, {"language", "Language"}} {
		f.all = append(f.all, &agentField{shape: &shape{Title: m[1]}, Name: m[0], path: m[0]})
	}
	settings := schema.Properties["settings"]
	for _, s := range settings.Form.Sections {
		if s.ID == "phone" {
			f.add(agentSection{ID: "does", Title: "Tools", Summary: "Functions: services of yours, web search, a customer database",
				fields: []*agentField{{shape: schema.Properties["tools"], Name: "tools", path: "tools"}}})
		}
		f.add(s.resolved(settings, "settings."))
	}
	for _, x := range f.all {
		x.serve(q)
	}
	return f, errors.Join(f.offerCollections(q), f.offerAgents(q), f.offerSounds(q))
}

// resolved has a section get its fields out of the object that is at prefix of the document. An
// object among them that has members of its own is those.
func (s agentSection) resolved(of *shape, prefix string) agentSection {
	for _, name := range s.Fields {
		x := &agentField{shape: of.Properties[name].one(), path: prefix + name}
		if inner := x.Form.Fields; len(inner) > 0 {
			s.fields = append(s.fields, agentSection{Fields: inner}.resolved(x.shape, x.path+".").fields...)
			continue
		}
		x.Name, x.entry = strings.ReplaceAll(strings.TrimPrefix(x.path, "settings."), ".", "_"), x.each()
		s.fields = append(s.fields, x)
	}
	return s
}

func (f *agentFields) add(s agentSection) {
	f.sections, f.all = append(f.sections, s), append(f.all, s.fields...)
}

// serve adds what only the server knows: which engines it has, and whether it begins answers
// early when nobody says.
func (x *agentField) serve(q *page.Request) {
	if x.path == "settings.speculative_llm" {
		x.Form.Choices[0][1] = map[bool]string{true: "As usual (yes)", false: "As usual (no)"}[q.Card().SpeculativeReplies()]
	}
	kind := map[string]status.Kind{"settings.engines.asr": status.STT, "settings.engines.llm": status.LLM, "settings.engines.tts": status.TTS,
		"settings.engines.realtime": status.Realtime}[x.path]
	for _, e := range q.Status.Models().Models {
		if kind != "" && e.Kind == kind {
			x.offered = append(x.offered, e.Name)
		}
	}
}

// at finds the field of a document's path, and what of the path lies within it; nil: there is none.
func (f *agentFields) at(path string) (found *agentField, within string) {
	for _, x := range f.all {
		rest, ok := strings.CutPrefix(path, x.path)
		if ok && (rest == "" || strings.ContainsAny(rest[:1], ".[")) {
			found, within = x, rest
		}
	}
	return found, within
}

// options are the choices; the one that counts anyway has no value.
func (s *shape) options() (out []page.Option) {
	for _, c := range s.Form.Choices {
		out = append(out, page.Option{Value: s.code(c[0]), Label: fmt.Sprint(c[1])})
	}
	for _, word := range s.Enum {
		if !slices.ContainsFunc(out, func(o page.Option) bool { return o.Value == s.code(word) }) {
			out = append(out, page.Option{Value: s.code(word), Label: word})
		}
	}
	return out
}

// code is one of the choices as it is sent; empty: it counts anyway.
func (s *shape) code(v any) string {
	switch v {
	case nil, s.Default:
		return ""
	case true:
		return "on"
	case false:
		return "off"
	}
	return fmt.Sprint(v)
}

// control is a field as the template shows it.
type control struct {
	page.Field
	Of  *shape
	How string // the template for it
	// Entries are those of a list, Blank one that scripts make more of, Offered the engines
	// that may be among them.
	Entries []Row
	Blank   Row
	Offered []string
	Choices []choice // that may be ticked
}

// control makes an input of the value. One that is needed, or chosen, is not said to be optional.
func (s *shape) control(id, name, value, problem string, needed bool) control {
	x := control{Field: s.Form.Field, Of: s, How: "field"}
	x.ID, x.Name, x.Value, x.Error, x.Checked = id, name, value, problem, value != ""
	x.Label, x.Type, x.Inputmode = cmp.Or(x.Label, s.Title, name), cmp.Or(x.Type, "text"), x.Type
	if needed || s.chosen() {
		x.Need = page.Plain
	}
	switch {
	case s.number():
		x.Type, x.Width = "number", "short"
		if s.Minimum != nil && s.Maximum != nil {
			x.Min, x.Max = fmt.Sprint(*s.Minimum), fmt.Sprint(*s.Maximum)
		}
		if s.Default != nil && x.Placeholder == "" {
			x.Placeholder = fmt.Sprint(s.Default)
		}
	case s.chosen():
		x.How = "select"
		x.Choose(withDeleted(s.options(), value))
	case s.box():
		x.How = "check"
	case x.Field.Rows != "", s.Type == "array", s.Type == "object":
		x.How = "area"
	}
	return x
}

// Stage is what engines are for, in a word.
func (c control) Stage() string {
	word, _, _ := strings.Cut(c.Label, ":")
	return word
}

// beside puts controls that stand beside each other together.
func beside(all []control) (groups [][]control) {
	for _, c := range all {
		if n := len(groups) - 1; n >= 0 && c.Of.Form.Beside {
			groups[n] = append(groups[n], c)
		} else {
			groups = append(groups, []control{c})
		}
	}
	return groups
}

// Sections are those of the form, as the template shows them.
func (f *agentForm) Sections() []agentSection {
	out := slices.Clone(f.fields.sections)
	for i := range out {
		s := &out[i]
		var all []control
		for _, x := range s.fields {
			c := x.control(x.Name, x.Name, f.Values.Get(x.Name), f.Errors[x.Name], false)
			if f.listed(x) {
				c.How, c.Offered, c.Entries, c.Blank = "list", x.offered, f.shownRows(x), x.shown(row{n: -1}, nil)
				if x.AnyOf != nil {
					c.How = "engines"
				}
			}
			if x.ticks != nil {
				c.How, c.Choices = "choices", f.choices(x)
			}
			all = append(all, c)
			s.Open = s.Open || f.filled(x)
		}
		s.Groups = beside(all)
	}
	return out
}

// filled says whether there is something in a field, or something wrong.
func (f *agentForm) filled(x *agentField) bool {
	switch text := f.Value(x.Name); {
	case len(f.wrong(x)) > 0, f.Value("more") == x.Name:
		return true
	case x.ticks != nil:
		return len(f.ticked(x)) > 0
	case x.box():
		return (text != "") != (x.Default == true)
	default:
		return text != "" || f.listed(x) && len(f.written(x)) > 0
	}
}
