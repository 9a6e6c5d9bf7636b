package docs

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"parley/api"
)

// operation is an endpoint as the reference shows it.
type operation struct {
	ID, Method, Path     string
	Summary, Description string
	Access               string
	Socket               bool
	Params               []field
	Bodies               []body
	Answers              []answer
	Errors               []string // HTTP statuses
	Examples             []exampleLink
}

// body is a request's or an answer's body of one media type.
type body struct {
	MediaType string
	Fields    []field
}

// answer is one that is no error.
type answer struct {
	Status, Description string
	Headers             []field
	Bodies              []body
}

type exampleLink struct{ Page, ID, Title string }

// operations sorts what the document describes by the page it belongs to. What is
// only another address of the same is left out: the prose speaks of it.
func operations(doc *huma.OpenAPI, examples map[string]*Example) map[string][]operation {
	all := map[string][]operation{}
	for _, at := range slices.SortedFunc(maps.Keys(doc.Paths), inOrder) {
		if plain(at) != at && doc.Paths[plain(at)] != nil {
			continue
		}
		for _, op := range methods(doc.Paths[at]) {
			p, _ := pageOf(at)
			all[p.name] = append(all[p.name], describe(doc, op, examples))
		}
	}
	return all
}

// inOrder compares addresses: those of a page's first claim come first, and what
// makes a thing comes before the thing.
func inOrder(a, b string) int {
	_, i := pageOf(a)
	_, j := pageOf(b)
	early := func(at string) string { return strings.ReplaceAll(at, "{", " ") }
	return cmp.Or(cmp.Compare(i, j), strings.Compare(early(a), early(b)))
}

// methods are the operations of a path, in the order in which people think of them.
func methods(item *huma.PathItem) (ops []*huma.Operation) {
	for _, m := range []struct {
		name string
		op   *huma.Operation
	}{{"POST", item.Post}, {"GET", item.Get}, {"PUT", item.Put}, {"PATCH", item.Patch}, {"DELETE", item.Delete}} {
		if m.op != nil {
			ops = append(ops, m.op)
		}
	}
	return ops
}

// pageOf is the page that describes an address, and the number of the page's claim
// to it.
func pageOf(address string) (best page, number int) {
	length := 0
	for _, p := range pages {
		for i, claim := range p.claims {
			if len(claim) > length && (address == claim || strings.HasSuffix(claim, "/") && strings.HasPrefix(address, claim)) {
				best, number, length = p, i, len(claim)
			}
		}
	}
	return best, number
}

func describe(doc *huma.OpenAPI, op *huma.Operation, examples map[string]*Example) operation {
	o := operation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Access: access(op), Socket: op.Responses["101"] != nil}
	reader := schemas{doc.Components.Schemas}
	for _, p := range op.Parameters {
		f := reader.field(p.Name, p.Schema, p.Required)
		f.Place = p.In
		f.Description = cmp.Or(p.Description, f.Description)
		if p.Example != nil {
			f.Example = text(p.Example)
		}
		o.Params = append(o.Params, f)
	}
	if op.RequestBody != nil {
		o.Bodies = reader.bodies(op.RequestBody.Content)
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		code, err := strconv.Atoi(status)
		if err == nil && code >= 400 {
			o.Errors = append(o.Errors, status)
			continue
		}
		r := op.Responses[status]
		a := answer{Status: status, Description: r.Description, Bodies: reader.bodies(r.Content)}
		for _, b := range a.Bodies {
			for i := range b.Fields {
				b.Fields[i].Required = false // of the reader nothing is required
			}
		}
		for _, name := range slices.Sorted(maps.Keys(r.Headers)) {
			h := r.Headers[name]
			f := reader.field(name, h.Schema, false)
			f.Description = cmp.Or(h.Description, f.Description)
			a.Headers = append(a.Headers, f)
		}
		o.Answers = append(o.Answers, a)
	}
	for _, e := range Covering(examples, op.Method, op.Path) {
		topic, _, _ := strings.Cut(e.Name, "/")
		if at, err := link(topic); err == nil {
			o.Examples = append(o.Examples, exampleLink{at, e.ID(), e.Title})
		}
	}
	return o
}

// access says who may use an operation.
func access(op *huma.Operation) string {
	switch api.AccessOf(op) {
	case api.Public:
		return "anybody; no credential"
	case api.Management:
		return "an API key; tickets are refused"
	case api.Owners:
		return "an API key with the role owner"
	case api.Operators:
		return "an operator's key"
	case api.Minting:
		return "an API key or a ticket, sent in a header"
	case api.Conversation:
		return "an API key, a ticket or a session ticket"
	}
	return "an API key or a ticket"
}
