// Package geminitest is a fake of Google's Gemini API, :streamGenerateContent, on loopback, for tests
// of its adapter and for measurements.
//
// It understands nothing: its replies are those of its script. What Gemini refuses it refuses, above
// all histories whose calls lack results or signatures, and it notes each mistake of its client as a
// violation. Keys in a URL are one, though Google takes them.
package geminitest

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
// events of the reply; its Reason is the status of the error, such as RESOURCE_EXHAUSTED.
type (
	Fault  = loopbacktest.Fault
	Books  = loopbacktest.Books
	Delays = loopbacktest.Delays
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "AIza-test-0123456789"

	maxBody = 20 << 20 // bytes of a request
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
	Models   []string // nil: all that begin with gemini-
}

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

// ToolUse is a call, which comes whole. From Gemini 3 on the server gives it an id when it has none.
type ToolUse struct {
	ID, Name string
	Input    string // a JSON object; "": {}
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Server
	script Script

	asked atomic.Int64 // requests that were accepted

	mu     sync.Mutex
	signed map[string]string // by signature the call that came with it, "" with a text
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
	s := &Server{script: script, signed: map[string]string{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1beta/models/{call}", s.generate)
	mux.HandleFunc("GET /v1beta/models", func(w http.ResponseWriter, r *http.Request) { // of a client that warms its connection
		if err := s.enter(r); err != nil {
			s.refuse(w, err, 0)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		_, _ = io.WriteString(w, `{"models":[]}`)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		s.Violate("%s %s does not exist", r.Method, r.URL.Path)
		s.refuse(w, trouble{Status: notFound, Message: "Requested entity was not found."}, 0)
	})
	var err error
	s.Server, err = loopbacktest.Listen(script.Key, script.Faults, mux)
	return s, err
}

// enter says why a request may not enter.
func (s *Server) enter(r *http.Request) error {
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

// generate answers one request.
func (s *Server) generate(w http.ResponseWriter, r *http.Request) {
	fault := s.Next()
	body, err := s.Receive(w, r, maxBody)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		s.Violate("a request of more than %d bytes", maxBody)
		s.refuse(w, invalid("Request payload size exceeds the limit: %d bytes.", maxBody), 0)
		return
	case err != nil:
		return
	case fault.Status != 0:
		s.refuse(w, trouble{Status: cmp.Or(fault.Reason, statusOf(fault.Status)), Code: fault.Status}, fault.RetryAfter)
		return
	}
	if err := s.enter(r); err != nil {
		s.refuse(w, err, 0)
		return
	}
	req, err := s.parse(r, body)
	if err != nil {
		var t trouble
		if !errors.As(err, &t) || t.Status != notFound {
			s.Violate("%v", err)
		}
		s.refuse(w, err, 0)
		return
	}
	if !s.Enter(s.script.Requests) {
		s.refuse(w, trouble{Status: "RESOURCE_EXHAUSTED"}, 0)
		return
	}
	defer s.Leave()
	reply := s.complete(&req, loopbacktest.NextReply(&s.asked, req, s.script.Answer, s.script.Replies, Reply{Text: "OK"}))
	s.Note(func(b *Books) {
		b.Requests++
		b.Body = body
		b.TokensIn += reply.In
		b.CacheRead += reply.CacheRead
	})
	s.stream(w, r, fault, &req, reply)
}

// parse reads and checks a request.
func (s *Server) parse(r *http.Request, body []byte) (Request, error) {
	model, method, _ := strings.Cut(r.PathValue("call"), ":")
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case method != "streamGenerateContent" || r.URL.Query().Get("alt") != "sse":
		return Request{}, invalid("The fake answers :streamGenerateContent?alt=sse alone.")
	case err != nil || kind != "application/json":
		return Request{}, invalid("Content-Type must be application/json.")
	}
	req, err := decode(body)
	req.Model = model
	if err == nil {
		err = req.check()
	}
	if err == nil {
		err = s.history(&req)
	}
	if err == nil && !s.knows(model) {
		err = trouble{Status: notFound, Message: "models/" + model + " is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."}
	}
	return req, err
}

func (s *Server) knows(model string) bool {
	if s.script.Models == nil {
		return strings.HasPrefix(model, "gemini-")
	}
	return slices.Contains(s.script.Models, model)
}
