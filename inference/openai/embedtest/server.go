// Package embedtest is a fake of OpenAI's embeddings, POST /v1/embeddings, on loopback, for tests of its adapter and of
// what searches by them.
//
// A vector says which words its text has: texts with the same words have the same vector, whatever their order. Words
// that a script says mean the same count as one. What OpenAI refuses it refuses, and notes each mistake of its client as a
// violation.
//
// OpenAI's documentation has the fields, their limits, the models with the length of their vectors, and the form of
// errors. What a text is in tokens is made up: 4 characters.
package embedtest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"mime"
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
)

// Fault and Books are those of all fakes. A fault belongs to a request.
type (
	Fault = loopbacktest.Fault
	Books = loopbacktest.Books
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "sk-test-embeddings-0123456789"

	maxBody   = 8 << 20 // bytes of a request
	maxInputs = 2048
	maxTokens = 8192 // of one text
	maxTotal  = 300_000
)

// dimensions are the lengths of the vectors of each model.
var dimensions = map[string]int{"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}

// Script is what a server does. Its zero value answers at once.
type Script struct {
	Key     string // "": DefaultKey
	Faults  []Fault
	Expects []string // parts of the violations that the test means to cause
	// Same are words, in small letters, with the word that means the same.
	Same map[string]string
	// Backwards has the vectors come in the opposite order, each with its number.
	Backwards bool
	// Change replaces what is answered, a JSON object; nil: nothing does.
	Change func(answer map[string]any) any
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Server
	script Script
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	return loopbacktest.Started(t, Start, script, script.Expects)
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	script.Key = cmp.Or(script.Key, DefaultKey)
	s := &Server{script: script}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{
		"POST /v1/embeddings": s.embeddings,
		"/": func(w http.ResponseWriter, r *http.Request) {
			s.Violate("%s %s does not exist", r.Method, r.URL.Path)
			refuse(w, http.StatusNotFound, refusal{message: "Invalid URL"})
		},
	})
}

// request is the body of a request.
type request struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"` // the vendor also takes one text, and tokens
	Encoding   string   `json:"encoding_format"`
	Dimensions *int     `json:"dimensions"`
	User       string   `json:"user"`
}

// read reads a request, and says why it is refused; nil: it is not. It does not look for the model.
func read(h http.Header, body []byte) (*request, *refusal) {
	r := &request{}
	if kind, _, err := mime.ParseMediaType(h.Get("Content-Type")); err != nil || kind != "application/json" {
		return r, &refusal{"you must use application/json", "Content-Type", "unsupported_content_type"}
	}
	if err := loopbacktest.Strict(body, r); err != nil {
		return r, &refusal{err.Error(), "body", "unknown_parameter"}
	}
	wrong := func(param, format string, args ...any) (*request, *refusal) {
		return r, &refusal{fmt.Sprintf(format, args...), param, "invalid_value"}
	}
	switch {
	case r.Model == "":
		return wrong("model", "is required")
	case len(r.Input) == 0 || len(r.Input) > maxInputs:
		return wrong("input", "has %d texts, 1-%d", len(r.Input), maxInputs)
	case r.Encoding != "" && r.Encoding != "float":
		return wrong("encoding_format", "the fake has no %s", r.Encoding)
	case r.Dimensions != nil && (!strings.HasPrefix(r.Model, "text-embedding-3") || *r.Dimensions < 1 || *r.Dimensions > dimensions[r.Model]):
		return wrong("dimensions", "%d is not supported by %s", *r.Dimensions, r.Model)
	}
	total := 0
	for _, text := range r.Input {
		n := tokens(text)
		total += n
		switch {
		case text == "":
			return wrong("input", "a text cannot be an empty string")
		case n > maxTokens:
			return wrong("input", "this model's maximum context length is %d tokens, %d were requested", maxTokens, n)
		}
	}
	if total > maxTotal {
		return wrong("input", "%d tokens, %d at most", total, maxTotal)
	}
	return r, nil
}

func tokens(text string) int { return (utf8.RuneCountInString(text) + 3) / 4 }

// refusal is why a request is refused. Its param and code may be empty.
type refusal struct{ message, param, code string }

// kinds are the types and codes of errors by their status.
var kinds = map[int][2]string{
	http.StatusUnauthorized:        {"invalid_request_error", "invalid_api_key"},
	http.StatusTooManyRequests:     {"requests", "rate_limit_exceeded"},
	http.StatusInternalServerError: {"server_error", "server_error"},
}

// refuse answers a request with an error.
func refuse(w http.ResponseWriter, status int, r refusal) {
	w.Header().Set("x-request-id", loopbacktest.ID())
	loopbacktest.Answer(w, status, map[string]any{"error": map[string]any{"message": r.message, "type": cmp.Or(kinds[status][0], "invalid_request_error"),
		"param": r.param, "code": cmp.Or(r.code, kinds[status][1])}})
}

// embeddings answers one request.
func (s *Server) embeddings(w http.ResponseWriter, r *http.Request) {
	f := s.Next()
	body, err := s.Receive(w, r, maxBody)
	switch {
	case err != nil:
		return
	case f.Status != 0:
		f.Headers(w.Header())
		refuse(w, f.Status, refusal{message: http.StatusText(f.Status), code: f.Reason})
		return
	}
	if _, ok := s.Bears(r, "Bearer"); !ok {
		refuse(w, http.StatusUnauthorized, refusal{message: "Incorrect API key provided."})
		return
	}
	req, mistake := read(r.Header, body)
	if mistake != nil {
		s.Violate("%s: %s", mistake.param, mistake.message)
		refuse(w, http.StatusBadRequest, *mistake)
		return
	}
	size, known := dimensions[req.Model]
	if !known {
		refuse(w, http.StatusNotFound, refusal{"The model does not exist.", "model", "model_not_found"})
		return
	}
	if req.Dimensions != nil {
		size = *req.Dimensions
	}
	loopbacktest.Answer(w, http.StatusOK, s.answer(req, size, body))
}

// answer is what a request gets, and counts it.
func (s *Server) answer(req *request, size int, body []byte) any {
	total := 0
	list := make([]any, len(req.Input))
	for i, text := range req.Input {
		total += tokens(text)
		at := i
		if s.script.Backwards {
			at = len(list) - 1 - i
		}
		list[at] = map[string]any{"object": "embedding", "index": i, "embedding": s.vector(text, size)}
	}
	s.Note(func(b *Books) {
		b.Requests++
		b.TokensIn += total
		b.Body = body
	})
	answer := map[string]any{"object": "list", "data": list, "model": req.Model, "usage": map[string]any{"prompt_tokens": total, "total_tokens": total}}
	if s.script.Change != nil {
		return s.script.Change(answer)
	}
	return answer
}

// vector has a place for each word, and length 1.
func (s *Server) vector(text string, size int) []float32 {
	v := make([]float32, size)
	square := 0.0
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		word = cmp.Or(s.script.Same[word], word)
		h := fnv.New32a()
		h.Write([]byte(word))
		at := int(h.Sum32() % uint32(size))
		square += float64(2*v[at] + 1)
		v[at]++
	}
	if square == 0 {
		v[0], square = 1, 1
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(square))
	}
	return v
}
