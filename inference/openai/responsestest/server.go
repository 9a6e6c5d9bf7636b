// Package responsestest is a fake of OpenAI's Responses API, /v1/responses, on loopback, for tests of
// its adapter and for measurements.
//
// It understands nothing: its replies are those of its script, streamed in pieces that are no whole
// words of JSON. What OpenAI refuses it refuses, above all histories that no longer fit together, and
// it notes each mistake of its client as a violation. It stores nothing, and refuses to.
package responsestest

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books and Delays are those of all fakes. A fault belongs to a request, its messages are the
// events of the reply; its Reason is the code of the error, such as insufficient_quota.
type (
	Fault  = loopbacktest.Fault
	Books  = loopbacktest.Books
	Delays = loopbacktest.Delays
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "sk-test-0123456789"

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
	Models   []string // nil: all that begin with gpt- or o
}

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

// ToolUse is a call. ID is its call_id, which the server chooses when it is empty.
type ToolUse struct {
	ID, Name string
	Input    string   // the arguments, a JSON object; "": {}
	Pieces   []string // of Input, as they are sent; nil: small ones
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Server
	script Script

	asked atomic.Int64 // requests that were accepted

	mu     sync.Mutex
	sealed map[string]string // encrypted_content by the id of its reasoning
	needs  map[string]string // the id of the reasoning by the call_id or id of what came after it
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
	s := &Server{script: script, sealed: map[string]string{}, needs: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", s.respond)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) { // of a client that warms its connection
		if err := s.enter(r); err != nil {
			s.refuse(w, err)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"object":"list","data":[]}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.Violate("%s %s does not exist", r.Method, r.URL.Path)
		s.refuse(w, trouble{Status: http.StatusNotFound, Message: "Invalid URL (" + r.Method + " " + r.URL.Path + ")"})
	})
	var err error
	s.Server, err = loopbacktest.Listen(script.Key, script.Faults, mux)
	return s, err
}

// enter says why a request may not enter.
func (s *Server) enter(r *http.Request) error {
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

// respond answers one request.
func (s *Server) respond(w http.ResponseWriter, r *http.Request) {
	fault := s.Next()
	body, err := s.Receive(w, r, maxBody)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		s.Violate("a request of more than %d bytes", maxBody)
		s.refuse(w, trouble{Status: http.StatusRequestEntityTooLarge, Message: "The request is too large."})
		return
	case err != nil:
		return
	case fault.Status != 0:
		fault.Headers(w.Header())
		s.refuse(w, trouble{Status: fault.Status, Code: fault.Reason})
		return
	}
	if err := s.enter(r); err != nil {
		s.refuse(w, err)
		return
	}
	req, err := s.parse(r.Header, body)
	if err != nil {
		var t trouble
		if !errors.As(err, &t) || t.Code != unknownModel {
			s.Violate("%v", err)
		}
		s.refuse(w, err)
		return
	}
	if !s.Enter(s.script.Requests) {
		s.refuse(w, trouble{Status: http.StatusTooManyRequests})
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
	w.Header().Set("x-request-id", s.Numbered("req_"))
	limits(w.Header(), 1)
	s.stream(w, r, fault, &req, reply)
}

// parse reads and checks a request.
func (s *Server) parse(h http.Header, body []byte) (Request, error) {
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return Request{}, trouble{Message: "Unsupported Content-Type: 'application/json' is expected."}
	}
	req, err := decode(body)
	if err == nil {
		err = req.check()
	}
	if err == nil && !s.knows(req.Model) {
		err = trouble{Status: http.StatusNotFound, Code: unknownModel, Message: "The model '" + req.Model + "' does not exist or you do not have access to it."}
	}
	if err == nil {
		err = s.history(req.Input)
	}
	return req, err
}

func (s *Server) knows(model string) bool {
	if s.script.Models == nil {
		return strings.HasPrefix(model, "gpt-") || strings.HasPrefix(model, "o")
	}
	return slices.Contains(s.script.Models, model)
}
