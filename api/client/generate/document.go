package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is what the clients need of an OpenAPI 3.1 document.
type document struct {
	Paths      map[string]map[string]operation
	Components struct {
		Parameters map[string]parameter
		Schemas    map[string]*schema
	}
}

type operation struct {
	ID          string `yaml:"operationId"`
	Summary     string
	Description string
	Tags        []string
	Parameters  []parameter
	Body        *struct {
		Content map[string]media
	} `yaml:"requestBody"`
	Responses map[string]struct {
		Content map[string]media
	}
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name        string
	In          string // path, query or header
	Required    bool
	Description string
	Schema      *schema
}

type media struct {
	Schema *schema
}

// schema is a type. One without anything is any value.
type schema struct {
	Ref         string `yaml:"$ref"`
	Type        kinds
	Description string
	Enum        []any
	Properties  map[string]*schema
	Required    []string
	Items       *schema
	AnyOf       []*schema `yaml:"anyOf"`
	Others      others    `yaml:"additionalProperties"`
	Media       string    `yaml:"contentMediaType"`
}

// kinds are the names of JSON's types that a value may have.
type kinds []string

func (k *kinds) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*k = kinds{n.Value}
		return nil
	}
	return n.Decode((*[]string)(k))
}

// others say which properties an object has besides those that are named: nil: none that matter.
type others struct{ *schema }

func (o *others) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		if n.Value == "true" {
			o.schema = &schema{}
		}
		return nil
	}
	o.schema = &schema{}
	return n.Decode(o.schema)
}

// binary says whether a value is bytes and not JSON.
func (s *schema) binary() bool { return s.Media != "" && slices.Contains(s.Type, "string") }

// answer is how the body of a good answer is read.
type answer int

const (
	answerNone answer = iota
	answerJSON
	answerEvents // Server-Sent Events
	answerRaw    // any other media type: the caller reads it
)

// call is an operation as a method.
type call struct {
	operation
	verb, path     string
	parts          []parameter // of the path, in its order
	query          []parameter
	ifMatch, again bool // whether If-Match, or Idempotency-Key, means something
	body           []*schema
	media          string // of the body; "": JSON, or a form where it holds bytes
	answer         answer
	result         []*schema
	entry          *schema // of its pages; nil: it has none
}

// session says whether an operation is no request with an answer: sessions have clients of their own.
func session(path string, o *operation) bool {
	return path == "/ws" || strings.HasPrefix(path, "/ws/") || strings.HasPrefix(path, "/webrtc/") || path == "/mcp" ||
		strings.HasPrefix(o.ID, "get-openapi") || o.ID == "get-asyncapi"
}

// calls lists the methods of a client, by topic.
func (d *document) calls() ([]call, error) {
	var all []call
	for path, verbs := range d.Paths {
		for verb, o := range verbs {
			if session(path, &o) {
				continue
			}
			c, err := d.call(verb, path, o)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", o.ID, err)
			}
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b call) int {
		return cmp.Or(cmp.Compare(a.Tags[0], b.Tags[0]), cmp.Compare(a.path, b.path), cmp.Compare(a.verb, b.verb))
	})
	return all, nil
}

func (d *document) call(verb, path string, o operation) (call, error) {
	c := call{operation: o, verb: strings.ToUpper(verb), path: path}
	named := map[string]parameter{}
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
		}
		switch {
		case p.In == "path":
			named[p.Name] = p
		case p.In == "query":
			c.query = append(c.query, p)
		case p.Name == "If-Match":
			c.ifMatch = true
		case p.Name == "Idempotency-Key":
			c.again = true
		}
	}
	for _, part := range strings.Split(path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			p, ok := named[strings.TrimSuffix(name, "}")]
			if !ok {
				return c, fmt.Errorf("the path's %s is not described", part)
			}
			c.parts = append(c.parts, p)
		}
	}
	c.takes()
	c.gives()
	if c.answer == answerJSON && slices.ContainsFunc(c.query, func(p parameter) bool { return p.Name == "cursor" }) {
		page := d.resolve(c.result[0])
		if data := page.Properties["data"]; data != nil {
			c.entry = data.Items
		}
	}
	return c, nil
}

// takes sets what the body is: of several media types a form and JSON, or else the only one.
func (c *call) takes() {
	if c.Body == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(c.Body.Content)) {
		switch s := c.Body.Content[name].Schema; name {
		case "application/json", "multipart/form-data":
			c.body = append(c.body, s)
		case "application/octet-stream": // JSON without its name
		case "audio/*": // what a form may hold as well
		default:
			c.body, c.media = append(c.body, s), name
		}
	}
}

func (c *call) gives() {
	for _, status := range slices.Sorted(maps.Keys(c.Responses)) {
		if status[0] != '2' {
			continue
		}
		for name, m := range c.Responses[status].Content {
			switch name {
			case "text/event-stream":
				c.answer = answerEvents
			case "application/json":
				c.answer = max(c.answer, answerJSON)
				if !slices.ContainsFunc(c.result, func(s *schema) bool { return s.Ref != "" && s.Ref == m.Schema.Ref }) {
					c.result = append(c.result, m.Schema)
				}
			default:
				c.answer = answerRaw
			}
		}
	}
}

func (d *document) resolve(s *schema) *schema {
	for s.Ref != "" {
		s = d.Components.Schemas[schemaName(s.Ref)]
	}
	return s
}

func schemaName(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// words are the words of a name such as list-agents or user_id, in lower case.
func words(name string) []string {
	return strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == ' ' })
}

// pascal is a name as types have it: Put-engine-keyRequest is PutEngineKeyRequest.
func pascal(name string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// camel is a name as TypeScript's methods have it.
func camel(name string) string {
	p := pascal(strings.Join(words(name), "-"))
	return strings.ToLower(p[:1]) + p[1:]
}

// snake is a name as Python's methods have it.
func snake(name string) string { return strings.Join(words(name), "_") }

// values are the values that a type with an enumeration has, as both languages write them; null says how they write null.
func (s *schema) values(null string) []string {
	var all []string
	for _, v := range s.Enum {
		if v == nil {
			continue
		}
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // it is a scalar of a document that was read
		}
		all = append(all, string(text))
	}
	if slices.Contains(s.Type, "null") || slices.Contains(s.Enum, nil) {
		all = append(all, null)
	}
	return all
}

// described is an operation's or a field's text as lines of at most so many characters.
func described(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line := ""
		for _, w := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(w) > width {
				lines, line = append(lines, line), ""
			}
			line = strings.TrimSpace(line + " " + w)
		}
		lines = append(lines, line)
	}
	return lines
}
