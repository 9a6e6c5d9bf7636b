package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

const (
	// maxProperty bounds the schema of one argument in the list of tools, in bytes: a host reads the list before each
	// conversation. An agent's settings alone would have 30 kB.
	maxProperty = 2 << 10
	// cursorName is the argument of tools that cut the answer themselves.
	cursorName = "cursor"
)

// schema is what the tool takes: the parameters of its route and the members of its body, side by side.
func (t *apiTool) schema() map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, name := range slices.Sorted(maps.Keys(t.members)) {
		properties[name] = t.members[name]
	}
	if body := bodySchema(t.api.Document(), t.op); body != nil {
		required = append(required, body.Required...)
	}
	for _, p := range t.op.Parameters {
		one := resolved(t.api.Document(), p.Schema)
		if p.Description != "" {
			one["description"] = p.Description
		}
		properties[argument(p)] = one
		if p.Required {
			required = append(required, argument(p))
		}
	}
	if t.paged {
		properties[cursorName] = map[string]any{"type": "string", "description": "next_cursor of the answer before; without it the answer begins at the first line."}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

// bodySchema is the schema of an operation's body; nil: it takes none.
func bodySchema(doc *huma.OpenAPI, op *huma.Operation) *huma.Schema {
	if op.RequestBody == nil || op.RequestBody.Content["application/json"] == nil {
		return nil
	}
	s := op.RequestBody.Content["application/json"].Schema
	for s != nil && s.Ref != "" {
		s = component(doc, s.Ref)
	}
	return s
}

// members are the schemas of the members of an operation's body. One that is too long says only what it is.
func members(doc *huma.OpenAPI, op *huma.Operation) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	body := bodySchema(doc, op)
	if body == nil {
		return out
	}
	for name, s := range body.Properties {
		whole := resolved(doc, s)
		text, err := encode(whole)
		if err == nil && len(text) > maxProperty {
			text, err = encode(brief(whole))
		}
		if err != nil {
			panic(err) // the document is the program's own
		}
		out[name] = text
	}
	return out
}

// brief is what little of a long schema a list of tools has. The long ones are agents and parts of them.
func brief(whole map[string]any) map[string]any {
	about, _ := whole["description"].(string)
	out := map[string]any{"type": whole["type"], "description": strings.TrimSpace(about + " get_agent_schema has the schema.")}
	if whole["type"] == "array" {
		out["items"] = map[string]any{} // hosts want it said
	}
	return out
}

// component is a schema that the document names.
func component(doc *huma.OpenAPI, ref string) *huma.Schema {
	return doc.Components.Schemas.Map()[strings.TrimPrefix(ref, componentPrefix)]
}

const componentPrefix = "#/components/schemas/"

// resolved is a schema with all that it refers to, for tools stand alone. What refers to itself ends there.
func resolved(doc *huma.OpenAPI, s *huma.Schema) map[string]any {
	whole, _ := resolve(doc, s, nil).(map[string]any)
	if whole == nil {
		return map[string]any{}
	}
	return whole
}

// resolve does the work of resolved for any part of a schema; within are the references that it stands in.
func resolve(doc *huma.OpenAPI, part any, within []string) any {
	switch v := part.(type) {
	case *huma.Schema:
		text, err := json.Marshal(v)
		if err != nil {
			panic(err) // the document is the program's own
		}
		var plain any
		if err := json.Unmarshal(text, &plain); err != nil {
			panic(err)
		}
		return resolve(doc, plain, within)
	case map[string]any:
		if ref, is := v["$ref"].(string); is && strings.HasPrefix(ref, componentPrefix) {
			if slices.Contains(within, ref) {
				return map[string]any{}
			}
			of, is := resolve(doc, component(doc, ref), append(slices.Clone(within), ref)).(map[string]any)
			if !is {
				of = map[string]any{}
			}
			delete(v, "$ref")
			for key, more := range v { // what is said beside a reference counts
				of[key] = more
			}
			return of
		}
		for key, more := range v {
			v[key] = resolve(doc, more, within)
		}
		return v
	case []any:
		for i := range v {
			v[i] = resolve(doc, v[i], within)
		}
		return v
	}
	return part
}
