// Package mcp offers the service as tools and resources of the Model Context
// Protocol, over its Streamable HTTP transport. Voices, languages, models and limits
// are what the discovery routes answer, and synthesis is checked, priced and spoken
// like any other. Agents, calls, numbers, dialling, statistics, knowledge and tests
// are routes of the API: a tool asks its route with the credential that the message
// came with, so it may do what that may, and what it takes is what the OpenAPI
// document says of the route.
//
// The endpoint is stateless: one POST is one JSON-RPC message and its answer is
// JSON. There are no sessions, no event streams and no batches. The protocol's own
// library serves it; what stands before it turns the library's refusals, which are
// plain text, into JSON-RPC.
package mcp

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"parley/api"
	"parley/api/status"
	"parley/api/tts"
	"parley/api/upload"
)

// Bounds of the endpoint.
const (
	// maxBody is a text of 5,000 code points, each written as two \u escapes, and
	// as much again for what is around it.
	maxBody = 128 << 10
	// shortAtOnce and longAtOnce are how many recordings are made at once, of texts of
	// shortText code points or longer ones, half of them for one account. The longest
	// takes five minutes, and its copies in JSON and base64 were seen to need 350 MB
	// until they were sent and collected.
	shortText   = 500
	shortAtOnce = 16
	longAtOnce  = 4
	// maxWait is how long a further one waits for its turn before it is refused.
	maxWait = 10 * time.Second
	// patience is how long a whole text may take to be spoken.
	patience = time.Minute
	// A client has sendTime, and a second for each sendRate bytes, to take an
	// answer.
	sendTime = time.Minute
	sendRate = 128 << 10
)

// Tools are what the endpoint works with.
type Tools struct {
	Server *status.Server
	Voice  *tts.Service
	Books  api.Books
	Log    *slog.Logger // nil: nothing is logged

	short, long *upload.Gate
}

// Mount adds the endpoint to an API. Of the routes that are tools it has those that were
// added before.
func Mount(a *api.API, t *Tools) {
	t.short, t.long = upload.NewGate(shortAtOnce, maxWait), upload.NewGate(longAtOnce, maxWait)
	if t.Log == nil {
		t.Log = slog.New(slog.DiscardHandler)
	}
	operation := describe()
	handler, tools := newHandler(a, t)
	operation.Metadata = map[string]any{toolsKey: tools}
	// What a ticket opens of the tools, each says itself.
	a.Handle(api.Route{Access: api.Service, Scope: api.Synthesis | api.Calls | api.Numbers, Operation: operation}, handler)
}

// What hosts tell a model of the server.
const (
	speechInstructions  = "Synthesise speech: ask list_voices and list_languages for what a voice and a language may be."
	accountInstructions = " Look after the voice agents of an account: their prompts, calls, numbers and tests. Identifiers come from the lists. " +
		"place_call rings a real telephone: do it only when the user has asked for it and says that the callee has agreed."
)

func newHandler(a *api.API, t *Tools) (http.Handler, []Listed) {
	asked := apiTools(a)
	o := &mcp.ServerOptions{Instructions: speechInstructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}} // the tools never change, and nothing is logged to clients
	if len(asked) > 0 {
		o.Instructions += accountInstructions
		o.Capabilities.Resources = &mcp.ResourceCapabilities{}
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "parley", Title: "Parley", Version: t.Server.Version}, o)
	server.AddReceivingMiddleware(t.survive)
	tools := &catalogue{server: server}
	t.add(tools)
	for _, tool := range asked {
		tools.add(tool.describe(), tool.op.Method+" "+tool.op.Path, tool.call)
	}
	for _, r := range resources {
		if at := slices.IndexFunc(asked, func(t *apiTool) bool { return t.tool == r.tool }); at >= 0 {
			r.add(server, asked[at])
			tools.reads(r)
		}
	}
	library := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxBody,
		// It refuses names that are not localhost on a loopback address, where a
		// proxy may well be. A page that was led here by such a name has no
		// credential, and without one nothing is answered.
		DisableLocalhostProtection: true,
	})
	return api.HandlerFunc(front{library}.serve), tools.listed
}

// toolCall is the HTTP request that a tool is called in.
type toolCall struct {
	ctx   context.Context // ends when the client goes, where the library's does not
	leave func()          // gives back what the tool has taken until the answer is sent; nil: nothing
}

type callKey struct{} // of the *toolCall in a tool's context

// survive answers a message whose handler has panicked: the library runs handlers
// on goroutines of its own, where a panic would end the program. As everywhere,
// what was passed to panic is not written down.
func (t *Tools) survive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (res mcp.Result, err error) {
		defer func() {
			if recover() != nil {
				api.LogOf(ctx, t.Log).Error("an MCP message panicked", "method", method, "stack", string(debug.Stack()))
				res, err = nil, &jsonrpc.Error{Code: codeInternal, Message: "something went wrong on our side"}
			}
		}()
		return next(ctx, method, req)
	}
}

// describe is the endpoint in the document.
func describe() huma.Operation {
	id := &huma.Schema{OneOf: []*huma.Schema{{Type: "string"}, {Type: "integer"}}, Description: "Which request it is; notifications have none."}
	object := func(required []string, properties map[string]*huma.Schema) *huma.Schema {
		properties["jsonrpc"] = &huma.Schema{Type: "string", Enum: []any{"2.0"}, Description: "The version of JSON-RPC."}
		return &huma.Schema{Type: "object", Required: append([]string{"jsonrpc"}, required...), Properties: properties}
	}
	anything := func(what string) *huma.Schema { return &huma.Schema{Type: "object", Description: what} }
	body := func(s *huma.Schema, example any) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: s, Example: example}}
	}
	rpcError := func() *huma.Schema {
		return &huma.Schema{Type: "object", Required: []string{"code", "message"}, Description: "Why there is no result.",
			Properties: map[string]*huma.Schema{"code": {Type: "integer", Description: "As JSON-RPC and the protocol have it."},
				"message": {Type: "string", Description: "The same for people."}, "data": {Description: "What there is more to say."}}}
	}
	op := huma.Operation{
		Method: http.MethodPost, Path: path, OperationID: "send-mcp-message", Tags: []string{"MCP"}, MaxBodyBytes: maxBody,
		Summary: "Tools for agents, over the Model Context Protocol",
		Description: "One JSON-RPC 2.0 message of the Model Context Protocol (Streamable HTTP) and its answer, in JSON. There are no sessions: " +
			"GET and DELETE are answered with 405, and batches are refused. The tools list_voices, list_languages, list_models and get_limits answer what the " +
			"routes of discovery do, and synthesize_speech answers with a WAV file and is charged like /tts/synthesize. Tools for agents, calls, numbers, " +
			"dialling, transcripts, statistics, knowledge and tests ask a route each, with the credential of the message: it opens what it opens there. " +
			"`tools/list` has all of them, `resources/list` and `resources/templates/list` what can be read. What a tool refuses is a result with isError " +
			"and the text `code: message`; faults of the protocol are JSON-RPC errors.",
		RequestBody: &huma.RequestBody{Required: true, Content: body(
			object([]string{"method"}, map[string]*huma.Schema{"id": id, "method": {Type: "string", Description: "What is asked for."}, "params": anything("As the protocol has them for the method.")}),
			map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": map[string]any{"name": "list_voices", "arguments": map[string]any{}}})},
		Responses: map[string]*huma.Response{
			"200": {Description: "The result, or a JSON-RPC error", Content: body(
				object([]string{"id"}, map[string]*huma.Schema{"id": id, "result": anything("As the protocol has it for the method."), "error": rpcError()}), nil)},
			"202": {Description: "A notification was taken"},
		},
		Errors: []int{http.StatusUnsupportedMediaType},
	}
	refused := object([]string{"id", "error"}, map[string]*huma.Schema{"id": {OneOf: append(slices.Clone(id.OneOf), &huma.Schema{Type: "null"}), Description: "Which request it was; null when that cannot be read."}, "error": rpcError()})
	for _, status := range []int{http.StatusBadRequest, http.StatusNotFound} {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: "The message is not one that can be answered", Content: body(refused, nil)}
	}
	return op
}
