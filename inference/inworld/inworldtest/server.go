// Package inworldtest is a fake of Inworld's synthesis on loopback, /tts/v1/voice:streamBidirectional, for
// tests of its adapter and for measurements.
//
// It speaks as package speakingtest does, faster than real time, the contexts of a socket at once. What
// Inworld refuses it refuses, and notes each mistake of its client as a violation.
//
// The specification has the address, the names of messages and fields, the header of each chunk and status 5.
// The rest is from Inworld's documentation: 5 contexts for a socket, 1000 characters for a text, the end of an
// idle socket after 10 minutes, that a context which is closed speaks what it holds first, that each generation
// has its flushCompleted and times of its own, and the encodings. Its statuses but 5 are those that gRPC has for
// such refusals; the bodies of refused handshakes, the default of bufferCharThreshold and the ranges of numbers
// are assumed.
package inworldtest

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// Fault, Books and Context are those of all fakes. A Context ends closed or cut.
type (
	Fault   = loopbacktest.Fault
	Books   = loopbacktest.Books
	Context = speakingtest.Context
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "aW53b3JsZDp0ZXN0LWtleS0wMTIz"
	// DefaultVoice is known when the script names no voices.
	DefaultVoice = "Ashley"
	// CharacterTime is the audio of one character at normal speed.
	CharacterTime = speakingtest.CharacterTime
	// ContextsPerSocket may be open at a time, those counted whose contextClosed was not sent.
	ContextsPerSocket = 5
	// MaxText is how many characters one send_text may have.
	MaxText = 1000
)

// Script is what a server does. Its zero value speaks at once.
type Script struct {
	Key     string   // "": DefaultKey
	Voices  []string // ids; nil: DefaultVoice
	Delays  Delays
	Faults  []Fault
	Expects []string // parts of the violations that the test means to cause

	Contexts int           // open at a time over all sockets, more are refused; 0: any number
	Idle     time.Duration // of a socket without messages, by the clock; 0: 10 min
	// LateChunks still come after a close_context, of the audio that was asked for before it. 0: all of it,
	// as the vendor documents; below 0: none.
	LateChunks int
}

// Delays are drawn each time, by the clock. Nil: none.
type Delays struct {
	FirstAudio func() time.Duration // a context's first audio after its text was given to be spoken
	Chunk      func() time.Duration // each later chunk
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Server
	script Script
	log    speakingtest.Log
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
	script.Idle = cmp.Or(script.Idle, 10*time.Minute)
	if script.Voices == nil {
		script.Voices = []string{DefaultVoice}
	}
	s := &Server{script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("/tts/v1/voice:streamBidirectional", s.connect)
	var err error
	s.Server, err = loopbacktest.Listen(script.Key, script.Faults, mux)
	return s, err
}

// Contexts are all contexts in the order in which they began. The caller owns the list.
func (s *Server) Contexts() []Context { return s.log.Contexts() }

// connect answers a handshake and serves the socket.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	s.Note(func(b *Books) { b.Query, b.Header = r.URL.Query(), r.Header.Clone() })
	fault := s.Next()
	if fault.Status != 0 {
		fault.Headers(w.Header())
		refuse(w, fault.Status)
		return
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != "Basic" {
		s.Violate("Authorization is not Basic KEY")
	}
	if r.URL.RawQuery != "" {
		s.Violate("there is a query: keys and settings do not belong into the address")
	}
	if scheme != "Basic" || key != s.Key {
		refuse(w, http.StatusUnauthorized)
		return
	}
	k, ok := s.Upgrade(w, r, nil, fault, shapes)
	if !ok {
		return
	}
	defer k.End()
	serve(s, k)
}

// Codes of gRPC.
const (
	codeInvalid   = 3
	codeNotFound  = 5
	codeExists    = 6
	codeExhausted = 8
	codeInternal  = 13
)

// codes are those of refused handshakes.
var codes = map[int]int{
	http.StatusBadRequest: codeInvalid, http.StatusUnauthorized: 16, http.StatusForbidden: 7,
	http.StatusTooManyRequests: codeExhausted, http.StatusServiceUnavailable: 14,
}

// status is the vendor's object of how something went.
func status(code int, message string) map[string]any {
	return map[string]any{"code": code, "message": message, "details": []any{}}
}

// refuse answers a handshake with an error.
func refuse(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(status(cmp.Or(codes[code], codeInternal), http.StatusText(code)))
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"result": map[string]any{"contextId": nil, "audioChunk": nil, "status": nil}},
	Fail: func(reason string) any {
		return map[string]any{"error": status(codeInternal, cmp.Or(reason, "internal error"))}
	},
}
