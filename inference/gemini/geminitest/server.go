// Package geminitest is a fake of Google's Gemini API, :streamGenerateContent, on loopback, for tests
// of its adapter and for measurements.
//
// It understands nothing: its replies are those of its script. What Gemini refuses it refuses, above
// all histories whose calls lack results or signatures, and it notes each mistake of its client as a
// violation. Keys in a URL are one, though Google takes them.
package geminitest

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books, Delays, Script and ToolUse are those of all models. A fault belongs to a request, its messages are the
// events of the reply; its Reason is the status of the error, such as RESOURCE_EXHAUSTED. Calls come whole, and have
// ids from Gemini 3 on.
type (
	Fault   = loopbacktest.Fault
	Books   = loopbacktest.Books
	Delays  = loopbacktest.Delays
	Script  = loopbacktest.ModelScript[Request, Reply]
	ToolUse = loopbacktest.ToolUse
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = "AIza-test-0123456789"

// Reply is what a request is answered with: first the thinking, then the text, then the calls.
type Reply struct {
	Thinking string // sent if the request includes thoughts; its words are tokens in any case
	Text     string
	Tools    []ToolUse
	Stop     string // the finishReason; "": STOP, also with calls
	Block    string // the blockReason of a prompt that is not answered; "": it is

	In, CacheRead int // tokens: promptTokenCount is their sum; In 0: a quarter of the request's bytes
	Out           int // tokens, those of the thinking included; 0: counted from what is sent
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Model[Request, Reply]

	mu     sync.Mutex
	signed map[string]string // by signature the call that came with it, "" with a text
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	return loopbacktest.Started(t, Start, script, script.Expects)
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	s := &Server{signed: map[string]string{}}
	var err error
	s.Model, err = loopbacktest.ListenModel(script, loopbacktest.ModelVendor[Request, Reply]{
		Key: DefaultKey, Families: []string{"gemini-"}, MaxBody: 20 << 20, OK: Reply{Text: "OK"},
		Post: "POST /v1beta/models/{call}", List: "GET /v1beta/models", None: `{"models":[]}`,
		Admit: s.admit, Read: s.read, Refuse: refuse, Reply: s.stream,
	})
	return s, err
}

// admit says why a request may not enter.
func (s *Server) admit(r *http.Request) error {
	key := r.Header.Get("x-goog-api-key")
	switch {
	case r.URL.Query().Has("key"):
		s.Violate("the key is in the URL")
		return invalid("The key belongs into the header x-goog-api-key.")
	case r.Header.Get("Authorization") != "":
		return trouble{Status: "UNAUTHENTICATED", Message: "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential."}
	case key == "":
		return trouble{Status: "PERMISSION_DENIED", Message: "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API."}
	case key != s.Key:
		return trouble{Status: invalidArgument, Message: "API key not valid. Please pass a valid API key.", Reason: "API_KEY_INVALID"}
	}
	return nil
}

// read reads and checks a request.
func (s *Server) read(r *http.Request, body []byte) (*Request, string, error) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	switch {
	case method != "streamGenerateContent" || r.URL.Query().Get("alt") != "sse":
		return nil, "", invalid("The fake answers :streamGenerateContent?alt=sse alone.")
	case !loopbacktest.IsJSON(r.Header):
		return nil, "", invalid("Content-Type must be application/json.")
	}
	req, err := decode(body)
	req.Model = model
	if err == nil {
		err = req.check()
	}
	if err == nil {
		err = s.history(&req)
	}
	return &req, model, err
}
