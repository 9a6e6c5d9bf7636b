package acceptance

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"
)

// maxDepth bounds how deep drawn values nest.
const maxDepth = 4

// draw draws a JSON value that fits a schema, or once in a while one that does not.
func draw(t *rapid.T, ref *openapi3.SchemaRef, depth int) any {
	if ref == nil || ref.Value == nil || depth > maxDepth || rapid.IntRange(0, 14).Draw(t, "misfit") == 0 {
		return anything(t)
	}
	s := ref.Value
	if len(s.Enum) > 0 {
		return rapid.SampledFrom(s.Enum).Draw(t, "enum")
	}
	for _, list := range []openapi3.SchemaRefs{s.OneOf, s.AnyOf, s.AllOf} {
		if len(list) > 0 {
			return draw(t, rapid.SampledFrom(list).Draw(t, "of"), depth+1)
		}
	}
	switch {
	case s.Type.Includes("object"):
		return object(t, s, depth)
	case s.Type.Includes("array"):
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "items"))
		for i := range list {
			list[i] = draw(t, s.Items, depth+1)
		}
		return list
	case s.Type.Includes("integer"), s.Type.Includes("number"):
		return number(t, s)
	case s.Type.Includes("boolean"):
		return rapid.Bool().Draw(t, "boolean")
	case s.Type.Includes("string"):
		if len(s.Examples) > 0 && rapid.Bool().Draw(t, "the example") {
			return s.Examples[0]
		}
		long := 60
		if s.MaxLength != nil && rapid.IntRange(0, 49).Draw(t, "too long") == 0 {
			long = int(min(*s.MaxLength, 6000)) + 1
			return strings.Repeat("a", long)
		}
		return text(t, long)
	}
	return anything(t)
}

func object(t *rapid.T, s *openapi3.Schema, depth int) any {
	m := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		keep := slices.Contains(s.Required, name) && rapid.IntRange(0, 19).Draw(t, "forgotten") > 0
		if keep || rapid.Bool().Draw(t, "with "+name) {
			m[name] = draw(t, s.Properties[name], depth+1)
		}
	}
	if rapid.IntRange(0, 9).Draw(t, "more") == 0 {
		m[text(t, 10)] = anything(t)
	}
	return m
}

func number(t *rapid.T, s *openapi3.Schema) any {
	low, high := -1e6, 1e6
	if s.Min != nil {
		low = *s.Min
	}
	if s.Max != nil {
		high = *s.Max
	}
	v := rapid.OneOf(rapid.Float64Range(low, high), rapid.SampledFrom([]float64{low, high, low - 1, high + 1, 0, 1e300, math.MaxInt64})).Draw(t, "number")
	if s.Type.Includes("integer") && rapid.IntRange(0, 9).Draw(t, "fraction") > 0 {
		v = math.Trunc(v)
	}
	return v
}

// text draws up to n characters of what people type, or of what nobody types.
func text(t *rapid.T, n int) string {
	words := rapid.SampledFrom([]string{"Hello, how are you?", "F1", "en", "es", "wav", "Buenos días.", "1", "16000", "true", "a"})
	odd := rapid.StringOfN(rapid.OneOf(rapid.RuneFrom([]rune("\x00\x01\x1b\n\r\t\u200b\u202e\ufffd\U0001f600e\u0301<>&\"'%;/..")),
		rapid.RuneFrom(nil, unicode.L, unicode.N, unicode.P, unicode.Cf)), 0, n, -1)
	return rapid.OneOf(words, words, odd).Draw(t, "text")
}

func anything(t *rapid.T) any {
	return rapid.OneOf(rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](-7.5), rapid.Just[any](""), rapid.Just[any]([]any{1, "a"}),
		rapid.Just[any](map[string]any{"a": nil}), rapid.Just[any](strings.Repeat("[", 50))).Draw(t, "anything")
}

// inText is a drawn value as it stands in a path, a query or a header.
func inText(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}

// orSomething keeps a path's segment from vanishing, which would be another path.
func orSomething(s string) string {
	if s == "" || s == "." || s == ".." {
		return "x"
	}
	return s
}

func isPrintable(s string) bool {
	for _, r := range s {
		if r > unicode.MaxASCII || !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
