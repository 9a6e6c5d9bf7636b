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

// Fault and Books are those of all fakes.
type (
	Fault = loopbacktest.Fault
	Books = loopbacktest.Books
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

// Delays are drawn each time, by the clock. Nil: none.
type Delays struct {
	FirstAudio func() time.Duration // a context's first audio after its first text
	Chunk      func() time.Duration // each later chunk
}

// Context is what became known of one context. It ends done, cancelled, expired or cut.
type Context = speakingtest.Context

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
	script.ContextLife = cmp.Or(script.ContextLife, time.Second)
	script.Idle = cmp.Or(script.Idle, 5*time.Minute)
	if script.Voices == nil {
		script.Voices = []string{DefaultVoice}
	}
	s := &Server{script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("/tts/websocket", s.connect)
	var err error
	s.Server, err = loopbacktest.Listen(script.Key, script.Faults, mux)
	return s, err
}

// Contexts are all contexts in the order in which they began. The caller owns the list.
func (s *Server) Contexts() []Context { return s.log.Contexts() }

// connect answers a handshake and serves the socket.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "" {
		s.Violate("the address has a query: keys do not belong into addresses")
	}
	fault, ok := Admit(s.Server, w, r)
	if !ok {
		return
	}
	k, ok := s.Upgrade(w, r, nil, fault, shapes)
	if !ok {
		return
	}
	defer k.End()
	newSocket(s, k).serve()
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"type": "chunk", "data": nil, "done": nil, "context_id": nil, "status_code": nil},
	Fail: func(reason string) any {
		return Failure(http.StatusInternalServerError, "", reason)
	},
}

func (s *Server) knows(voice string) bool { return slices.Contains(s.script.Voices, voice) }
