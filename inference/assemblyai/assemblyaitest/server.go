// Package assemblyaitest is a fake of AssemblyAI's streaming recognition, /v3/ws, on loopback,
// for tests of its adapter and for measurements.
//
// It hears as package hearingtest does. The times of the protocol are time of audio. The clock
// counts for how fast audio comes, how long a client may say nothing, how long a session was
// open, and the delays of the script.
//
// What AssemblyAI refuses it refuses, and notes each mistake of its client as a violation. As
// AssemblyAI does, it opens the socket first and says then what it refuses: in an Error
// message, and again in the close frame.
package assemblyaitest

import (
	"cmp"
	"net/http"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books and what is heard are those of all fakes. EmptyFinal of an Utterance makes the
// ends of its turns empty.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
	Utterance = hearingtest.Utterance
	Pause     = hearingtest.Pause
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = "aai-test-key-0123456789"

// Close codes.
const (
	codeServer  = 3005
	codeMessage = 3006 // also of parameters that are refused
	codeAudio   = 3007
	codePolicy  = websocket.ClosePolicyViolation
)

// Script is what a server does. Its zero value hears no words.
type Script struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	// Continue counts the utterances over all connections: a new one goes on with the first
	// word of which no end of a turn was sent. It is for one client that reconnects.
	Continue bool
	Delays   Delays
	Faults   []Fault
	Traps    Traps
	Expects  []string // parts of the violations that the test means to cause

	Sockets int // at a time; 0: any number
	// TooMany is the close code of a session above Sockets; 0: 1008. Some pages say 3009.
	TooMany int
	// Burst is how much audio may come ahead of the clock; 0: 1 s, below 0: any amount.
	Burst time.Duration
	// Idle replaces the inactivity_timeout of clients that have one, which is 5 s at least.
	Idle time.Duration
}

// Delays are drawn for each message, by the clock, in addition to the time of audio. Nil: none.
type Delays struct {
	Word      func() time.Duration // a word in a partial, after its end
	Final     func() time.Duration // the end of a turn, after the last sound
	Formatted func() time.Duration // the formatted end of the same turn, after the first one
}

// Traps are what AssemblyAI may do although no document says so.
type Traps struct {
	FormattedMissing     bool // the second end of a turn never comes
	SpeechStartedMissing bool
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	*loopbacktest.Server
	script   Script
	dialogue *hearingtest.Dialogue
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	return loopbacktest.Started(t, Start, script, script.Expects)
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	script.Key = cmp.Or(script.Key, DefaultKey)
	script.TooMany = cmp.Or(script.TooMany, codePolicy)
	script.Burst = cmp.Or(script.Burst, time.Second)
	s := &Server{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue)}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{"/v3/ws": s.open})
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"type": "Turn", "turn_order": nil, "words": nil, "transcript": nil, "end_of_turn": nil},
	Fail:  func(reason string) any { return failure(codeServer, cancelled(reason)) },
	Ends:  func(reason string) (int, string) { return codeServer, cancelled(reason) },
}

func cancelled(reason string) string {
	return cmp.Or(reason, "Session Cancelled: An error occurred")
}

// failure is the message before a close frame.
func failure(code int, text string) any {
	return map[string]any{"type": "Error", "error_code": code, "error": text}
}

// open answers a handshake and serves the session.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	fault, ok := s.Admit(w, r, func(f Fault) {
		loopbacktest.Answer(w, f.Status, map[string]string{"error": http.StatusText(f.Status)})
	})
	if !ok {
		return
	}
	entered := s.Enter(s.script.Sockets)
	if entered {
		defer s.Leave()
	}
	s.Serve(w, r, nil, fault, shapes, func(k *loopbacktest.Socket) { s.begin(k, r, entered) })
}

// begin serves the session that a handshake asks for, unless it refuses it.
func (s *Server) begin(k *loopbacktest.Socket, r *http.Request, entered bool) {
	q, err := parse(r.URL.Query())
	switch key := r.Header.Get("Authorization"); {
	case r.URL.Query().Has("token"):
		s.Violate("a token is in the address: the fake gives none")
		refuse(k, codePolicy, "Unauthorized Connection: Invalid API token")
	case key == "":
		s.Violate("there is no Authorization")
		refuse(k, codePolicy, "Unauthorized Connection: Missing Authorization header")
	case key != s.Key:
		if key == "Bearer "+s.Key || key == "Token "+s.Key {
			s.Violate("Authorization is not the key alone")
		}
		refuse(k, codePolicy, "Unauthorized Connection: Invalid API key")
	case err != nil:
		s.Violate("/v3/ws: %v", err)
		refuse(k, codeMessage, "Invalid parameter: "+err.Error())
	case !entered:
		refuse(k, s.script.TooMany, "Unauthorized Connection: Too many concurrent sessions")
	default:
		serve(s, k, q)
	}
}

// refuse says why there is no session, and waits until the client has gone.
func refuse(k *loopbacktest.Socket, code int, text string) {
	_ = k.Write(failure(code, text))
	k.Close(code, text)
	for {
		if _, _, err := k.Read(); err != nil {
			return
		}
	}
}
