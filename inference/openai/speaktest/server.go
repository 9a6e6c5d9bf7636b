// Package speaktest is a fake of OpenAI's speech, POST /v1/audio/speech, on loopback, for tests of its adapter
// and for measurements.
//
// It speaks as package speakingtest does, at 24 kHz, faster than real time: as a body of audio, or in
// server-sent events that say at their end what was charged. What OpenAI refuses it refuses, and notes each
// mistake of its client as a violation.
//
// The specification has the fields, their limits, the events with both spellings, and that tts-1 has no events.
// From OpenAI's documentation are the voices of each model, the values of response_format, and the form of errors.
// What a text and its audio are in tokens is made up: 4 characters, and 50 ms.
package speaktest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
	"parley/media/wav"
)

// Fault, Books, Delays and Speech are those of all fakes. A fault belongs to a request, its messages are the events, or the
// pieces of audio. A Speech ends done or cut.
type (
	Fault  = loopbacktest.Fault
	Books  = loopbacktest.Books
	Delays = speakingtest.Delays
	Speech = speakingtest.Context
)

const (
	// DefaultKey is accepted when the script names no key.
	DefaultKey = "sk-test-speech-0123456789"
	// CharacterTime is the audio of one character at normal speed.
	CharacterTime = speakingtest.CharacterTime
	// Rate is that of the audio.
	Rate = 24000

	maxBody = 1 << 20 // bytes of a request
	token   = 50 * time.Millisecond
)

// Script is what a server does. Its zero value speaks at once.
type Script struct {
	Key     string // "": DefaultKey
	Delays  Delays
	Faults  []Fault
	Traps   Traps
	Expects []string // parts of the violations that the test means to cause

	Requests int // in progress at a time, more get 429; 0: any number
}

// Traps are what servers do where they differ.
type Traps struct {
	Plain bool // stream_format is ignored, and audio sent, as compatible servers do
	Delta bool // events have their audio in delta, not in audio
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
	s := &Server{script: script}
	return s, loopbacktest.ListenAt(&s.Server, script.Key, script.Faults, map[string]http.HandlerFunc{
		"POST /v1/audio/speech": s.speech,
		"/": func(w http.ResponseWriter, r *http.Request) {
			s.Violate("%s %s does not exist", r.Method, r.URL.Path)
			refuse(w, http.StatusNotFound, refusal{message: "Invalid URL"})
		},
	})
}

// Speeches are all requests that were accepted, in order. The caller owns the list.
func (s *Server) Speeches() []Speech { return s.Contexts() }

// speech answers one request.
func (s *Server) speech(w http.ResponseWriter, r *http.Request) {
	f := s.Next()
	body, err := s.Receive(w, r, maxBody)
	switch {
	case err != nil:
		return
	case f.Status != 0:
		f.Headers(w.Header())
		refuse(w, f.Status, refusal{message: http.StatusText(f.Status), code: f.Reason})
		return
	}
	if _, ok := s.Bears(r, "Bearer"); !ok {
		refuse(w, http.StatusUnauthorized, refusal{message: "Incorrect API key provided."})
		return
	}
	req, mistake := read(r.Header, body)
	switch {
	case mistake != nil:
		s.Violate("%s: %s", mistake.param, mistake.message)
		refuse(w, http.StatusBadRequest, *mistake)
		return
	case !slices.ContainsFunc(models, func(m string) bool { return strings.HasPrefix(req.Model, m) }):
		refuse(w, http.StatusNotFound, refusal{"The model does not exist.", "model", "model_not_found"})
		return
	}
	if !s.Enter(s.script.Requests) {
		refuse(w, http.StatusTooManyRequests, refusal{message: "Rate limit reached."})
		return
	}
	defer s.Leave()
	in := (utf8.RuneCountInString(req.Input) + 3) / 4
	s.Note(func(b *Books) {
		b.Requests++
		b.Characters += utf8.RuneCountInString(req.Input)
		b.TokensIn += in
		b.Body = body
	})
	record := s.Begin("")
	s.Change(func() { record.Text = req.Input })
	defer s.End(record, "cut") // unless it is done
	w.Header().Set("x-request-id", loopbacktest.ID())
	a := &answer{s, record, req, in}
	if req.Stream == "sse" && !s.script.Traps.Plain {
		s.Stream(w, r, f, shapes, event, a.events)
		return
	}
	w.Header().Set("Content-Type", "audio/"+req.Format)
	s.Stream(w, r, f, shapes, func(data []byte, _ string) []byte { return data }, a.audio)
}

// answer is what one request gets.
type answer struct {
	server *Server
	record *Speech
	*request
	in int // tokens
}

// event is one server-sent event. The vendor gives it no name.
func event(data []byte, _ string) []byte { return fmt.Appendf(nil, "data: %s\n\n", data) }

// events sends audio in events, and then what was charged.
func (a *answer) events(t *loopbacktest.Stream) error {
	out := 0
	name := "audio"
	if a.server.script.Traps.Delta {
		name = "delta"
	}
	err := a.chunks(t, func(c speakingtest.Chunk) error {
		out += max(1, int(c.Length/token))
		return t.Send(map[string]any{"type": "speech.audio.delta", name: base64.StdEncoding.EncodeToString(c.Audio)})
	})
	if err != nil {
		return err
	}
	a.server.End(a.record, "done")
	a.server.Note(func(b *Books) { b.TokensOut += out })
	return t.Send(map[string]any{"type": "speech.audio.done", "usage": map[string]any{"input_tokens": a.in, "output_tokens": out, "total_tokens": a.in + out}})
}

// audio sends a body of audio.
func (a *answer) audio(t *loopbacktest.Stream) error {
	if a.Format == "wav" {
		var head bytes.Buffer
		_ = wav.WriteHeader(&head, Rate, a.samples()) // it fits, and a buffer takes it
		if err := t.SendData(head.Bytes()); err != nil {
			return err
		}
	}
	err := a.chunks(t, func(c speakingtest.Chunk) error { return t.SendData(c.Audio) })
	if err == nil {
		a.server.End(a.record, "done")
	}
	return err
}

// chunks has the audio of the input sent chunk by chunk.
func (a *answer) chunks(t *loopbacktest.Stream, send func(speakingtest.Chunk) error) error {
	for i, c := range a.voice().Chunks(a.Input) {
		delay := a.server.script.Delays.Chunk
		if i == 0 {
			delay = a.server.script.Delays.FirstAudio
		}
		if !t.Wait(delay) {
			return context.Canceled
		}
		if err := send(c); err != nil {
			return err
		}
		a.server.Sent(a.record, c)
	}
	return nil
}
