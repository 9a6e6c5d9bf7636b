// Package elevenlabstest is a fake of ElevenLabs' synthesis on loopback, the WebSocket with
// contexts at /v1/text-to-speech/{voice_id}/multi-stream-input, for tests of its adapter and
// for measurements.
//
// Its voice is a tone of 60 ms for each character, at the speed asked for, so the length of
// its audio and the times of its characters can be computed. It sends faster than real time.
// What ElevenLabs refuses it refuses, and notes each mistake of its client as a violation.
package elevenlabstest

import (
	"cmp"
	"encoding/json"
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
	DefaultKey = "sk_eleven_test_0123456789"
	// DefaultVoice is known when the script names no voices.
	DefaultVoice = "vOiCeTeSt0123456789a"
	// CharacterTime is the audio of one character at normal speed.
	CharacterTime = speakingtest.CharacterTime
	// ContextsPerSocket may be open at a time, those counted whose isFinal was not sent.
	ContextsPerSocket = 5
)

// Script is what a server does. Its zero value speaks at once.
type Script struct {
	Key     string   // "": DefaultKey
	Voices  []string // ids; nil: DefaultVoice
	Delays  Delays
	Faults  []Fault
	Expects []string // parts of the violations that the test means to cause

	// Inactivity is how long a context, and a socket without contexts, lives after its last
	// message, by the clock; 0: as long as its client asked for.
	Inactivity time.Duration
	// LateChunks still come after a close_context, of the audio that was asked for before it.
	// 0: all of it, as the vendor documents; below 0: none.
	LateChunks int
	// Absolute alignments count from the beginning of their context, others from that of their
	// chunk.
	Absolute bool
	Spelling Spelling
	// Spoken is how a text is read out, in normalizedAlignment; nil: as it is written. A client
	// that asks for apply_text_normalization=off gets the text as it is written.
	Spoken func(text string) string
}

// Spelling is how fields are spelled: false is the first spelling, true the second.
type Spelling struct {
	Context   bool // contextId or context_id
	Final     bool // isFinal or is_final
	Starts    bool // charStartTimesMs or charsStartTimesMs
	Durations bool // charDurationsMs or charsDurationsMs
}

// Delays are drawn each time, by the clock. Nil: none.
type Delays struct {
	FirstAudio func() time.Duration // a context's first audio after its first text
	Chunk      func() time.Duration // each later chunk
	Final      func() time.Duration // isFinal after the last chunk; its context counts until then
}

// Context is what became known of one context. Its text has not the space that opens it. It ends
// closed, expired or cut.
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
	if script.Voices == nil {
		script.Voices = []string{DefaultVoice}
	}
	s := &Server{script: script}
	mux := http.NewServeMux()
	mux.HandleFunc("/v1/text-to-speech/{voice}/multi-stream-input", s.connect)
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
		Refuse(w, fault.Status, "", "")
		return
	}
	if r.Header.Get("xi-api-key") != s.Key {
		Refuse(w, http.StatusUnauthorized, "", "Invalid API key")
		return
	}
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		s.Violate("%v", err)
		Refuse(w, http.StatusBadRequest, "", err.Error())
		return
	}
	if !slices.Contains(models, q.model) {
		Refuse(w, http.StatusBadRequest, "model_not_found", "the model does not exist, or cannot stream")
		return
	}
	if !slices.Contains(s.script.Voices, r.PathValue("voice")) {
		Refuse(w, http.StatusNotFound, "voice_not_found", "the voice was not found")
		return
	}
	q.inactivity = cmp.Or(s.script.Inactivity, q.inactivity)
	k, ok := s.Upgrade(w, r, nil, fault, s.script.shapes())
	if !ok {
		return
	}
	defer k.End()
	newSocket(s, k, q).serve()
}

// shapes are what faults send.
func (s *Script) shapes() loopbacktest.Shapes {
	nulls := s.Spelling.message(nil, nil)
	nulls["audio"], nulls["alignment"] = nil, nil
	return loopbacktest.Shapes{Nulls: nulls, Fail: func(reason string) any {
		return failure("internal_error", reason)
	}}
}

// failure is the vendor's message of an error, after which it closes the socket.
func failure(name, message string) map[string]any {
	return map[string]any{"error": name, "message": message, "code": 1008}
}

// names are what refusals are called.
var names = map[int]string{
	http.StatusBadRequest:          "invalid_request",
	http.StatusUnauthorized:        "invalid_api_key",
	http.StatusPaymentRequired:     "quota_exceeded",
	http.StatusForbidden:           "missing_permissions",
	http.StatusTooManyRequests:     "too_many_concurrent_requests",
	http.StatusInternalServerError: "internal_server_error",
	http.StatusServiceUnavailable:  "system_busy",
}

// Refuse answers a handshake with an error; name and message may be empty.
func Refuse(w http.ResponseWriter, status int, name, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"detail": map[string]string{
		"status": cmp.Or(name, names[status], "error"), "message": cmp.Or(message, http.StatusText(status))}})
}
