package docs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// maxDepth bounds how deep objects in objects are shown; schemas may refer to
// themselves.
const maxDepth = 4

// field is one value of a request or an answer.
type field struct {
	Name, Type  string
	Place       string // of a parameter: query, path, header
	Required    bool
	Bounds      string
	Description string
	Example     string
}

// schemas reads the document's schemas.
type schemas struct{ registry huma.Registry }

// resolve follows a reference.
func (s schemas) resolve(schema *huma.Schema) *huma.Schema {
	for range maxDepth {
		if schema == nil || schema.Ref == "" {
			break
		}
		schema = s.registry.SchemaFromRef(schema.Ref)
	}
	if schema == nil {
		return &huma.Schema{}
	}
	return schema
}

func (s schemas) bodies(content map[string]*huma.MediaType) (all []body) {
	for _, t := range slices.Sorted(maps.Keys(content)) {
		all = append(all, body{t, s.fields("", content[t].Schema, 0)})
	}
	return all
}

// fields are the values in an object or in the objects of a list, each under its
// whole name.
func (s schemas) fields(prefix string, schema *huma.Schema, depth int) (all []field) {
	schema = s.resolve(schema)
	if schema.Type == huma.TypeArray {
		return s.fields(prefix+"[]", schema.Items, depth)
	}
	if depth >= maxDepth {
		return nil
	}
	if prefix != "" && !strings.HasSuffix(prefix, ".") {
		prefix += "."
	}
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		if name == "$schema" {
			continue
		}
		inner := schema.Properties[name]
		all = append(all, s.field(prefix+name, inner, slices.Contains(schema.Required, name)))
		all = append(all, s.fields(prefix+name, inner, depth+1)...)
	}
	// What must be there comes first; with an object come its parts.
	if depth == 0 {
		all = requiredFirst(all)
	}
	return all
}

func requiredFirst(all []field) []field {
	var must, may []field
	to := &may
	for _, f := range all {
		if !strings.ContainsAny(strings.TrimPrefix(f.Name, "[]."), ".[") {
			to = &may
			if f.Required {
				to = &must
			}
		}
		*to = append(*to, f)
	}
	return append(must, may...)
}

func (s schemas) field(name string, schema *huma.Schema, required bool) field {
	f := field{Name: name, Required: required}
	if schema != nil {
		f.Description = schema.Description
	}
	schema = s.resolve(schema)
	if f.Description == "" {
		f.Description = schema.Description
	}
	f.Type = s.typeName(schema)
	f.Bounds = bounds(schema)
	if len(schema.Examples) > 0 {
		f.Example = text(schema.Examples[0])
	}
	return f
}

func (s schemas) typeName(schema *huma.Schema) string {
	name := schema.Type
	switch {
	case schema.Type == huma.TypeArray:
		name = "list of " + s.typeName(s.resolve(schema.Items))
	case schema.Format == "binary":
		name = "bytes"
	case schema.ContentEncoding == "base64":
		name = "base64"
	case schema.Format == "date-time":
		name = "time"
	case name == "":
		name = "any"
	}
	if schema.Nullable {
		name += " or null"
	}
	return name
}

// bounds says in words what values are allowed.
func bounds(s *huma.Schema) string {
	var all []string
	if len(s.Enum) > 0 {
		var values []string
		for _, v := range s.Enum {
			values = append(values, text(v))
		}
		all = append(all, "one of "+strings.Join(values, ", "))
	}
	all = append(all, interval(s.Minimum, s.Maximum, ""))
	all = append(all, interval(count(s.MinLength), count(s.MaxLength), "characters"))
	all = append(all, interval(count(s.MinItems), count(s.MaxItems), "entries"))
	if s.Pattern != "" && s.PatternDescription != "" {
		all = append(all, s.PatternDescription)
	}
	if s.Default != nil {
		all = append(all, "default "+text(s.Default))
	}
	return strings.Join(slices.DeleteFunc(all, func(t string) bool { return t == "" }), "; ")
}

func count(n *int) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n)
	return &f
}

func interval(least, most *float64, unit string) string {
	var said string
	switch {
	case least != nil && most != nil:
		said = number(*least) + " to " + number(*most)
	case least != nil:
		said = "at least " + number(*least)
	case most != nil:
		said = "at most " + number(*most)
	default:
		return ""
	}
	return strings.TrimSpace(said + " " + unit)
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// text is a value as a reader would type it.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
