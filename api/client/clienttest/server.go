// Package clienttest is a fake server of the HTTP API for tests of its client and of
// the commands: it checks what it is sent as the real one does, makes sound and text
// whose length and words say what it was asked, and answers as the published document
// says, or the test fails.
package clienttest

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"unicode/utf8"

	"parley/api/apitest"
	"parley/api/wire"
)

// Key is the API key that the server knows.
const Key = "sk_fake"

// Rate is that of its sound, in Hz; SamplesPerCharacter how much there is of it.
const (
	Rate                = 44_100
	SamplesPerCharacter = 441
)

// Problem is how the server refuses.
type Problem struct {
	Status    int    `json:"-"`
	Code      string `json:"code"`
	Error     string `json:"error"`
	Retryable bool   `json:"retryable"`
	Detail    string `json:"detail,omitempty"`
}

// unknown answers who asks for what is not there.
var unknown = Problem{http.StatusNotFound, "request.not_found", "There is no such thing.", false, ""}

// Server is the fake. Its methods may be called from any goroutine.
type Server struct {
	URL string

	mu       sync.Mutex
	refuse   map[string][]Problem // by path; the next request takes the first
	tasks    map[string]*task
	bulk     bulk
	window   map[string]any // when people are called; nil: at any time
	placed   map[string]any
	agents   map[string]map[string]any // that were changed, by identifier
	bodies   []string                  // of requests that change what an account has
	events   []wire.TakenEvent         // that were not taken yet
	reported func(event string, a wire.TakenAttempt)
	moments  []Moment
	at       int // which of them is now
	done     func()
	stuck    bool
	requests []string
	heard    int // samples
}

// New starts a server that ends with the test.
func New(t *testing.T) *Server {
	s := &Server{refuse: map[string][]Problem{}, tasks: map[string]*task{}, agents: map[string]map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tts/synthesize", s.synthesize)
	mux.HandleFunc("POST /api/tts/{voice}/async", s.submit)
	mux.HandleFunc("GET /api/tts/tasks/{id}", s.look)
	mux.HandleFunc("GET /api/tts/tasks/{id}/download", s.download)
	mux.HandleFunc("DELETE /api/tts/tasks/{id}", s.cancel)
	mux.HandleFunc("GET /ws/tts", s.stream)
	mux.HandleFunc("POST /stt/transcribe", s.transcribe)
	mux.HandleFunc("GET /ws/stt", s.listen)
	mux.HandleFunc("POST /denoise", s.denoise)
	mux.HandleFunc("GET /v1/calls", s.moving(calls))
	mux.HandleFunc("GET /v1/statistics", statistics)
	mux.HandleFunc("GET /v1/requests", s.moving(requests))
	mux.HandleFunc("GET /v1/requests/{id}", oneRequest)
	mux.HandleFunc("GET /v1/calls/{id}/completions", completions)
	mux.HandleFunc("GET /v1/calls/{id}/completions/{no}", completions)
	mux.HandleFunc("GET /v1/calls/{id}/recording", callRecording)
	mux.HandleFunc("GET /v1/calls/{id}", oneCall)
	mux.HandleFunc("DELETE /v1/calls/{id}", forgetCall)
	mux.HandleFunc("GET /v1/calls/{id}/events", events)
	mux.HandleFunc("PATCH /v1/calls/{id}", s.keepWithCall)
	mux.HandleFunc("POST /callcenter/dial", s.dial)
	s.bulkRoutes(mux)
	s.knowledge(mux)
	sounds(mux)
	wallet(mux)
	engineKeys(mux)
	s.agentRoutes(mux)
	s.managed(mux)
	caseRoutes(mux)
	h := httptest.NewServer(apitest.Published(t).Around(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := s.take(r); ok {
			answer(w, p.Status, p)
			return
		}
		mux.ServeHTTP(w, r)
	})))
	s.URL = h.URL
	t.Cleanup(h.Close)
	return s
}

// Refuse has the next request to a path refused; several are taken in turn.
func (s *Server) Refuse(path string, p Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse[path] = append(s.refuse[path], p)
}

// take notes a request and says how it is refused, if it is.
func (s *Server) take(r *http.Request) (Problem, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.String())
	if list := s.refuse[r.URL.Path]; len(list) > 0 {
		s.refuse[r.URL.Path] = list[1:]
		return list[0], true
	}
	if r.URL.Path == "/v1/pricing" { // is public
		return Problem{}, false
	}
	switch r.Header.Get("Authorization") {
	case "":
		return Problem{401, "auth.missing_key", "Send an API key.", false, ""}, true
	case "Bearer " + Key:
		return Problem{}, false
	}
	return Problem{401, "auth.invalid_key", "The credential is unknown.", false, ""}, true
}

// Requests lists methods and addresses in the order in which they came.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Heard is how many samples have come over the recognition socket.
func (s *Server) Heard() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.heard
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client has gone
}

// order is the body of every request for speech.
type order struct {
	Text, Voice, Language string
	Speed                 float64
	Steps                 int
	Format                string `json:"output_format"`
}

// fault says what is wrong with an order, as the service does.
func (o *order) fault(most int) *Problem {
	switch {
	case o.Text == "":
		return &Problem{400, "validation.invalid_request_format", "There is no text.", false, ""}
	case utf8.RuneCountInString(o.Text) > most:
		return &Problem{400, "validation.text_too_long", "The text is too long.", false, ""}
	case len(o.Voice) != 2:
		return &Problem{400, "validation.invalid_voice", "Unknown voice.", false, ""}
	case len(o.Language) != 2:
		return &Problem{400, "validation.invalid_language", "Unknown language.", false, ""}
	}
	return nil
}

func (s *Server) synthesize(w http.ResponseWriter, r *http.Request) {
	var o order
	if json.NewDecoder(r.Body).Decode(&o) != nil {
		o = order{}
	}
	if p := o.fault(5_000); p != nil {
		answer(w, p.Status, p)
		return
	}
	b := WAV(o.Text)
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b)
}

// PCM is the sound the server makes of a text: samples that count upwards, Int16
// little endian.
func PCM(text string) []byte {
	var b []byte
	for i := range utf8.RuneCountInString(text) * SamplesPerCharacter {
		b = binary.LittleEndian.AppendUint16(b, uint16(i))
	}
	return b
}

// WAV is the same as a file.
func WAV(text string) []byte {
	pcm := PCM(text)
	le := binary.LittleEndian
	b := append([]byte("RIFF"), le.AppendUint32(nil, uint32(36+len(pcm)))...)
	b = append(b, "WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	b = le.AppendUint32(b, Rate)
	b = le.AppendUint32(b, 2*Rate)
	b = append(b, "\x02\x00\x10\x00data"...)
	return append(le.AppendUint32(b, uint32(len(pcm))), pcm...)
}

// recording is the form's file, or nil after an answer that says what is missing.
func recording(w http.ResponseWriter, r *http.Request) []byte {
	f, _, err := r.FormFile("audio")
	if err != nil {
		answer(w, 400, Problem{Code: "validation.invalid_request_format", Error: "There is no audio."})
		return nil
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil || len(b) < 4 || string(b[:4]) != "RIFF" {
		answer(w, 400, Problem{Code: "validation.invalid_request_format", Error: "The audio cannot be read."})
		return nil
	}
	return b
}

func (s *Server) denoise(w http.ResponseWriter, r *http.Request) {
	if b := recording(w, r); b != nil {
		w.Header().Set("Content-Type", "audio/wav")
		w.Header().Set("X-Audio-Duration-Seconds", "1.5")
		_, _ = w.Write(b)
	}
}

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	if b := recording(w, r); b != nil {
		language := r.FormValue("language")
		if language == "" {
			language = "en"
		}
		answer(w, 200, map[string]any{"text": "what time do you open", "language": language, "engine": "fake", "duration_seconds": 1.5,
			"latency_ms": 20, "sample_rate": 16000, "segments": []map[string]any{{"text": "what time do you open", "start": 0.25, "end": 1.25, "duration": 1}}})
	}
}
