// Package rimetest is a fake of Rime's synthesis on loopback, the WebSocket with JSON at /ws3, for
// tests of its adapter and for measurements.
//
// It speaks as package speakingtest does, faster than real time. A socket speaks one text after the
// other. What Rime refuses it refuses, and notes each mistake of its client as a violation.
//
// The specification has the address, the names of the messages and what clear reaches. The rest is from
// Rime's documentation: what segment does, that what is flushed meanwhile waits and is spoken as one, that times
// of words count from the beginning of each synthesis, when done comes, and timeScaleFactor. That a malformed
// message leaves the socket open, and with which status and body a handshake is refused, is assumed.
package rimetest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// Fault, Books, Delays and Context are those of all fakes. A Context is all text with one contextId. It ends
// done, cleared or cut, and goes on when it gets more text: it is busy until all its text was spoken or cleared.
type (
	Fault   = loopbacktest.Fault
	Books   = loopbacktest.Books
	Delays  = speakingtest.Delays
	Context = speakingtest.Context
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "rime-test-key-0123456789"
	// DefaultVoice is known when the script names no voices.
	DefaultVoice = "celeste"
	// CharacterTime is the audio of one character at normal speed.
	CharacterTime = speakingtest.CharacterTime
)

// Script is what a server does. Its zero value speaks at once.
type Script struct {
	Key     string   // "": DefaultKey
	Voices  []string // speakers; nil: DefaultVoice
	Delays  Delays
	Faults  []Fault
	Traps   Traps
	Expects []string // parts of the violations that the test means to cause

	LateChunks int // that still come after a clear which meets speech
}

// Traps are what Rime may do where no document says so.
type Traps struct {
	BareDone       bool // done has no contextId
	DoneAfterClear bool // done comes although its synthesis was cleared
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
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{"/ws3": s.connect})
}

// connect answers a handshake and serves the socket.
func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, message string) {
		loopbacktest.Answer(w, status, map[string]string{"error": message})
	}
	fault, ok := s.Admit(w, r, func(f Fault) { refuse(f.Status, http.StatusText(f.Status)) })
	if !ok {
		return
	}
	if _, ok := s.Bears(r, "Bearer"); !ok {
		refuse(http.StatusUnauthorized, "invalid API key")
		return
	}
	q, err := parseQuery(r.URL.Query())
	if err != nil {
		s.Violate("%v", err)
		refuse(http.StatusBadRequest, err.Error())
		return
	}
	if !slices.Contains(s.script.Voices, q.speaker) {
		refuse(http.StatusBadRequest, "speaker not found")
		return
	}
	s.Serve(w, r, nil, fault, shapes, func(k *loopbacktest.Socket) { serve(s, k, q) })
}

// shapes are what faults send.
var shapes = loopbacktest.Shapes{
	Nulls: map[string]any{"type": "chunk", "data": nil, "contextId": nil},
	Fail:  func(reason string) any { return failure(cmp.Or(reason, "internal error")) },
}

// failure is the vendor's message of an error.
func failure(message string) map[string]any {
	return map[string]any{"type": "error", "message": message}
}

// query is what a handshake asks for.
type query struct {
	speaker string
	coding  loopbacktest.Coding
	rate    int
	segment string
	speed   float64
}

var (
	parameters = strings.Fields("speaker modelId audioFormat samplingRate lang segment timeScaleFactor")
	models     = []string{"coda", "mistv3"}
	// codings are the formats that the fake can speak. The vendor has mp3 too.
	codings   = map[string]loopbacktest.Coding{"pcm": loopbacktest.S16, "mulaw": loopbacktest.Mulaw}
	rates     = []int{8000, 16000, 22050, 24000, 44100, 48000}
	languages = regexp.MustCompile(`^([a-z]{2,3})?$`)
	segments  = []string{"", "bySentence", "immediate", "never"}
)

// parseQuery reads what a handshake asks for, and says why it cannot be had. It does not look for the speaker.
func parseQuery(v url.Values) (q query, err error) {
	for name, values := range v {
		switch {
		case !slices.Contains(parameters, name):
			return q, fmt.Errorf("unknown query parameter %s", name)
		case len(values) > 1:
			return q, fmt.Errorf("%s is given %d times", name, len(values))
		}
	}
	q = query{speaker: v.Get("speaker"), segment: v.Get("segment"), speed: 1}
	var ok bool
	if q.coding, ok = codings[v.Get("audioFormat")]; !ok {
		return q, fmt.Errorf("audioFormat %q is not supported", v.Get("audioFormat"))
	}
	q.rate, err = strconv.Atoi(v.Get("samplingRate"))
	factor := cmp.Or(v.Get("timeScaleFactor"), "1")
	stretch, notNumber := strconv.ParseFloat(factor, 64)
	switch {
	case q.speaker == "":
		return q, fmt.Errorf("speaker is required")
	case !slices.Contains(models, v.Get("modelId")):
		return q, fmt.Errorf("modelId %q is not supported", v.Get("modelId"))
	case err != nil || !slices.Contains(rates, q.rate):
		return q, fmt.Errorf("samplingRate %q is not supported", v.Get("samplingRate"))
	case !languages.MatchString(v.Get("lang")):
		return q, fmt.Errorf("lang %q is not supported", v.Get("lang"))
	case !slices.Contains(segments, q.segment):
		return q, fmt.Errorf("segment %q is not supported", q.segment)
	case notNumber != nil || stretch <= 0:
		return q, fmt.Errorf("timeScaleFactor is %q, no number above 0", factor)
	}
	q.speed = 1 / stretch
	return q, nil
}
