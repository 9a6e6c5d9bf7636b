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
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books and what is heard are those of all fakes. A Fail says that the request cannot go on,
// 503, unless its Reason begins with another code, as in "408 Input too slow". EmptyFinal of an
// Utterance leaves out its final tokens.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
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

// Delays are drawn for each message, by the clock, in addition to the time of audio. Nil: none.
type Delays struct {
	Word  func() time.Duration // a word in a token that is not final, after its end
	Final func() time.Duration // <end> and <fin>, after the last sound
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
	script.Idle = cmp.Or(script.Idle, 20*time.Second)
	script.FinalAfter = cmp.Or(script.FinalAfter, time.Second)
	script.EndAfter = cmp.Or(script.EndAfter, 400*time.Millisecond)
	s := &Server{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue)}
	mux := http.NewServeMux()
	mux.HandleFunc("/transcribe-websocket", s.open)
	var err error
	s.Server, err = loopbacktest.Listen(script.Key, script.Faults, mux)
	return s, err
}

// open answers a handshake and serves the connection.
func (s *Server) open(w http.ResponseWriter, r *http.Request) {
	s.Note(func(b *Books) { b.Query, b.Header = r.URL.Query(), r.Header.Clone() })
	fault := s.Next()
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case fault.Status != 0:
		fault.Headers(w.Header())
		s.refuse(w, fault.Status, http.StatusText(fault.Status))
		return
	case scheme != "Bearer":
		s.Violate("Authorization is not Bearer KEY")
		s.refuse(w, http.StatusUnauthorized, "Missing API key.")
		return
	case key != s.Key:
		s.refuse(w, http.StatusUnauthorized, "Invalid API key.")
		return
	case r.URL.RawQuery != "":
		s.Violate("there is a query: the first message has the configuration")
		s.refuse(w, http.StatusBadRequest, "Unexpected query.")
		return
	}
	k, ok := s.Upgrade(w, r, nil, fault, shapes)
	if !ok {
		return
	}
	defer k.End()
	serve(s, k)
}

// refuse answers a handshake with an error.
func (s *Server) refuse(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"status_code": status, "message": message, "validation_errors": []string{}, "request_id": loopbacktest.ID()})
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
