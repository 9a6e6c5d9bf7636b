package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// reader goes through a document as somebody who has nothing else to go by.
type reader struct {
	*testing.T
	doc      *Document
	examples int
}

// TestPublishedDocument: all that the document names is explained, and its examples
// are examples of what they stand with.
func TestPublishedDocument(t *testing.T) {
	r := &reader{T: t, doc: Published(t)}
	if len(r.doc.Servers) != 1 || r.doc.Servers[0].URL != "/" {
		t.Errorf("the servers are %v, want that from which the document comes", r.doc.Servers)
	}
	var tags []string
	for _, tag := range r.doc.Tags {
		tags = append(tags, tag.Name)
		r.needs("tag "+tag.Name, tag.Description)
	}
	used, ids := map[string]bool{}, map[string]bool{}
	for path, item := range r.doc.Paths.Map() {
		for method, op := range item.Operations() {
			where := method + " " + path
			r.operation(where, op)
			if ids[op.OperationID] || !operationID.MatchString(op.OperationID) {
				t.Errorf("%s: its name %q is another's too, or not a verb and more words in small letters", where, op.OperationID)
			}
			ids[op.OperationID] = true
			if len(op.Tags) != 1 || !slices.Contains(tags, op.Tags[0]) {
				t.Errorf("%s: the tags are %v, want one of %v", where, op.Tags, tags)
				continue
			}
			used[op.Tags[0]] = true
		}
	}
	if got := slices.Sorted(maps.Keys(used)); len(got) != len(tags) {
		t.Errorf("the tags %v are used, of %v", got, tags)
	}
	for name, s := range r.doc.Components.Schemas {
		r.schema(name, s)
	}
	if r.examples < 50 {
		t.Errorf("only %d examples were found", r.examples)
	}
}

var operationID = regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

// needs complains about what is not described.
func (r *reader) needs(where, description string) {
	if strings.TrimSpace(description) == "" {
		r.Errorf("%s is not described", where)
	}
}

func (r *reader) operation(where string, op *openapi3.Operation) {
	r.needs(where+": the summary", op.Summary)
	r.needs(where, op.Description)
	for _, p := range op.Parameters {
		r.parameter(where+" "+p.Value.Name, p.Value)
	}
	if op.RequestBody != nil {
		r.content(where, op.RequestBody.Value.Content)
	}
	for status, resp := range op.Responses.Map() {
		where := where + " " + status
		r.needs(where, *resp.Value.Description)
		for name, h := range resp.Value.Headers {
			r.parameter(where+" "+name, &h.Value.Parameter)
		}
		r.content(where, resp.Value.Content)
		if status >= "400" && !strings.Contains(where, " /mcp ") { // there they are JSON-RPC's
			for kind, m := range resp.Value.Content {
				if kind != "application/json" || m.Schema.Ref != "#/components/schemas/Error" {
					r.Errorf("%s is not the error that all are", where)
				}
			}
		}
	}
}

func (r *reader) parameter(where string, p *openapi3.Parameter) {
	described := p.Description
	if described == "" {
		described = p.Schema.Value.Description
	}
	r.needs(where, described)
	r.schema(where, p.Schema)
	r.example(where, p.Schema, p.Example)
	for _, e := range p.Examples {
		r.example(where, p.Schema, e.Value.Value)
	}
}

func (r *reader) content(where string, content openapi3.Content) {
	for kind, m := range content {
		where := where + " " + kind
		r.schema(where, m.Schema)
		r.example(where, m.Schema, m.Example)
		for _, e := range m.Examples {
			r.example(where, m.Schema, e.Value.Value)
		}
		if !strings.Contains(kind, "*") && !strings.HasSuffix(kind, "json") && m.Schema.Value.ContentMediaType != "" && m.Schema.Value.ContentMediaType != kind {
			r.Errorf("%s is %s in its schema", where, m.Schema.Value.ContentMediaType)
		}
	}
}

// schema reads what a schema holds; those it refers to are read on their own.
func (r *reader) schema(where string, s *openapi3.SchemaRef) {
	if s == nil || s.Ref != "" && strings.ContainsAny(where, " .[") {
		return
	}
	for _, e := range s.Value.Examples {
		r.example(where, s, e)
	}
	r.example(where, s, s.Value.Example)
	r.example(where+" default", s, s.Value.Default)
	for name, p := range s.Value.Properties {
		r.needs(where+"."+name, p.Value.Description)
		r.schema(where+"."+name, p)
	}
	r.schema(where+"[]", s.Value.Items)
}

func (r *reader) example(where string, s *openapi3.SchemaRef, v any) {
	if v == nil {
		return
	}
	r.examples++
	// Out of YAML come numbers and times that JSON does not have.
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &v)
	}
	if err == nil {
		err = s.Value.VisitJSON(v, openapi3.EnableJSONSchema2020(), openapi3.MultiErrors())
	}
	if err != nil {
		r.Error(fmt.Errorf("%s: the example %s is none: %w", where, b, err))
	}
}
