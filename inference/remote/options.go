package remote

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"parley/inference"
)

// OptionError says what is wrong with the options of an engine.
type OptionError struct {
	Engine  string
	Option  string // which one; empty: all of them
	Problem string // the rest of the sentence
}

func (e *OptionError) Error() string {
	if e.Option == "" {
		return e.Engine + ": options: " + e.Problem
	}
	return e.Engine + ": options: " + e.Option + ": " + e.Problem
}

// WrongOption is the error of a value that is not allowed.
func WrongOption(engine, option, allowed string) error {
	return &OptionError{engine, option, "allowed: " + allowed}
}

// Option describes one setting of an engine, and says where its value goes. Checks, schemas and documentation are made of it.
type Option struct {
	Name     string
	Type     string   // as JSON Schema calls it; empty: any JSON, at which the engine looks itself
	Min, Max float64  // of a number; both are allowed
	Words    []string // those that a text may be; nil: any text
	Doc      string   // for people, in a sentence
	Kept     bool     // agents cannot change what the operator has set
	to       any
}

// Number is an option from least to most.
func Number[T float64 | *float64](name string, to *T, least, most float64, doc string) Option {
	return Option{Name: name, Type: "number", Min: least, Max: most, Doc: doc, to: to}
}

// Whole is a whole number from least to most.
func Whole[T int | *int](name string, to *T, least, most int, doc string) Option {
	return Option{Name: name, Type: "integer", Min: float64(least), Max: float64(most), Doc: doc, to: to}
}

// Flag is true or false.
func Flag[T bool | *bool](name string, to *T, doc string) Option {
	return Option{Name: name, Type: "boolean", Doc: doc, to: to}
}

// Text is a text, one of words where there are any.
func Text(name string, to *string, doc string, words ...string) Option {
	return Option{Name: name, Type: "string", Words: words, Doc: doc, to: to}
}

// Any is any JSON, at which the engine looks itself.
func Any(name string, to *json.RawMessage, doc string) Option {
	return Option{Name: name, Doc: doc, to: to}
}

// Keep is o, of which agents cannot change what the operator has set.
func (o Option) Keep() Option {
	o.Kept = true
	o.Doc += " An agent cannot change what the operator has set."
	return o
}

// Allowed says in words which values there are; empty: Doc does.
func (o *Option) Allowed() string {
	last := len(o.Words) - 1
	switch {
	case last > 0:
		return strings.Join(o.Words[:last], ", ") + " or " + o.Words[last]
	case last == 0:
		return o.Words[0]
	}
	return map[string]string{"number": fmt.Sprintf("%v to %v", o.Min, o.Max), "integer": fmt.Sprintf("%.0f to %.0f, whole", o.Min, o.Max),
		"boolean": "true or false", "string": "a text"}[o.Type]
}

// read takes a value; false: it is not allowed.
func (o *Option) read(value json.RawMessage) bool {
	switch o.Type {
	case "number", "integer":
		var f float64
		if json.Unmarshal(value, &f) != nil || f < o.Min || f > o.Max {
			return false
		}
	case "string":
		var text string
		if json.Unmarshal(value, &text) != nil || o.Words != nil && !slices.Contains(o.Words, text) {
			return false
		}
	}
	return (o.Type == "" || string(value) != "null") && json.Unmarshal(value, o.to) == nil
}

// Options are all that an engine has.
type Options []Option

// Read reads what was given to an engine of that name. Options that were not given stay as they are. Its errors are an
// *OptionError: one that does not exist, or the first, by name, whose value is not allowed.
func (all Options) Read(engine string, given inference.Options) error {
	if len(given) == 0 {
		return nil
	}
	var values map[string]json.RawMessage
	if json.Unmarshal(given, &values) != nil {
		return &OptionError{Engine: engine, Problem: "must be an object"}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		i := slices.IndexFunc(all, func(o Option) bool { return o.Name == name })
		if i < 0 {
			return &OptionError{engine, name, "is not known"}
		}
		if !all[i].read(values[name]) {
			return WrongOption(engine, name, all[i].Allowed())
		}
	}
	return nil
}

// Sampling is the options that the models of all vendors have. Zero values leave them to the vendor.
type Sampling struct {
	Temperature *float64 // a request's own counts more
	TopP        *float64
	MaxTokens   int // a request's own counts more
}

// maxTokens is the longest reply that options may ask for: half an hour of speech.
const maxTokens = 8192

// All describes them; hottest is the vendor's highest temperature.
func (s *Sampling) All(hottest float64) Options {
	return Options{
		Number("temperature", &s.Temperature, 0, hottest, "How freely words are chosen."),
		Number("top_p", &s.TopP, 0, 1, "The likeliest words are chosen among, up to this probability together."),
		Whole("max_tokens", &s.MaxTokens, 1, maxTokens, "Of a reply at most."),
	}
}

// Of is s with what a request says itself.
func (s Sampling) Of(r inference.Request) Sampling {
	if r.Temperature != nil {
		s.Temperature = r.Temperature
	}
	if r.MaxTokens > 0 {
		s.MaxTokens = r.MaxTokens
	}
	return s
}

// Time is n units of a vendor's, which may be any number: below 0 it is 0, and it is 24 days at most.
func Time(n float64, unit time.Duration) time.Duration {
	const most = math.MaxInt32 * time.Millisecond
	return time.Duration(min(float64(most), max(0, n)*float64(unit)))
}
