package wire

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

// Metadata are names and values that a client's program keeps with a call or a batch, such as the
// number of an order. The server does not read them.
type Metadata map[string]string

// Bounds of Metadata; of a value in characters.
const (
	MaxMetadata      = 50
	MaxMetadataValue = 500
)

var metadataName = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,40}$`)

// Check says what is wrong with the metadata; empty: nothing.
func (m Metadata) Check() string {
	if len(m) > MaxMetadata {
		return fmt.Sprintf("metadata: %d names, allowed are %d", len(m), MaxMetadata)
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		switch value := m[name]; {
		case !metadataName.MatchString(name):
			return "metadata: names are 1 to 40 letters, digits, _, . and -"
		case utf8.RuneCountInString(value) > MaxMetadataValue:
			return fmt.Sprintf("metadata.%s: %d characters, allowed are %d", name, utf8.RuneCountInString(value), MaxMetadataValue)
		case strings.ContainsRune(value, 0) || !utf8.ValidString(value):
			return fmt.Sprintf("metadata.%s: not text", name)
		}
	}
	return ""
}

// Schema implements huma.SchemaProvider.
func (Metadata) Schema(r huma.Registry) *huma.Schema {
	names, size := MaxMetadata, MaxMetadataValue
	r.Map()["Metadata"] = &huma.Schema{Type: huma.TypeObject, MaxProperties: &names, AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &size},
		Description: "Names and values of your own, such as the number of an order: 50 names of 1 to 40 letters, digits, _, . and -, and 500 characters each.",
		Examples:    []any{map[string]string{"order": "42"}}}
	return &huma.Schema{Ref: "#/components/schemas/Metadata"}
}

// MetadataChange are values that take the place of those of the same names; null takes a name away.
type MetadataChange map[string]*string

// Apply is the metadata with the change.
func (c MetadataChange) Apply(m Metadata) Metadata {
	out := Metadata{}
	maps.Copy(out, m)
	for name, value := range c {
		if delete(out, name); value != nil {
			out[name] = *value
		}
	}
	return out
}

// Schema implements huma.SchemaProvider.
func (MetadataChange) Schema(huma.Registry) *huma.Schema {
	size := MaxMetadataValue
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{Type: huma.TypeString, MaxLength: &size, Nullable: true},
		Description: "Values that take the place of those of the same names; null takes a name away, and names that are absent stay.",
		Examples:    []any{map[string]any{"order": "42", "old": nil}}}
}
