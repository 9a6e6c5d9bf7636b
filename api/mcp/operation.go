package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/api"
)

// operation is a route of the API that is a tool. What it takes, and what is said of it, is what the OpenAPI document
// says of the route.
type operation struct {
	tool  string
	route string // the operation's identifier in the document
	does  effect
	note  string // what there is to say besides the route's description
	// title and says take the place of the route's, where the tool is something else.
	title, says string
	// view makes the tool's answer of the route's; nil: it is the route's. With paged the tool takes a cursor, which the
	// route does not.
	view  func(answer json.RawMessage, cursor string) (any, error)
	paged bool
}

// effect is what a tool does, for hosts that ask a person before.
type effect uint8

const (
	reads   effect = iota
	adds           // makes something new
	changes        // replaces or ends something; a second time changes nothing more
	rings          // reaches somebody outside
)

// annotations are the effect in the protocol's words.
func (e effect) annotations() *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{ReadOnlyHint: e == reads, IdempotentHint: e == reads || e == changes,
		DestructiveHint: new(e == changes || e == rings), OpenWorldHint: new(e == rings)}
}

// operations are all such tools. Of two with one name the first is taken whose route there is: a server without
// telephony ends conversations in browsers by the second.
var operations = []operation{
	{tool: "list_agents", route: "list-agents", note: "Prompts, tools and settings are left out: get_agent has them.", view: without("prompt", "first_message", "tools", "settings")},
	{tool: "get_agent", route: "get-agent", says: "Its prompt, tools and settings. update_agent takes its version, in quotes, as if_match."},
	{tool: "get_agent_schema", route: "get-agent-schema", says: "JSON Schema 2020-12 of what create_agent and update_agent take."},
	{tool: "create_agent", route: "create-agent", does: adds},
	{tool: "update_agent", route: "update-agent", does: changes},
	{tool: "list_calls", route: "list-calls", note: "With q it searches transcripts."},
	{tool: "get_call", route: "get-call", title: "Read how a call went", view: without("transcript", "turns"),
		says: "Who called whom and when, how it ended, what it cost, the functions that its model called, its recording and its analysis. get_transcript has its transcript."},
	{tool: "get_transcript", route: "get-call", title: "Read the transcript of a call", view: transcript, paged: true,
		says: "Who said what, in order, in pages of about 64 kB. While the call lasts it grows."},
	{tool: "place_call", route: "dial", does: rings, note: "A telephone rings and money is spent: ask the user before, and confirm consent only when the user says that there is one."},
	{tool: "hang_up", route: "hang-up", does: changes},
	{tool: "hang_up", route: "hang-up-any-call", does: changes},
	{tool: "list_numbers", route: "list-numbers"},
	{tool: "assign_number", route: "assign-number", does: changes},
	{tool: "get_statistics", route: "get-statistics"},
	{tool: "get_balance", route: "get-balance"},
	{tool: "list_knowledge", route: "list-knowledge-bases"},
	{tool: "search_knowledge", route: "search-knowledge-base"},
	{tool: "list_tests", route: "list-cases", note: "Scripts are left out.", view: without("script")},
	{tool: "run_tests", route: "create-simulation", does: adds, note: "get_simulation has the results."},
	{tool: "get_simulation", route: "get-simulation"},
}

// apiTool is an operation that the server has.
type apiTool struct {
	operation
	api     *api.API
	op      *huma.Operation
	members map[string]json.RawMessage // of the body: their schemas
}

// apiTools finds the operations whose routes have been added to an API.
func apiTools(a *api.API) (tools []*apiTool) {
	doc := a.Document()
	routes := map[string]*huma.Operation{}
	for _, item := range doc.Paths {
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				routes[op.OperationID] = op
			}
		}
	}
	for _, o := range operations {
		op := routes[o.route]
		if op == nil || slices.ContainsFunc(tools, func(t *apiTool) bool { return t.tool == o.tool }) {
			continue
		}
		tools = append(tools, &apiTool{operation: o, api: a, op: op, members: members(doc, op)})
	}
	return tools
}

// inWords has the words for arguments where a route's description has headers.
var inWords = strings.NewReplacer("`Idempotency-Key` header", "`idempotency_key`", "`Idempotency-Key`", "`idempotency_key`", "If-Match", "if_match")

// describe is the tool as hosts see it.
func (t *apiTool) describe() *mcp.Tool {
	title := cmp.Or(t.title, t.op.Summary)
	text := title + ". " + cmp.Or(t.says, inWords.Replace(t.op.Description))
	if t.note != "" {
		text += " " + t.note
	}
	return &mcp.Tool{Name: t.tool, Title: title, Description: text, InputSchema: t.schema(), Annotations: t.does.annotations()}
}

// call calls the tool.
func (t *apiTool) call(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	v, _ := ctx.Value(callKey{}).(*toolCall)
	text, err := t.answer(v.ctx, req.Params.Arguments)
	if err != nil {
		return failure(v.ctx, err), nil
	}
	head, note := bounded(text)
	if note != "" {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: head}, &mcp.TextContent{Text: note}}}, nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: head}}, StructuredContent: text}, nil
}

// answer is what the route answers to the arguments, for the sender of the request in ctx: all that it checks is
// checked there, and nothing here.
func (t *apiTool) answer(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	given := map[string]json.RawMessage{}
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return nil, api.Bad("arguments: send an object")
		}
	}
	cursor := ""
	if t.paged {
		cursor = plain(given[cursorName])
		delete(given, cursorName)
	}
	ctx, address, err := t.place(ctx, given)
	if err != nil {
		return nil, err
	}
	var body any
	if t.op.RequestBody != nil {
		if given == nil { // the arguments were null
			given = map[string]json.RawMessage{}
		}
		body = given
	}
	var out json.RawMessage
	if err := t.api.Call(ctx, api.PrincipalOf(ctx), t.op.Method, address, body, &out); err != nil || t.view == nil {
		return out, err
	}
	seen, err := t.view(out, cursor)
	if err != nil {
		return nil, err
	}
	return encode(seen)
}

// place takes out of the arguments what is no member of the body, and returns the address that holds it; headers are
// in the context. What has no place is refused: a filter whose name is wrong would find everything.
func (t *apiTool) place(ctx context.Context, given map[string]json.RawMessage) (context.Context, string, error) {
	path, query := t.op.Path, url.Values{}
	for _, p := range t.op.Parameters {
		name := argument(p)
		value := given[name]
		delete(given, name)
		if string(value) == "null" {
			value = nil
		}
		text := plain(value)
		switch {
		case text == "" && p.In == "path":
			return ctx, "", api.Bad("%s: is missing", name)
		case value == nil:
		case p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", segment(text), 1)
		case p.In == "header":
			ctx = withHeader(ctx, p.Name, text)
		default:
			if err := add(query, p, value); err != nil {
				return ctx, "", err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if t.members[name] == nil {
			return ctx, "", api.Bad("%.100s: there is no such argument", name)
		}
	}
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return ctx, path, nil
}

// argument names a parameter: those of headers as all others are written.
func argument(p *huma.Param) string {
	if p.In == "header" {
		return strings.ToLower(strings.ReplaceAll(p.Name, "-", "_"))
	}
	return p.Name
}

// headers are those that requests within the server can have, see api.Call.
var headers = map[string]func(context.Context, string) context.Context{
	"Idempotency-Key": api.WithIdempotencyKey,
	"If-Match":        api.WithIfMatch,
}

// withHeader has the route get a header, if it is one that it can get.
func withHeader(ctx context.Context, name, text string) context.Context {
	if set := headers[http.CanonicalHeaderKey(name)]; set != nil {
		return set(ctx, text)
	}
	return ctx
}

// segment is a text as one part of a path. Dots are escaped, too: parts of dots alone would lead elsewhere.
func segment(text string) string { return strings.ReplaceAll(url.PathEscape(text), ".", "%2E") }

// plain is a JSON text without its quotation marks; numbers and the rest are as they are written. No value is empty.
func plain(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// deepObject is the style of parameters that are objects, in the document's words.
const deepObject = "deepObject"

// add puts a value into a query as the document says: a list with commas, an object as name[member].
func add(query url.Values, p *huma.Param, value json.RawMessage) error {
	var members map[string]string
	var items []json.RawMessage
	switch {
	case p.Style == deepObject:
		if err := json.Unmarshal(value, &members); err != nil {
			return api.Bad("%s: send an object of texts", argument(p))
		}
		for name, text := range members {
			query.Set(p.Name+"["+name+"]", text)
		}
	case json.Unmarshal(value, &items) == nil:
		texts := make([]string, len(items))
		for i, item := range items {
			texts[i] = plain(item)
		}
		query.Set(p.Name, strings.Join(texts, ","))
	default:
		query.Set(p.Name, plain(value))
	}
	return nil
}
