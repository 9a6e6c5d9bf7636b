// Package schema is the part of JSON Schema 2020-12 in which this server describes what
// people write by hand, and a check that names every mistake by its path, in a sentence
// for the writer.
//
// Schema describes a document of ours, and publishes as JSON Schema. Schema.Read checks one,
// Parse reads a schema that an account wrote, and Schema.Answer checks what a model answers
// to it. Mistakes are the errors of all three.
//
// The parameters of functions are not described here: they may be any JSON Schema, so
// pipeline/tool holds arguments to them with github.com/google/jsonschema-go. That library
// does not check documents, because its Validate stops at the first mistake, which it names
// by the path in the schema and the values of Go.
package schema

// Schema is a JSON Schema. It marshals to one, and does not change once it is in use.
type Schema struct {
	Dialect     string             `json:"$schema,omitempty"`
	ID          string             `json:"$id,omitempty"`
	Title       string             `json:"title,omitempty"`
	Description string             `json:"description,omitempty"`
	Type        string             `json:"type,omitempty"` // object, array, string, integer, number or boolean
	Enum        []string           `json:"enum,omitempty"`
	Minimum     *float64           `json:"minimum,omitempty"`
	Maximum     *float64           `json:"maximum,omitempty"`
	MinLength   int                `json:"minLength,omitempty"` // characters, as the next
	MaxLength   int                `json:"maxLength,omitempty"` // 0: any
	Pattern     string             `json:"pattern,omitempty"`
	Items       *Schema            `json:"items,omitempty"`
	MaxItems    int                `json:"maxItems,omitempty"` // 0: any
	Properties  map[string]*Schema `json:"properties,omitempty"`
	Required    []string           `json:"required,omitempty"`
	// PropertyNames and MaxProperties are for objects whose names are the writer's.
	PropertyNames *Schema `json:"propertyNames,omitempty"`
	MaxProperties int     `json:"maxProperties,omitempty"` // 0: any
	// Either are forms of which a value has one; they differ in their types, unless the value is Loose.
	Either []*Schema `json:"anyOf,omitempty"`
	// Others is what else an object may have: nil anything, false nothing, or a *Schema.
	Others   any  `json:"additionalProperties,omitempty"`
	Default  any  `json:"default,omitempty"`
	ReadOnly bool `json:"readOnly,omitempty"`
	// Entry is for forms that are made from the schema.
	Entry *Entry `json:"x-form,omitempty"`

	// Name is what the object of which it is a member calls it; empty: it has none, or Properties say it.
	Name string `json:"-"`
	// Loose is an object whose members are described here and checked by who reads them.
	Loose bool `json:"-"`
	// Form says in words what Pattern wants, such as "must be F1 to F5".
	Form string `json:"-"`
}

// Dialect is what every schema of this package is written in.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Object is an object that has nothing but the properties.
func Object(description string, properties map[string]*Schema, required ...string) *Schema {
	return &Schema{Type: "object", Description: description, Properties: properties, Required: required, Others: false}
}

// List is an array of at most most entries.
func List(description string, most int, of *Schema) *Schema {
	return &Schema{Type: "array", Description: description, MaxItems: most, Items: of}
}

// Text is a string of at most most characters; 0: any number.
func Text(description string, most int) *Schema {
	return &Schema{Type: "string", Description: description, MaxLength: most}
}

// OneOrMore is one value, or a list of at most most of them.
func OneOrMore(description string, most int, of *Schema) *Schema {
	return &Schema{Description: description, Either: []*Schema{of, List("", most, of)}}
}

// Flag is a boolean.
func Flag(description string) *Schema { return &Schema{Type: "boolean", Description: description} }

// Whole is an integer from lo to hi.
func Whole(description string, lo, hi float64) *Schema {
	return &Schema{Type: "integer", Description: description, Minimum: &lo, Maximum: &hi}
}

// Number is a number from lo to hi.
func Number(description string, lo, hi float64) *Schema {
	return &Schema{Type: "number", Description: description, Minimum: &lo, Maximum: &hi}
}

// OneOf is one of several words.
func OneOf(description string, words ...string) *Schema {
	return &Schema{Type: "string", Description: description, Enum: words}
}
