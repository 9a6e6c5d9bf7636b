// Package realtimetest is a fake of OpenAI's Realtime transcription on loopback,
// /v1/realtime?intent=transcription, for tests of its adapter and for measurements.
//
// It hears as package hearingtest does. The times of the protocol are time of audio, so a test
// may send audio as fast as it likes. The clock counts for how long a session lasts, and for
// the delays of the script.
//
// What OpenAI refuses it refuses, and notes each mistake of its client as a violation.
package realtimetest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Fault, Books and what is heard are those of all fakes. A Fail whose Reason is session_expired ends
// a session as its 60 minutes do. EmptyFinal of an Utterance makes transcripts empty.
type (
	Fault     = loopbacktest.Fault
	Books     = loopbacktest.Books
	Utterance = hearingtest.Utterance
	Pause     = hearingtest.Pause
)

// DefaultKey is accepted when the script names no key.
const DefaultKey = "sk-realtime-test-0123456789"

// TranscriptionScript is what a server of transcription does. Its zero value hears no words.
type TranscriptionScript struct {
	Key        string // "": DefaultKey
	Utterances []Utterance
	// Continue counts the utterances over all connections: a new one goes on with the first
	// word that is in no completed transcript. It is for one client that reconnects.
	Continue bool
	Delays   Delays
	Faults   []Fault
	Traps    Traps
	Expects  []string      // parts of the violations that the test means to cause
	Sockets  int           // at a time, more are refused with 429; 0: any number
	Lifetime time.Duration // of a session, by the clock; 0: 60 min
}

// Delays are drawn for each message, by the clock, in addition to the time of audio. Nil: none.
type Delays struct {
	Word  func() time.Duration // a delta while audio comes, after its word
	Final func() time.Duration // a transcript, after the last sound
}

// Traps are what OpenAI does although it is awkward. Items are counted from 0 over all connections,
// in the order of their commits.
type Traps struct {
	Late       []int // items that are completed after the one that follows them
	Failed     []int // items whose transcription fails
	Unanswered []int // items that are never completed
}

// Transcription is the fake. Safe for concurrent use.
type Transcription struct {
	*loopbacktest.Server
	script   TranscriptionScript
	dialogue *hearingtest.Dialogue

	mu    sync.Mutex
	ids   int
	items int // that were committed
}

// NewTranscription starts a server that runs until the test ends, and then reports violations.
func NewTranscription(t testing.TB, script TranscriptionScript) *Transcription {
	t.Helper()
	s, err := StartTranscription(script)
	if err != nil {
		t.Fatal(err)
	}
	s.Watch(t, script.Expects)
	return s
}

// StartTranscription starts a server that runs until Close.
func StartTranscription(script TranscriptionScript) (*Transcription, error) {
	script.Key = cmp.Or(script.Key, DefaultKey)
	script.Lifetime = cmp.Or(script.Lifetime, time.Hour)
	s := &Transcription{script: script, dialogue: hearingtest.NewDialogue(script.Utterances, script.Continue)}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/realtime", s.open)
	var err error
	s.Server, err = loopbacktest.Listen(script.Key, script.Faults, mux)
	return s, err
}

// id is a new id that begins so. No two connections have the same.
func (s *Transcription) id(prefix string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids++
	return fmt.Sprintf("%s%06d", prefix, s.ids)
}

// item is the number of an item that is committed.
func (s *Transcription) item() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items++
	return s.items - 1
}

// open answers a handshake and serves the session.
func (s *Transcription) open(w http.ResponseWriter, r *http.Request) {
	s.Note(func(b *Books) { b.Query, b.Header = r.URL.Query(), r.Header.Clone() })
	fault := s.Next()
	if fault.Status != 0 {
		fault.Headers(w.Header())
		s.refuse(w, fault.Status, "")
		return
	}
	scheme, key, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if scheme != "Bearer" {
		s.Violate("Authorization is not Bearer KEY")
	}
	if scheme != "Bearer" || key != s.Key {
		s.refuse(w, http.StatusUnauthorized, "")
		return
	}
	for name, values := range r.URL.Query() {
		if known := []string{"intent", "model"}; !slices.Contains(known, name) || len(values) > 1 {
			s.Violate("the query has %s %d times", name, len(values))
			s.refuse(w, http.StatusBadRequest, "Unknown query parameter: "+name)
			return
		}
	}
	if intent := r.URL.Query().Get("intent"); intent != "transcription" {
		s.Violate("intent is %q: the fake has no conversations", intent)
		s.refuse(w, http.StatusBadRequest, "Invalid intent")
		return
	}
	if !s.Enter(s.script.Sockets) {
		s.refuse(w, http.StatusTooManyRequests, "")
		return
	}
	defer s.Leave()
	k, ok := s.Upgrade(w, r, http.Header{"X-Request-Id": {loopbacktest.ID()}}, fault, s.shapes())
	if !ok {
		return
	}
	defer k.End()
	switch {
	case r.URL.Query().Has("model"):
		s.turnAway(k, "invalid_model", "You must not provide a model parameter for transcription sessions.")
	case r.Header.Get("OpenAI-Beta") != "":
		s.turnAway(k, "beta_api_shape_disabled", "The Realtime Beta API is no longer supported.")
	default:
		serve(s, k)
	}
}

// turnAway ends a session that cannot begin, and waits until the client has gone.
func (s *Transcription) turnAway(k *loopbacktest.Socket, code, message string) {
	s.Violate("%s", message)
	_ = k.Write(s.failure(trouble{Code: code, Message: message}))
	k.Close(closeInvalid, invalidRequest+"."+code)
	for {
		if _, _, err := k.Read(); err != nil {
			return
		}
	}
}

// refusals are the codes and messages of refused handshakes.
var refusals = map[int][3]string{
	http.StatusBadRequest:          {invalidRequest, "invalid_value", "Bad request"},
	http.StatusUnauthorized:        {invalidRequest, "invalid_api_key", "Incorrect API key provided. You can find your API key at https://platform.openai.com/account/api-keys."},
	http.StatusForbidden:           {invalidRequest, "model_not_found", "Project does not have access to the model."},
	http.StatusTooManyRequests:     {"requests", "rate_limit_exceeded", "Rate limit reached for requests"},
	http.StatusInternalServerError: {"server_error", "internal_error", "The server had an error while processing your request. Sorry about that!"},
	http.StatusServiceUnavailable:  {"server_error", "service_unavailable", "The server is overloaded. Please try again later."},
}

func (s *Transcription) refuse(w http.ResponseWriter, status int, message string) {
	text, ok := refusals[status]
	if !ok {
		text = [3]string{"server_error", fmt.Sprint(status), http.StatusText(status)}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("x-request-id", loopbacktest.ID())
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"type": text[0], "code": text[1], "message": cmp.Or(message, text[2]), "param": nil}})
}
