// Package scribetest is a fake of ElevenLabs' streaming recognition, /v1/speech-to-text/realtime with
// scribe_v2_realtime, on loopback, for tests of its adapter and for measurements.
//
// It hears as package hearingtest does. The times of the protocol are time of audio, so a test may send
// audio as fast as it likes. The clock counts for two things alone: how long a client may say nothing, and
// the delays of the script.
//
// What ElevenLabs refuses it refuses, and notes each mistake of its client as a violation.
//
// The specification has the address with its parameters, the chunks, what is received, and the names of errors.
// From ElevenLabs' documentation and SDK are the ranges of the parameters of vad, that a commit needs 0.3 s of
// audio and is else throttled while the session goes on, the error insufficient_audio_activity, and that an error
// has its text in the field error. That errors but throttling end the session, with 1008, that a wrong key and
// wrong parameters are refused after the upgrade, and the default of Idle are assumed.
package scribetest

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/elevenlabs/elevenlabstest"
	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books, Delays and what is heard are those of all fakes. A Fail is a transcriber_error, unless its Reason begins
// with another error, as in "quota_exceeded There is no more." EmptyFinal of an Utterance makes committed
// transcripts empty.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
	Delays    = hearingtest.Delays
	Utterance = hearingtest.Utterance
	Pause     = hearingtest.Pause
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = elevenlabstest.DefaultKey

// Script is what a server does. Its zero value hears no words.
type Script struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	// Continue counts the utterances over all connections: a new one goes on with the first
	// word that was not committed. It is for one client that reconnects.
	Continue bool
	Delays   Delays
	Faults   []Fault
	Traps    Traps
	Expects  []string // parts of the violations that the test means to cause
	Sockets  int      // at a time, more are refused with 429; 0: any number

	Idle time.Duration // without a chunk, by the clock; 0: 15 s
}

// Traps are what ElevenLabs may do although no document says so.
type Traps struct {
	CommitUnanswered bool // when there were no words since the last one
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
	script.Idle = cmp.Or(script.Idle, 15*time.Second)
	s := &Server{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue)}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{"/v1/speech-to-text/realtime": s.open})
}

// open answers a handshake and serves the session.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	fault, ok := s.Admit(w, r, func(f Fault) { elevenlabstest.Refuse(w, f.Status, "", "") })
	if !ok {
		return
	}
	if !s.Enter(s.script.Sockets) {
		elevenlabstest.Refuse(w, http.StatusTooManyRequests, "", "")
		return
	}
	defer s.Leave()
	s.Serve(w, r, nil, fault, shapes, func(k *loopbacktest.Socket) {
		c := newSession(s, k)
		c.start(r)
		c.serve(k)
	})
}

// start begins the session that a handshake asks for, or ends it.
func (c *session) start(r *http.Request) {
	q, err := parseQuery(r.URL.Query())
	switch key := r.Header.Get("xi-api-key"); {
	case r.URL.Query().Has("token"):
		c.server.Violate("a token is in the address: the fake gives none")
		c.end("auth_error", "the token is not valid")
	case key == "":
		c.server.Violate("there is no xi-api-key")
		c.end("auth_error", "you must be authenticated")
	case key != c.server.Key:
		c.end("auth_error", "the key is not valid")
	case err != nil:
		c.fail(err.Error())
	default:
		c.begin(q)
	}
}

// failures are the types of messages that report one.
var failures = strings.Fields(`error auth_error quota_exceeded quota_exceeded_error transcriber_error input_error commit_throttled
	unaccepted_terms_error insufficient_audio_activity`)

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"message_type": "partial_transcript", "text": nil},
	Fail: func(reason string) any {
		name, rest, _ := strings.Cut(reason, " ")
		if !slices.Contains(failures, name) {
			name, rest = "transcriber_error", cmp.Or(reason, "the transcriber has failed")
		}
		return failure(name, rest)
	},
	Ends: func(reason string) (int, string) { return websocket.ClosePolicyViolation, reason },
}

// failure is the vendor's message of an error.
func failure(name, text string) map[string]any {
	return map[string]any{"message_type": name, "error": text}
}
