package api

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// Published is the document as it is served. What several operations share, answers that
// report errors and parameters, stands once under components.
func (a *API) Published() (*huma.OpenAPI, error) {
	s := sharing{responses: map[string]*shared[huma.Response]{}, parameters: map[string]*shared[huma.Param]{}}
	doc := *a.Document()
	s.walk(&doc)
	parts := *doc.Components
	parts.Responses, parts.Parameters = name(s.responses), name(s.parameters)
	doc.Components, s.named = &parts, true
	s.walk(&doc)
	return &doc, s.err
}

// sharing goes twice over the operations of a document: first it counts what they share,
// then it replaces that by references.
type sharing struct {
	named      bool
	responses  map[string]*shared[huma.Response] // by their JSON
	parameters map[string]*shared[huma.Param]
	err        error
}

// shared is a part of operations.
type shared[T any] struct {
	name  string // a component's; empty: the part stands in each operation
	value *T
	uses  int
}

// name leaves its name to that part of each name which is used most, and more than once.
func name[T any](parts map[string]*shared[T]) map[string]*T {
	named := map[string]*T{}
	for _, key := range slices.SortedFunc(maps.Keys(parts), func(a, b string) int {
		return cmp.Or(cmp.Compare(parts[b].uses, parts[a].uses), cmp.Compare(a, b))
	}) {
		if p := parts[key]; p.uses == 1 || named[p.name] != nil {
			p.name = ""
		} else {
			named[p.name] = p.value
		}
	}
	return named
}

// find is the part that v is.
func find[T any](s *sharing, parts map[string]*shared[T], name string, v *T) *shared[T] {
	text, err := json.Marshal(v)
	if err != nil {
		s.err = err
	}
	p := parts[string(text)]
	if p == nil {
		p = &shared[T]{name: name, value: v}
		parts[string(text)] = p
	}
	if !s.named {
		p.uses++
	}
	return p
}

func (s *sharing) walk(doc *huma.OpenAPI) {
	doc.Paths, doc.Webhooks = s.items(doc.Paths), s.items(doc.Webhooks)
}

func (s *sharing) items(items map[string]*huma.PathItem) map[string]*huma.PathItem {
	out := map[string]*huma.PathItem{}
	for _, path := range slices.Sorted(maps.Keys(items)) {
		item := *items[path]
		for _, op := range []**huma.Operation{&item.Get, &item.Post, &item.Put, &item.Patch, &item.Delete} {
			*op = s.operation(path, *op)
		}
		out[path] = &item
	}
	return out
}

func (s *sharing) operation(path string, op *huma.Operation) *huma.Operation {
	if op == nil {
		return nil
	}
	out := *op
	out.Parameters = make([]*huma.Param, len(op.Parameters))
	for i, p := range op.Parameters {
		out.Parameters[i] = p
		if found := find(s, s.parameters, parameterName(path, p), p); s.named && found.name != "" {
			out.Parameters[i] = &huma.Param{Ref: "#/components/parameters/" + found.name}
		}
	}
	out.Responses = make(map[string]*huma.Response, len(op.Responses))
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		out.Responses[status] = r
		code, err := strconv.Atoi(status)
		if err != nil || code < http.StatusBadRequest {
			continue
		}
		name := strings.NewReplacer(" ", "", "-", "").Replace(http.StatusText(code))
		if found := find(s, s.responses, name, r); s.named && found.name != "" {
			out.Responses[status] = &huma.Response{Ref: "#/components/responses/" + found.name}
		}
	}
	return &out
}

// parameterName names a parameter as a component: one of a path after what it identifies.
func parameterName(path string, p *huma.Param) string {
	if p.In != "path" {
		return p.Name
	}
	before, _, _ := strings.Cut(path, "/{"+p.Name+"}")
	return before[strings.LastIndexByte(before, '/')+1:] + "." + p.Name
}
