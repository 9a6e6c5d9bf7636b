// Package cartesiatest is a fake of Cartesia's synthesis on loopback, /tts/websocket, for
// tests of its adapter and for measurements.
//
// Its voice is a tone of 60 ms for each character, at the speed asked for, so the length of
// its audio and the times of its words can be computed. It sends faster than real time. What
// Cartesia refuses it refuses, and notes each mistake of its client as a violation.
package cartesiatest

import (
	"cmp"
	"net/http"
	"slices"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// Fault, Books, Delays and Context are those of all fakes. A Context ends done, cancelled, expired or cut.
type (
	Fault   = loopbacktest.Fault
	Books   = loopbacktest.Books
	Delays  = speakingtest.Delays
	Context = speakingtest.Context
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "sk_car_test_0123456789"
	// DefaultVoice is known when the script names no voices.
	DefaultVoice = "2c9f1a52-77ab-4f36-9d5e-0c1be0c0ffee"
	// CharacterTime is the audio of one character at normal speed.
	CharacterTime = speakingtest.CharacterTime
)

// Script is what a server does. Its zero value speaks at once.
type Script struct {
	Key     string   // "": DefaultKey
	Voices  []string // ids; nil: DefaultVoice
	Delays  Delays
	Faults  []Fault
	Expects []string // parts of the violations that the test means to cause

	Contexts    int           // in progress at a time over all sockets, more get an error 429; 0: any number
	ContextLife time.Duration // of an open context after its last audio, by the clock; 0: 1 s
	Idle        time.Duration // of a socket without contexts and messages, by the clock; 0: 5 min
	LateChunks  int           // that still come after a cancel which meets a context that speaks
	Endings     Endings
}

// Endings are whether a context says that it is over where no document says so.
type Endings struct {
	DoneAfterCancel bool
	DoneAfterExpiry bool // after ContextLife
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
	script.ContextLife = cmp.Or(script.ContextLife, time.Second)
	script.Idle = cmp.Or(script.Idle, 5*time.Minute)
	if script.Voices == nil {
		script.Voices = []string{DefaultVoice}
	}
	s := &Server{script: script}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{"/tts/websocket": s.connect})
}

// connect answers a handshake and serves the socket.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "" {
		s.Violate("the address has a query: keys do not belong into addresses")
	}
	if fault, ok := Admit(s.Loopback(), w, r); ok {
		s.Serve(w, r, nil, fault, shapes, func(k *loopbacktest.Socket) { newSocket(s, k).serve() })
	}
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"type": "chunk", "data": nil, "done": nil, "context_id": nil, "status_code": nil},
	Fail: func(reason string) any {
		return Failure(http.StatusInternalServerError, "", reason)
	},
}

func (s *Server) knows(voice string) bool { return slices.Contains(s.script.Voices, voice) }
