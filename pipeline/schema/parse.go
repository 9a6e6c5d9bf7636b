package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Bounds of a schema that somebody wrote.
const (
	MaxWritten     = 16 << 10 // bytes
	maxDepth       = 6
	maxMembers     = 50
	maxMember      = 64   // characters of a name
	maxExplanation = 1000 // characters
	maxEnum        = 200
	maxLimit       = 100_000
)

// meta describes what may be written. It contains itself, so it is never published.
var meta = func() *Schema {
	s := &Schema{}
	name := &Schema{Type: "string", MinLength: 1, MaxLength: maxMember, Pattern: `^[^\x00-\x1f\x7f]*$`, Form: "must be one line"}
	*s = *Object("", map[string]*Schema{
		"type":  OneOf("", "object", "array", "string", "integer", "number", "boolean"),
		"title": Text("", maxExplanation), "description": Text("", maxExplanation),
		"enum":    List("", maxEnum, &Schema{Type: "string", MinLength: 1, MaxLength: maxExplanation}),
		"minimum": {Type: "number"}, "maximum": {Type: "number"},
		"minLength": Whole("", 0, maxLimit), "maxLength": Whole("", 1, maxLimit), "maxItems": Whole("", 1, maxLimit),
		"items":      s,
		"properties": {Type: "object", MaxProperties: maxMembers, PropertyNames: name, Others: s},
		"required":   List("", maxMembers, name), "additionalProperties": Flag(""),
	}, "type")
	return s
}()

// Parse reads a JSON Schema that somebody wrote; path names the whole of it. It takes the
// keywords type, title, description, enum (of texts), minimum, maximum, minLength,
// maxLength, maxItems, items, properties, required and additionalProperties (true or
// false), a type on every level, and refuses all others, so that nothing is asked for which
// nobody checks. The outermost type is object, with properties. The schema is nil when
// there are mistakes.
func Parse(path string, text []byte) (*Schema, Mistakes) {
	if len(text) > MaxWritten {
		return nil, Mistakes{{path, fmt.Sprintf("%d bytes, allowed are %d", len(text), MaxWritten)}}
	}
	wrong := meta.Read(path, text)
	if len(wrong) > 0 {
		return nil, wrong
	}
	s := &Schema{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, Mistakes{{path, err.Error()}}
	}
	s.contradictions(path, 1, &wrong)
	if s.Type != "object" || len(s.Properties) == 0 {
		wrong.Add(path, "must be of type object, with properties")
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return s, nil
}

// contradictions finds what no value can obey, and what is too deep.
func (s *Schema) contradictions(path string, depth int, wrong *Mistakes) {
	switch {
	case depth > maxDepth:
		wrong.Add(path, "more than %d levels", maxDepth)
		return
	case len(s.Enum) > 0 && s.Type != "string":
		wrong.Add(Join(path, "enum"), "is for type string")
	case s.Minimum != nil && s.Maximum != nil && *s.Minimum > *s.Maximum:
		wrong.Add(Join(path, "minimum"), "is above maximum")
	case s.MaxLength > 0 && s.MinLength > s.MaxLength:
		wrong.Add(Join(path, "minLength"), "is above maxLength")
	}
	if s.Items != nil {
		s.Items.contradictions(Join(path, "items"), depth+1, wrong)
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		s.Properties[name].contradictions(Join(Join(path, "properties"), name), depth+1, wrong)
	}
	for i, name := range s.Required {
		if _, there := s.Properties[name]; !there {
			wrong.Add(fmt.Sprintf("%s[%d]", Join(path, "required"), i), "%s is none of the properties", Quote(name))
		}
	}
}
