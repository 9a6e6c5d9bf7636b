// Package responsestest is a fake of OpenAI's Responses API, /v1/responses, on loopback, for tests of
// its adapter and for measurements.
//
// It understands nothing: its replies are those of its script, streamed in pieces that are no whole
// words of JSON. What OpenAI refuses it refuses, above all histories that no longer fit together, and
// it notes each mistake of its client as a violation. It stores nothing, and refuses to.
package responsestest

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books, Delays, Script and ToolUse are those of all models. A fault belongs to a request, its messages are the
// events of the reply; its Reason is the code of the error, such as insufficient_quota. The ID of a call is its call_id.
type (
	Fault   = loopbacktest.Fault
	Books   = loopbacktest.Books
	Delays  = loopbacktest.Delays
	Script  = loopbacktest.ModelScript[Request, Reply]
	ToolUse = loopbacktest.ToolUse
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = "sk-test-0123456789"

// Reply is what a request is answered with: first the reasoning, then the text, then the calls.
type Reply struct {
	Thinking string // its summary, sent if the request wants one; its words are tokens in any case
	Text     string
	Tools    []ToolUse
	Stop     string // why the response is incomplete, such as content_filter; "": it is completed
	Fail     string // the code of a response that fails in the end; "": it does not

	In, CacheRead, CacheWrite int // tokens: input_tokens is their sum; In 0: a quarter of the request's bytes
	Out                       int // tokens, those of the reasoning included; 0: counted from what is sent
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Model[Request, Reply]

	mu     sync.Mutex
	sealed map[string]string // encrypted_content by the id of its reasoning
	needs  map[string]string // the id of the reasoning by the call_id or id of what came after it
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	return loopbacktest.Started(t, Start, script, script.Expects)
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	s := &Server{sealed: map[string]string{}, needs: map[string]string{}}
	var err error
	s.Model, err = loopbacktest.ListenModel(script, loopbacktest.ModelVendor[Request, Reply]{
		Key: DefaultKey, Families: []string{"gpt-", "o"}, MaxBody: 32 << 20, OK: Reply{Text: "OK"},
		Post: "POST /v1/responses", List: "GET /v1/models", None: `{"object":"list","data":[]}`,
		Admit: s.admit, Read: s.read, Refuse: s.refuse, Reply: s.stream,
	})
	return s, err
}

// admit says why a request may not enter.
func (s *Server) admit(r *http.Request) error {
	key, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case !ok:
		return trouble{Status: http.StatusUnauthorized, Message: "Missing bearer or basic authentication in header"}
	case key != s.Key: // OpenAI repeats its ends
		return trouble{Status: http.StatusUnauthorized, Code: "invalid_api_key",
			Message: "Incorrect API key provided: " + key[:min(3, len(key))] + "****" + key[max(0, len(key)-4):] + ". You can find your API key at https://platform.openai.com/account/api-keys."}
	}
	return nil
}

// read reads and checks a request.
func (s *Server) read(r *http.Request, body []byte) (*Request, string, error) {
	if !loopbacktest.IsJSON(r.Header) {
		return nil, "", trouble{Message: "Unsupported Content-Type: 'application/json' is expected."}
	}
	req, err := decode(body)
	if err == nil {
		err = req.check()
	}
	if err == nil {
		err = s.history(req.Input)
	}
	return &req, req.Model, err
}
