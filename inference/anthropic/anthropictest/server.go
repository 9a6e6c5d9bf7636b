// Package anthropictest is a fake of Anthropic's Messages, /v1/messages, on loopback, for
// tests of its adapter and for measurements.
//
// It understands nothing: its replies are those of its script, streamed in pieces that are
// no whole words of JSON. What Anthropic refuses it refuses, above all histories that no
// longer fit together, and it notes each mistake of its client as a violation.
package anthropictest

import (
	"errors"
	"net/http"
	"sync"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books, Delays, Script and ToolUse are those of all models. A fault belongs to a request, its messages are the
// events of the reply.
type (
	Fault   = loopbacktest.Fault
	Books   = loopbacktest.Books
	Delays  = loopbacktest.Delays
	Script  = loopbacktest.ModelScript[Request, Reply]
	ToolUse = loopbacktest.ToolUse
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "sk-ant-test-0123456789"
	// Version is the only anthropic-version that is accepted.
	Version = "2023-06-01"
)

// Reply is what a request is answered with: first the thinking, then the text, then the calls.
type Reply struct {
	Thinking string
	Text     string
	Tools    []ToolUse
	Stop     string // the stop_reason; "": tool_use with calls, or else end_turn
	Sequence string // the stop_sequence

	In, CacheRead, CacheWrite int // tokens; In 0: a quarter of the request's bytes
	Out                       int // tokens; 0: counted from what is sent
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Model[Request, Reply]

	mu       sync.Mutex
	thoughts map[string]string // by signature
	signed   map[string]string // signatures by the id of a call that came with one
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	return loopbacktest.Started(t, Start, script, script.Expects)
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	s := &Server{thoughts: map[string]string{}, signed: map[string]string{}}
	var err error
	s.Model, err = loopbacktest.ListenModel(script, loopbacktest.ModelVendor[Request, Reply]{
		Key: DefaultKey, Families: []string{"claude-"}, MaxBody: 32 << 20, OK: Reply{Text: "OK"},
		Post: "POST /v1/messages", List: "GET /v1/models", None: `{"data":[],"has_more":false}`,
		Admit: s.admit, Read: s.read, Refuse: s.refuse, Reply: s.reply,
	})
	return s, err
}

// admit says why a request may not enter.
func (s *Server) admit(r *http.Request) error {
	if r.Header.Get("x-api-key") != s.Key {
		return loopbacktest.Refusal{Fault: Fault{Status: http.StatusUnauthorized}, Message: "invalid x-api-key"}
	}
	return nil
}

// read reads and checks a request.
func (s *Server) read(r *http.Request, body []byte) (*Request, string, error) {
	if !loopbacktest.IsJSON(r.Header) {
		return nil, "", errors.New("content-type: must be application/json")
	}
	if v := r.Header.Get("anthropic-version"); v != Version {
		return nil, "", errors.New("anthropic-version: header is required and must be " + Version)
	}
	req, err := decode(body)
	if err == nil {
		err = req.check()
	}
	if err == nil {
		err = s.history(req.Messages)
	}
	return &req, req.Model, err
}

// reply answers a request that was accepted.
func (s *Server) reply(w http.ResponseWriter, r *http.Request, f Fault, req *Request, reply Reply) {
	a := s.complete(req, reply)
	w.Header().Set("request-id", s.Numbered("req_"))
	limits(w.Header(), 1)
	if !req.Stream {
		s.whole(w, req, a)
		return
	}
	s.stream(w, r, f, req, a)
}
