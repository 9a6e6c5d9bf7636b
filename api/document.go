package api

import (
	_ "embed" // of asyncapi.yaml
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// DocumentVersion is the version of the public interface, not of the program.
const DocumentVersion = "1.0.0"

// documentConfig is the frame of the OpenAPI document.
func documentConfig() huma.Config {
	registry := huma.NewMapRegistry("#/components/schemas/", schemaName)
	c := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{Title: "Parley", Version: DocumentVersion, License: &huma.License{Name: "MIT", Identifier: "MIT"},
				Description: "A voice API: conversations with agents, speech synthesis, recognition and noise removal. Prices are in US dollars. Every answer names its request in the header X-Request-Id."},
			Servers: []*huma.Server{{URL: "/", Description: "The server that the document comes from."}},
			Tags:    tags(),
			Components: &huma.Components{Schemas: registry, SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer", Description: "An API key (sk_), a ticket (wst_) or, for what begins with /v1/operator/, an operator's key (op_)."},
				"header": {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "The same in a header of its own."},
				"query":  {Type: "apiKey", In: "query", Name: "api_key", Description: "The same in the query, for browsers' WebSocket and EventSource, which cannot set headers."},
			}},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat},
		DefaultFormat: "application/json",
	}
	c.AllowAdditionalPropertiesByDefault = true
	return c
}

const accessKey = "access" // of the Access in an operation's metadata

// AccessOf is who may use an operation of an API's document.
func AccessOf(op *huma.Operation) Access {
	access, _ := op.Metadata[accessKey].(Access)
	return access
}

// describe adds to a route's description what follows from the rest of it.
func describe(r *Route) {
	if r.Metadata == nil {
		r.Metadata = map[string]any{}
	}
	r.Metadata[accessKey] = r.Access
	switch r.Access {
	case Public:
		r.Security = []map[string][]string{}
	case Minting, Management, Owners, Operators:
		r.Security = []map[string][]string{{"bearer": {}}, {"header": {}}}
	default:
		r.Security = []map[string][]string{{"bearer": {}}, {"header": {}}, {"query": {}}}
	}
	may := []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if r.Access != Public {
		may = append(may, http.StatusUnauthorized, http.StatusBadRequest, http.StatusForbidden)
	}
	if r.Access == Operators {
		may = append(may, http.StatusNotFound)
	}
	if r.Method != http.MethodGet && r.Method != http.MethodDelete {
		may = append(may, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	if r.repetition != unnoticed {
		r.Parameters = append(r.Parameters, onceParam(r.repetition))
		may = append(may, http.StatusConflict)
	}
	for _, status := range may {
		if !slices.Contains(r.Errors, status) {
			r.Errors = append(r.Errors, status)
		}
	}
	slices.Sort(r.Errors)
}

// tags are the groups of routes, in the order in which people read of them.
func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "Speech", Description: "Texts spoken, recordings transcribed and cleaned, without a conversation."},
		{Name: "Agents", Description: "Agents that answer calls, and conversations with them over a WebSocket."},
		{Name: "Call center", Description: "Telephone numbers: search, buy, bind to an agent, release. Calls, and the do-not-call list."},
		{Name: "Trunks", Description: "Lines of the account to carriers and exchanges."},
		{Name: "Calls", Description: "The history of calls: transcripts, how they ended, how they sounded, their signalling, and who confirmed consent."},
		{Name: "Webhooks", Description: "Notifications of events: signed requests to addresses of your own."},
		{Name: "Tickets", Description: "Short-lived credentials for browsers and other places where a key would not be safe."},
		{Name: "Keys", Description: "The API keys of the account."},
		{Name: "People", Description: "Who signs in to the account: members and owners, and those who are invited. Keys with the role owner open this."},
		{Name: "Requests", Description: "What programs have asked with the account's keys, and how it was answered, for people who look for a mistake."},
		{Name: "Secrets", Description: "What agents' functions need to be let in elsewhere: stored sealed, used by name, never shown."},
		{Name: "Knowledge", Description: "Documents that agents answer from: files and addresses in collections, and the search that agents use."},
		{Name: "Messages", Description: "Text messages that numbers of the account send and receive."},
		{Name: "Sounds", Description: "What callers hear while somebody is called for them: recordings of the account."},
		{Name: "Engine keys", Description: "Keys of your own for the engines of vendors: stored sealed, never shown, and tested on request."},
		{Name: "Account", Description: "Prices, the balance, and what it was spent on."},
		{Name: "Discovery", Description: "What this server can do: voices, languages, engines, limits. No credential is needed."},
		{Name: "Service", Description: "How the service is, and its description for programs."},
		{Name: "Operator", Description: "The accounts of the server, for its operators. Only an operator's key opens these routes, and it opens no others."},
		{Name: "MCP", Description: "The service as tools and resources of the Model Context Protocol."},
	}
}

// whatErrors says what the errors with a status have in common; their codes say
// which of them it is.
var whatErrors = map[int]string{
	http.StatusBadRequest:            "The request is not valid; the detail says what exactly, where there is more to say.",
	http.StatusUnauthorized:          "No credential was sent, or it is unknown, revoked or expired.",
	http.StatusPaymentRequired:       "The balance is too low, a first top-up is missing, or the account is suspended or disputed.",
	http.StatusForbidden:             "The credential does not open this, or not any more: a ticket, a key without the role, or an operator's key.",
	http.StatusNotFound:              "There is no such thing in the account.",
	http.StatusConflict:              "It cannot be done in the state that the thing is in.",
	http.StatusGone:                  "It was there, was kept for its time, and is gone.",
	http.StatusPreconditionFailed:    "It was changed by someone else since it was read.",
	http.StatusPreconditionRequired:  "The request must say which version it changes.",
	http.StatusRequestEntityTooLarge: "The body is larger than what is taken here.",
	http.StatusUnsupportedMediaType:  "The media type of the body is not taken here.",
	http.StatusTooManyRequests:       "Too many requests in a short time, or as much at once as the account may have. Retry-After says how long to wait, where that is known.",
	http.StatusInternalServerError:   "Something went wrong on the server's side. It is not charged.",
	http.StatusServiceUnavailable:    "The server, or an engine that this needs, takes no work now; retryable says whether it may later.",
	http.StatusGatewayTimeout:        "It took too long. It is not charged.",
}

// whatHeaders say of headers that do not say it themselves.
var whatHeaders = map[string]string{
	"Cache-Control": "How long the answer may be kept, and by whom.",
}

// explain puts our words where the library has none of its own, and leaves out of
// the schemas what JSON Schema takes for granted.
func (a *API) explain(op *huma.Operation) {
	for status, r := range op.Responses {
		code, _ := strconv.Atoi(status) // what is no number has no row
		if said, ok := whatErrors[code]; ok && r.Description == http.StatusText(code) {
			r.Description = said
		}
		for name, h := range r.Headers {
			if h.Description == "" && (h.Schema == nil || h.Schema.Description == "") {
				h.Description = whatHeaders[name]
			}
		}
	}
	for _, s := range a.huma.OpenAPI().Components.Schemas.Map() {
		takeForGranted(s)
	}
}

// takeForGranted leaves out that objects may have more fields.
func takeForGranted(s *huma.Schema) {
	if s == nil {
		return
	}
	if s.AdditionalProperties == true {
		s.AdditionalProperties = nil
	}
	for _, p := range s.Properties {
		takeForGranted(p)
	}
	takeForGranted(s.Items)
}

// schemaName names the schema of a type.
func schemaName(t reflect.Type, hint string) string {
	if t == reflect.TypeFor[refusal]() {
		return "Error"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// describeErrors adds the error answers of a route that huma does not make.
func (a *API) describeErrors(op *huma.Operation) {
	schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[refusal](), true, "")
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	for _, status := range op.Errors {
		if op.Responses[strconv.Itoa(status)] != nil {
			continue // the route has a form of its own
		}
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: http.StatusText(status),
			Content: map[string]*huma.MediaType{"application/json": {Schema: schema}}}
	}
	a.explain(op)
}

// Document is the OpenAPI description of the routes that were added, each with all that
// belongs to it.
func (a *API) Document() *huma.OpenAPI { return a.huma.OpenAPI() }

// AsyncAPI is the document of messages: what goes over sockets and in streams of events, which OpenAPI cannot say.
//
//go:embed asyncapi.yaml
var AsyncAPI []byte

// MountDocument serves the documents of all routes and of all messages, for any page to read.
func MountDocument(a *API) {
	a.Handle(Route{Access: Public, Operation: huma.Operation{
		Method: http.MethodGet, Path: "/asyncapi.yaml", OperationID: "get-asyncapi", Tags: []string{"Service"},
		Summary: "The document of messages", Description: "It describes what goes over sockets and in streams of events, for programs. It may be kept for five minutes.",
		Responses: map[string]*huma.Response{"200": {Description: "The AsyncAPI 3.0 document",
			Content: map[string]*huma.MediaType{"application/yaml": {Schema: &huma.Schema{Type: huma.TypeString}}}}},
	}}, HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error { return document(w, "application/yaml", AsyncAPI) }))
	for _, form := range []struct {
		path, id, mediaType string
		schema              *huma.Schema
		write               func(*huma.OpenAPI) ([]byte, error)
	}{
		{"/openapi.json", "get-openapi-json", "application/json", &huma.Schema{Type: huma.TypeObject}, (*huma.OpenAPI).MarshalJSON},
		{"/openapi.yaml", "get-openapi-yaml", "application/yaml", &huma.Schema{Type: huma.TypeString}, (*huma.OpenAPI).YAML},
	} {
		text := sync.OnceValues(func() ([]byte, error) { // at the first request: all routes are there then
			doc, err := a.Published()
			if err != nil {
				return nil, err
			}
			return form.write(doc)
		})
		a.Handle(Route{Access: Public, Operation: huma.Operation{
			Method: http.MethodGet, Path: form.path, OperationID: form.id, Tags: []string{"Service"},
			Summary: "This document", Description: "It describes every route for programs. It may be kept for five minutes.",
			Responses: map[string]*huma.Response{"200": {Description: "The OpenAPI 3.1 document",
				Content: map[string]*huma.MediaType{form.mediaType: {Schema: form.schema}}}},
		}}, HandlerFunc(func(w http.ResponseWriter, _ *http.Request) error {
			b, err := text()
			if err != nil {
				return err
			}
			return document(w, form.mediaType, b)
		}))
	}
}

// document answers with a document, which may be kept for five minutes.
func document(w http.ResponseWriter, mediaType string, text []byte) error {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(text) // the client has gone
	return nil
}

// Answer describes an answer of a route that writes HTTP itself.
func Answer(status int, description, contentType string) map[string]*huma.Response {
	r := &huma.Response{Description: description}
	if contentType != "" {
		r.Content = map[string]*huma.MediaType{contentType: {Schema: Bytes(contentType)}}
	}
	return map[string]*huma.Response{strconv.Itoa(status): r}
}

// Bytes is the schema of what is no text: a body, or a file in a form, of a media
// type. What may be any sound is application/octet-stream.
func Bytes(mediaType string) *huma.Schema {
	// OpenAPI 3.1 has the media type; the format is for programs that know 3.0 only.
	return &huma.Schema{Type: huma.TypeString, Format: "binary", Extensions: map[string]any{"contentMediaType": mediaType}}
}
