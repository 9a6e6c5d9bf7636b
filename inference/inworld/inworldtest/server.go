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
	"net/http"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// Fault, Books, Delays and Context are those of all fakes. A Context ends closed or cut.
type (
	Fault   = loopbacktest.Fault
	Books   = loopbacktest.Books
	Delays  = speakingtest.Delays
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

// Server is the fake. Safe for concurrent use.
type Server struct {
	speakingtest.Fake
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
	script.Idle = cmp.Or(script.Idle, 10*time.Minute)
	if script.Voices == nil {
		script.Voices = []string{DefaultVoice}
	}
	s := &Server{script: script}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{"/tts/v1/voice:streamBidirectional": s.connect})
}

// connect answers a handshake and serves the socket.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	refuse := func(f Fault) {
		loopbacktest.Answer(w, f.Status, status(cmp.Or(codes[f.Status], codeInternal), http.StatusText(f.Status)))
	}
	fault, ok := s.Admit(w, r, refuse)
	if !ok {
		return
	}
	_, ok = s.Bears(r, "Basic")
	if r.URL.RawQuery != "" {
		s.Violate("there is a query: keys and settings do not belong into the address")
	}
	if !ok {
		refuse(Fault{Status: http.StatusUnauthorized})
		return
	}
	s.Serve(w, r, nil, fault, shapes, func(k *loopbacktest.Socket) { serve(s, k) })
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

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"result": map[string]any{"contextId": nil, "audioChunk": nil, "status": nil}},
	Fail: func(reason string) any {
		return map[string]any{"error": status(codeInternal, cmp.Or(reason, "internal error"))}
	},
}
