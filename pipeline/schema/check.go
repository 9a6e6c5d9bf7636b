package schema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

// Mistake is one thing that is wrong.
type Mistake struct {
	Path    string // of the field, such as settings.transfer_to[0].number
	Problem string // the rest of the sentence: what is there, and what is allowed
}

func (m Mistake) Error() string { return m.Path + ": " + m.Problem }

// Mistakes are all that is wrong with a document, in the order of their paths. Nil
// is none; it is an error when there are some.
type Mistakes []Mistake

// maxTold bounds how many mistakes one text lists.
const maxTold = 20

// Error lists the mistakes, 20 at most.
func (m Mistakes) Error() string {
	told := make([]string, 0, maxTold+1)
	for i, one := range m {
		if i == maxTold {
			told = append(told, fmt.Sprintf("and %d more", len(m)-maxTold))
			break
		}
		told = append(told, one.Error())
	}
	return strings.Join(told, "; ")
}

// Err is m as an error; nil when nothing is wrong.
func (m Mistakes) Err() error {
	if len(m) == 0 {
		return nil
	}
	return m
}

// Add notes a mistake.
func (m *Mistakes) Add(path, format string, args ...any) {
	*m = append(*m, Mistake{path, fmt.Sprintf(format, args...)})
}

// Within says whether one of them is in the field at path, or is the field itself.
func (m Mistakes) Within(path string) bool {
	return slices.ContainsFunc(m, func(one Mistake) bool {
		rest, in := strings.CutPrefix(one.Path, path)
		return in && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// Read parses a JSON text and checks it; path names the whole of it. What is no JSON is
// one mistake.
func (s *Schema) Read(path string, text []byte) Mistakes {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return Mistakes{{path, "is no JSON: " + strings.TrimPrefix(err.Error(), "json: ")}}
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Mistakes{{path, "more than one JSON value"}}
	}
	var m Mistakes
	s.check(path, value, &m)
	return m
}

func (s *Schema) check(path string, value any, m *Mistakes) {
	if len(s.Either) > 0 && !s.Loose {
		s.either(path, value, m)
		return
	}
	if what, ok := s.typed(value); !ok {
		m.Add(path, "%s, must be %s", what, articles[s.Type])
		return
	}
	switch v := value.(type) {
	case string:
		s.text(path, v, m)
	case json.Number:
		s.number(path, v, m)
	case []any:
		if s.MaxItems > 0 && len(v) > s.MaxItems {
			m.Add(path, "%d entries, allowed are %d", len(v), s.MaxItems)
		}
		for i, one := range v {
			if s.Items != nil {
				s.Items.check(fmt.Sprintf("%s[%d]", path, i), one, m)
			}
		}
	case map[string]any:
		s.object(path, v, m)
	}
}

// either checks a value by the form that has its type.
func (s *Schema) either(path string, value any, m *Mistakes) {
	var what string
	var types []string
	for _, form := range s.Either {
		is, ok := form.typed(value)
		if ok {
			form.check(path, value, m)
			return
		}
		what, types = is, append(types, articles[form.Type])
	}
	m.Add(path, "%s, must be %s", what, strings.Join(types, " or "))
}

// articles are the types as a sentence has them.
var articles = map[string]string{"object": "an object", "array": "a list", "string": "a text", "integer": "a whole number",
	"number": "a number", "boolean": "true or false"}

// typed says whether the value is of the schema's type, else what it is.
func (s *Schema) typed(value any) (what string, ok bool) {
	var is string
	switch v := value.(type) {
	case nil:
		return "null", s.Type == ""
	case bool:
		is, what = "boolean", fmt.Sprint(v)
	case string:
		is = "string"
	case []any:
		is = "array"
	case map[string]any:
		is = "object"
	case json.Number:
		is, what = "number", v.String()
		if _, err := v.Int64(); err == nil && s.Type == "integer" {
			is = "integer"
		}
	}
	return cmp.Or(what, articles[is]), s.Type == "" || s.Type == is
}

func (s *Schema) text(path, text string, m *Mistakes) {
	length := utf8.RuneCountInString(text)
	switch {
	case length < s.MinLength && length == 0:
		m.Add(path, "is empty")
	case length < s.MinLength:
		m.Add(path, "%d characters, needed are %d", length, s.MinLength)
	case s.MaxLength > 0 && length > s.MaxLength:
		m.Add(path, "%d characters, allowed are %d", length, s.MaxLength)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		m.Add(path, "%s, allowed are %s", Quote(text), And(s.Enum))
	case s.Pattern != "" && !pattern(s.Pattern).MatchString(text):
		m.Add(path, "%s, %s", Quote(text), s.Form)
	}
}

func (s *Schema) number(path string, n json.Number, m *Mistakes) {
	f, err := n.Float64()
	low, high := s.Minimum != nil && f < *s.Minimum, s.Maximum != nil && f > *s.Maximum
	switch {
	case err == nil && !low && !high:
	case s.Minimum != nil && s.Maximum != nil:
		m.Add(path, "%s, allowed are %v to %v", n, *s.Minimum, *s.Maximum)
	case low:
		m.Add(path, "%s, must be %v or more", n, *s.Minimum)
	case high:
		m.Add(path, "%s, must be %v or less", n, *s.Maximum)
	default:
		m.Add(path, "%s, is not a number that can be kept", clip(n.String()))
	}
}

func (s *Schema) object(path string, object map[string]any, m *Mistakes) {
	if s.Loose {
		return
	}
	if s.MaxProperties > 0 && len(object) > s.MaxProperties {
		m.Add(path, "%d entries, allowed are %d", len(object), s.MaxProperties)
	}
	for _, name := range s.Required {
		if _, there := object[name]; !there {
			m.Add(Join(path, name), "is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		at := Join(path, clip(name))
		if s.PropertyNames != nil {
			before := len(*m)
			s.PropertyNames.text(at, name, m)
			if len(*m) > before {
				continue
			}
		}
		one, known := s.Properties[name]
		others, _ := s.Others.(*Schema)
		switch {
		case known:
			one.check(at, object[name], m)
		case others != nil:
			others.check(at, object[name], m)
		case s.Others == false:
			m.Add(at, "is not known")
		}
	}
}

// Join is the path of a member of what is at path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// maxShown bounds what a mistake repeats of a text, in bytes.
const maxShown = 60

func clip(text string) string {
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "…"
	}
	return text
}

// Quote is a text as a mistake shows it, clipped.
func Quote(text string) string { return strconv.Quote(clip(text)) }

// And lists words in a sentence.
func And(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1]
}

var patterns sync.Map // of string, to *regexp.Regexp

// pattern is a compiled pattern of ours.
func pattern(p string) *regexp.Regexp {
	if r, ok := patterns.Load(p); ok {
		return r.(*regexp.Regexp)
	}
	r := regexp.MustCompile(p)
	patterns.Store(p, r)
	return r
}
