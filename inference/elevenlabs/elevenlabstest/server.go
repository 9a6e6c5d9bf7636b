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
	"net/http"
	"slices"
	"testing"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// Fault, Books, Delays and Context are those of all fakes. The text of a Context has not the space that opens it. It
// ends closed, expired or cut.
type (
	Fault   = loopbacktest.Fault
	Books   = loopbacktest.Books
	Delays  = speakingtest.Delays
	Context = speakingtest.Context
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
	Final   func() time.Duration // isFinal after the last chunk, by the clock: its context counts until then; nil: at once
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
	if script.Voices == nil {
		script.Voices = []string{DefaultVoice}
	}
	s := &Server{script: script}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{"/v1/text-to-speech/{voice}/multi-stream-input": s.connect})
}

// connect answers a handshake and serves the socket.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	fault, ok := s.Admit(w, r, func(f Fault) { Refuse(w, f.Status, "", "") })
	if !ok {
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
	s.Serve(w, r, nil, fault, s.script.shapes(), func(k *loopbacktest.Socket) { newSocket(s, k, q).serve() })
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
	loopbacktest.Answer(w, status, map[string]any{"detail": map[string]string{
		"status": cmp.Or(name, names[status], "error"), "message": cmp.Or(message, http.StatusText(status))}})
}
