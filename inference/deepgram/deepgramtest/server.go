// Package deepgramtest is a fake of Deepgram on loopback, for tests of its adapters and for
// measurements: its recognition, Nova at /v1/listen and Flux at /v2/listen, and its voices,
// Aura at /v1/speak and Flux TTS at /v2/speak.
//
// It hears as package hearingtest does. All times of the protocol are time of audio, so a
// test may send audio as fast as it likes. The clock counts for two things alone: how long a
// client may say nothing to Nova, and the delays of the script.
//
// The voices are a tone of 60 ms for each character, at the speed asked for, so the length of
// their audio can be computed. They send faster than real time, by the clock.
//
// What Deepgram refuses it refuses, and notes each mistake of its client as a violation.
package deepgramtest

import (
	"cmp"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// Fault, Books and what is heard are those of all fakes. EmptyFinal of an Utterance is about Nova.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
	Utterance = hearingtest.Utterance
	Pause     = hearingtest.Pause
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = "dg-test-key-0123456789"

// Script is what a server does. Its zero value hears no words.
type Script struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	// Continue counts the utterances over all connections: a new one goes on with the first
	// word of which no final was sent. It is for one client that reconnects.
	Continue bool
	Delays   Delays
	Faults   []Fault
	Traps    Traps
	Expects  []string // parts of the violations that the test means to cause
	Sockets  int      // of recognition at a time, more are refused with 429; 0: any number
	Voice    Voice

	Idle       time.Duration // Nova: without audio or KeepAlive, by the clock; 0: 10 s
	FinalEvery time.Duration // Nova: the longest time of audio without a final; 0: 3 s
	EagerAfter time.Duration // Flux: of quiet until EagerEndOfTurn; 0: 160 ms
	EndAfter   time.Duration // Flux: of quiet until EndOfTurn; 0: 400 ms
}

// Delays are drawn for each message, by the clock, in addition to the time of audio. Nil: none.
type Delays struct {
	Word      func() time.Duration // a word in a partial, after its end
	Eager     func() time.Duration // an eager end of a turn, after the last sound
	Final     func() time.Duration // a final or the end of a turn, after the last sound
	Configure func() time.Duration // the answer to Configure; nil: 20 ms
}

// Traps are what Nova does although no document says so.
type Traps struct {
	FinalizeUnanswered   bool // when no words are pending
	SpeechStartedMissing bool
	SpeechStartedRepeats bool
}

// Server is the fake. Safe for concurrent use.
type Server struct {
	speakingtest.Fake // its contexts are speeches
	script            Script
	dialogue          *hearingtest.Dialogue

	mu     sync.Mutex
	voices int // sockets of voices that count
}

// New starts a server that runs until the test ends, and then reports violations.
func New(t testing.TB, script Script) *Server {
	t.Helper()
	return loopbacktest.Started(t, Start, script, script.Expects)
}

// Start starts a server that runs until Close.
func Start(script Script) (*Server, error) {
	script.Key = cmp.Or(script.Key, DefaultKey)
	script.Idle = cmp.Or(script.Idle, 10*time.Second)
	script.FinalEvery = cmp.Or(script.FinalEvery, 3*time.Second)
	script.EagerAfter = cmp.Or(script.EagerAfter, 160*time.Millisecond)
	script.EndAfter = cmp.Or(script.EndAfter, 400*time.Millisecond)
	if script.Delays.Configure == nil {
		script.Delays.Configure = func() time.Duration { return 20 * time.Millisecond }
	}
	script.Voice.Linger = cmp.Or(script.Voice.Linger, time.Second)
	script.Voice.FlushWindow = cmp.Or(script.Voice.FlushWindow, time.Minute)
	script.Voice.Age = cmp.Or(script.Voice.Age, time.Hour)
	s := &Server{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue)}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{
		"/v1/listen": func(w http.ResponseWriter, r *http.Request) { s.listen(w, r, parseNova, serveNova) },
		"/v2/listen": func(w http.ResponseWriter, r *http.Request) { s.listen(w, r, parseFlux, serveFlux) },
		"/v1/speak":  func(w http.ResponseWriter, r *http.Request) { s.speak(w, r, auraProduct) },
		"/v2/speak":  func(w http.ResponseWriter, r *http.Request) { s.speak(w, r, turnsProduct) },
	})
}

// admit answers handshakes that a fault or a wrong key refuses; true: it may go on.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) (fault Fault, ok bool) {
	fault, ok = s.Admit(w, r, func(f Fault) { refuse(w, f.Status, "") })
	if !ok {
		return fault, false
	}
	if _, ok = s.Bears(r, "Token"); !ok {
		refuse(w, http.StatusUnauthorized, "")
	}
	return fault, ok
}

// listen answers a handshake and serves the connection.
func (s *Server) listen(w http.ResponseWriter, r *http.Request, parse func(*http.Request) (query, error), serve func(*Server, *loopbacktest.Socket, query, string)) {
	fault, ok := s.admit(w, r)
	if !ok {
		return
	}
	q, err := parse(r)
	if err != nil {
		s.Violate("%s: %v", r.URL.Path, err)
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if !s.Enter(s.script.Sockets) {
		refuse(w, http.StatusTooManyRequests, "")
		return
	}
	defer s.Leave()
	shapes := loopbacktest.Shapes{Nulls: novaNulls}
	if q.flux {
		shapes = fluxShapes
	}
	id := loopbacktest.ID()
	s.Serve(w, r, http.Header{"Dg-Request-Id": {id}}, fault, shapes, func(k *loopbacktest.Socket) { serve(s, k, q, id) })
}

// refusals are the bodies of refused handshakes.
var refusals = map[int][2]string{
	http.StatusBadRequest:          {"Bad Request", "Bad Request: failed to process the request"},
	http.StatusUnauthorized:        {"INVALID_AUTH", "Invalid credentials."},
	http.StatusPaymentRequired:     {"ASR_PAYMENT_REQUIRED", "Project does not have enough credits for an ASR request and does not have an overage agreement."},
	http.StatusForbidden:           {"INSUFFICIENT_PERMISSIONS", "Project does not have access to the requested model."},
	http.StatusTooManyRequests:     {"TOO_MANY_REQUESTS", "Too many requests. Please try again later."},
	http.StatusInternalServerError: {"INTERNAL_SERVER_ERROR", "An internal server error occurred."},
	http.StatusServiceUnavailable:  {"SERVICE_UNAVAILABLE", "Service unavailable."},
}

func refuse(w http.ResponseWriter, status int, message string) {
	text, ok := refusals[status]
	if !ok {
		text = [2]string{fmt.Sprint(status), http.StatusText(status)}
	}
	message = cmp.Or(message, text[1])
	id := loopbacktest.ID()
	w.Header().Set("dg-request-id", id)
	w.Header().Set("dg-error", message)
	loopbacktest.Answer(w, status, map[string]string{"err_code": text[0], "err_msg": message, "request_id": id})
}
