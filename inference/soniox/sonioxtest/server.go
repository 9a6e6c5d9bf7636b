// Package sonioxtest is a fake of Soniox' streaming recognition, /transcribe-websocket, on
// loopback, for tests of its adapter and for measurements.
//
// It hears as package hearingtest does. The times of the protocol are time of audio, so a test
// may send audio as fast as it likes. The clock counts for two things alone: how long a client
// may say nothing, and the delays of the script.
//
// What Soniox refuses it refuses, and notes each mistake of its client as a violation.
package sonioxtest

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books, Delays and what is heard are those of all fakes. A Fail says that the request cannot go on,
// 503, unless its Reason begins with another code, as in "408 Input too slow". EmptyFinal of an
// Utterance leaves out its final tokens.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
	Delays    = hearingtest.Delays
	Utterance = hearingtest.Utterance
	Pause     = hearingtest.Pause
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = "soniox-test-key-0123456789"

// Script is what a server does. Its zero value hears no words.
type Script struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	// Continue counts the utterances over all connections: a new one goes on with the first
	// word of which no final token was sent. It is for one client that reconnects.
	Continue bool
	Delays   Delays
	Faults   []Fault
	Traps    Traps
	Expects  []string // parts of the violations that the test means to cause
	Sockets  int      // at a time, more get 429 when they begin; 0: any number

	Idle       time.Duration // without audio or keepalive, by the clock; 0: 20 s
	FinalAfter time.Duration // how old a word is that becomes final while speech goes on; 0: 1 s
	EndAfter   time.Duration // of quiet until an endpoint; 0: 400 ms
}

// Traps are what Soniox may do although no document says so.
type Traps struct {
	FinalizeUnanswered bool // when no words are pending
	EndAfterFin        bool // the endpoint of speech comes although it was finalized
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
	script.Idle = cmp.Or(script.Idle, 20*time.Second)
	script.FinalAfter = cmp.Or(script.FinalAfter, time.Second)
	script.EndAfter = cmp.Or(script.EndAfter, 400*time.Millisecond)
	s := &Server{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue)}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{"/transcribe-websocket": s.open})
}

// open answers a handshake and serves the connection.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, message string) {
		loopbacktest.Answer(w, status, map[string]any{"status_code": status, "message": message, "validation_errors": []string{}, "request_id": loopbacktest.ID()})
	}
	fault, ok := s.Admit(w, r, func(f Fault) { refuse(f.Status, http.StatusText(f.Status)) })
	if !ok {
		return
	}
	switch schemed, ok := s.Bears(r, "Bearer"); {
	case !schemed:
		refuse(http.StatusUnauthorized, "Missing API key.")
	case !ok:
		refuse(http.StatusUnauthorized, "Invalid API key.")
	case r.URL.RawQuery != "":
		s.Violate("there is a query: the first message has the configuration")
		refuse(http.StatusBadRequest, "Unexpected query.")
	default:
		s.Serve(w, r, nil, fault, shapes, func(k *loopbacktest.Socket) { serve(s, k) })
	}
}

// cannotGoOn is what Soniox says when it wants a new request.
const cannotGoOn = "Cannot continue request (code 1). Please restart the request. Refer to: https://soniox.com/url/cannot-continue-request"

// shapes are what faults send. After an error the connection is closed as after a success.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"tokens": nil, "final_audio_proc_ms": nil, "total_audio_proc_ms": nil},
	Fail: func(reason string) any {
		first, rest, _ := strings.Cut(reason, " ")
		if code, err := strconv.Atoi(first); err == nil {
			return failure(code, rest)
		}
		return failure(http.StatusServiceUnavailable, cmp.Or(reason, cannotGoOn))
	},
	Ends: func(string) (int, string) { return websocket.CloseNormalClosure, "" },
}

// failure is the last message of a connection that has failed.
func failure(code int, message string) any {
	return map[string]any{"tokens": []any{}, "error_code": code, "error_message": message, "request_id": loopbacktest.ID()}
}
