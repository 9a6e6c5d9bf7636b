// Package anthropictest is a fake of Anthropic's Messages, /v1/messages, on loopback, for
// tests of its adapter and for measurements.
//
// It understands nothing: its replies are those of its script, streamed in pieces that are
// no whole words of JSON. What Anthropic refuses it refuses, above all histories that no
// longer fit together, and it notes each mistake of its client as a violation.
package anthropictest

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books and Delays are those of all fakes. A fault belongs to a request, its messages are the
// events of the reply.
type (
	Fault  = loopbacktest.Fault
	Books  = loopbacktest.Books
	Delays = loopbacktest.Delays
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "sk-ant-test-0123456789"
	// Version is the only anthropic-version that is accepted.
	Version = "2023-06-01"

	maxBody = 32 << 20 // bytes of a request
)

// Script is what a server does. Its zero value says OK.
type Script struct {
	Key string // "": DefaultKey
	// Replies are given in turn, one for each request that is accepted; the last one repeats.
	Replies []Reply
	// Answer, when set, decides instead. n counts accepted requests from 0.
	Answer   func(n int, r Request) Reply
	Delays   Delays
	Faults   []Fault
	Expects  []string // parts of the violations that the test means to cause
	Requests int      // in progress at a time, more get 429; 0: any number
	Models   []string // nil: all that begin with claude-
}

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

// ToolUse is a call. The server gives it an id when it has none.
type ToolUse struct {
	ID, Name string
	Input    string   // a JSON object; "": {}
	Pieces   []string // of Input, as they are sent; nil: small ones
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Server
	script Script

	asked atomic.Int64 // requests that were accepted

	mu       sync.Mutex
	thoughts map[string]string // by signature
	signed   map[string]string // signatures by the id of a call that came with one
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	s, err := Start(script)
	if err != nil {
		t.Fatal(err)
	}
	s.Watch(t, script.Expects)
	return s
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	script.Key = cmp.Or(script.Key, DefaultKey)
	s := &Server{script: script, thoughts: map[string]string{}, signed: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.messages)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) { // of a client that warms its connection
		if r.Header.Get("x-api-key") != s.Key {
			s.refuse(w, http.StatusUnauthorized, "invalid x-api-key")
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":[],"has_more":false}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.Violate("%s %s does not exist", r.Method, r.URL.Path)
		s.refuse(w, http.StatusNotFound, "Not found")
	})
	var err error
	s.Server, err = loopbacktest.Listen(script.Key, script.Faults, mux)
	return s, err
}

// messages answers one request.
func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	fault := s.Next()
	body, err := s.Receive(w, r, maxBody)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		s.Violate("a request of more than %d bytes", maxBody)
		s.refuse(w, http.StatusRequestEntityTooLarge, "Request exceeds the maximum size")
		return
	case err != nil:
		return
	case fault.Status != 0:
		fault.Headers(w.Header())
		s.refuse(w, fault.Status, "")
		return
	case r.Header.Get("x-api-key") != s.Key:
		s.refuse(w, http.StatusUnauthorized, "invalid x-api-key")
		return
	}
	req, status, err := s.parse(r.Header, body)
	if err != nil {
		if status == http.StatusBadRequest {
			s.Violate("%v", err)
		}
		s.refuse(w, status, err.Error())
		return
	}
	if !s.Enter(s.script.Requests) {
		s.refuse(w, http.StatusTooManyRequests, "")
		return
	}
	defer s.Leave()
	reply := s.complete(&req, loopbacktest.NextReply(&s.asked, req, s.script.Answer, s.script.Replies, Reply{Text: "OK"}))
	s.Note(func(b *Books) {
		b.Requests++
		b.Body = body
		b.TokensIn += reply.In
		b.CacheRead += reply.CacheRead
		b.CacheWrite += reply.CacheWrite
	})
	w.Header().Set("request-id", s.Numbered("req_"))
	limits(w.Header(), 1)
	if !req.Stream {
		s.whole(w, &req, reply)
		return
	}
	s.stream(w, r, fault, &req, reply)
}

// parse reads and checks a request. The status belongs to an error.
func (s *Server) parse(h http.Header, body []byte) (Request, int, error) {
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return Request{}, http.StatusBadRequest, errors.New("content-type: must be application/json")
	}
	if v := h.Get("anthropic-version"); v != Version {
		return Request{}, http.StatusBadRequest, errors.New("anthropic-version: header is required and must be " + Version)
	}
	req, err := decode(body)
	if err == nil {
		err = req.check()
	}
	if err == nil {
		err = s.history(req.Messages)
	}
	if err != nil {
		return req, http.StatusBadRequest, err
	}
	if !s.knows(req.Model) {
		return req, http.StatusNotFound, errors.New("model: " + req.Model)
	}
	return req, 0, nil
}
