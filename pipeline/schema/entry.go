package schema

// Entry says how people enter a value: what a form that is made from a schema shows besides its
// title, bounds and default. A schema says it as x-form, which everybody else may ignore; the
// OpenAPI document is without it.
type Entry struct {
	Label       string `json:"label,omitempty"` // beside the field, where it says more than the title
	Hint        string `json:"hint,omitempty"`
	Placeholder string `json:"placeholder,omitempty"` // an example, or what counts when nothing is entered
	Width       string `json:"width,omitempty"`       // short or medium; empty: all there is
	Type        string `json:"type,omitempty"`        // of HTML's input, where the value's own type does not say it
	Step        string `json:"step,omitempty"`        // between numbers that are offered
	Lines       int    `json:"rows,omitempty,string"` // of a field for long texts, or for a list that is entered line by line
	Code        bool   `json:"mono,omitempty"`        // no prose: letters of one width, no spelling
	// Heading and Lead stand above the field, which Beside puts into the line of the one before.
	Heading string `json:"heading,omitempty"`
	Lead    string `json:"lead,omitempty"`
	Beside  bool   `json:"beside,omitempty"`
	// Choices are the values of an enum or a boolean, each with its words; nil stands for none.
	Choices [][2]any `json:"choices,omitempty"`
	Add     string   `json:"add,omitempty"` // says that a list gets another entry
	// Each describes an entry of the list as which a value is entered that is no list.
	Each *Schema `json:"each,omitempty"`
	// Fields are the members of an object in their order, Sections parts of them.
	Fields   []string  `json:"fields,omitempty"`
	Sections []Section `json:"sections,omitempty"`
}

// Section is a part of a form.
type Section struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	Summary string    `json:"summary,omitempty"` // what is in it, while it is closed
	Lead    string    `json:"lead,omitempty"`
	Fields  []string  `json:"fields"`
	Members []*Schema `json:"-"` // of which Fields are the names
}

// Sections is Object with its members in sections.
func Sections(description string, sections []Section) *Schema {
	s := Object(description, map[string]*Schema{})
	for i := range sections {
		sections[i].Fields = s.add(sections[i].Members)
	}
	s.Entry = &Entry{Sections: sections}
	return s
}

// Form is Object with its members in the order in which people enter them.
func Form(description string, members []*Schema, required ...string) *Schema {
	s := Object(description, map[string]*Schema{}, required...)
	s.Entry = &Entry{Fields: s.add(members)}
	return s
}

// add gives an object further members, and returns their names.
func (s *Schema) add(members []*Schema) (names []string) {
	for _, m := range members {
		s.Properties[m.Name] = m
		names = append(names, m.Name)
	}
	return names
}

// Named says what s is called in its object, and how forms show it, and returns it.
func (s *Schema) Named(name, title string, e Entry) *Schema {
	if s.Entry != nil {
		e.Fields = s.Entry.Fields
	}
	s.Name, s.Title, s.Entry = name, title, &e
	return s
}

// Otherwise says what counts when there is no value, and returns s.
func (s *Schema) Otherwise(value any) *Schema {
	s.Default = value
	return s
}
