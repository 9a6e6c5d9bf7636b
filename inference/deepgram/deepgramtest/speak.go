package deepgramtest

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// CharacterTime is the audio of one character of a voice at normal speed.
const CharacterTime = speakingtest.CharacterTime

// maxFlushes is how often Aura is flushed within a minute.
const maxFlushes = 20

// Voice is what the voices do, Aura and Flux TTS. Its zero value speaks at once.
type Voice struct {
	Delays VoiceDelays
	Traps  VoiceTraps

	Sockets int // at a time, more are refused with 429; 0: any number
	// Linger is how long a socket goes on to count that its client dropped without a Close, or
	// with text that was not flushed, by the clock; 0: 1 s.
	Linger      time.Duration
	Age         time.Duration // of a socket, by the clock; 0: 1 h
	FlushWindow time.Duration // in which Aura takes 20 flushes, by the clock; 0: 60 s
	LateChunks  int           // that still come after a Clear or an Interrupt which meets speech
}

// VoiceDelays are drawn each time, by the clock. Nil: none.
type VoiceDelays struct {
	FirstAudio func() time.Duration // the first audio of a speech after its text
	Chunk      func() time.Duration // each later chunk
	Cleared    func() time.Duration // the answer to a Clear or an Interrupt
}

// VoiceTraps are what the voices do where documents differ.
type VoiceTraps struct {
	// WarnFields names the fields of Aura's warnings warn_code and warn_msg, not code and
	// description.
	WarnFields bool
	// NoAudioGenerated makes Flux TTS ignore, with a Warning, an Interrupt before the first audio
	// of a session.
	NoAudioGenerated bool
	// InterruptedWithoutID leaves the speech_id of SpeechInterrupted in its metadata alone.
	InterruptedWithoutID bool
}

// Speech is what became known of one speech: with Aura the text until a Flush, with Flux TTS a
// turn. It ends done, cleared, interrupted or cut. Flux TTS alone has an ID.
type Speech = speakingtest.Context

// Speeches are all speeches in the order in which they began. The caller owns the list. Each
// counts as busy until its client hears of its end.
func (s *Server) Speeches() []Speech { return s.Contexts() }

// product is one of the voices.
type product struct {
	parse  func(url.Values) (voiceQuery, error)
	serve  func(*session)
	shapes loopbacktest.Shapes
}

var (
	auraProduct = product{parseAura, serveAura, loopbacktest.Shapes{
		Nulls: map[string]any{"type": "Flushed", "sequence_id": nil}, Fail: voiceFailure}}
	turnsProduct = product{parseTurns, serveTurns, loopbacktest.Shapes{
		Nulls: map[string]any{"type": "SpeechMetadata", "speech_id": nil, "audio_duration_ms": nil}, Fail: voiceFailure}}
)

// voiceFailure is a voice's message of an error of the vendor.
func voiceFailure(reason string) any {
	return map[string]any{"type": "Error", "code": "NET-0000", "description": reason}
}

// speak answers a handshake and serves the connection.
func (s *Server) speak(w http.ResponseWriter, r *http.Request, p product) {
	fault, ok := s.admit(w, r)
	if !ok {
		return
	}
	q, err := p.parse(r.URL.Query())
	if err != nil {
		s.Violate("%s: %v", r.URL.Path, err)
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	if !s.enterVoice() {
		refuse(w, http.StatusTooManyRequests, "")
		return
	}
	id := loopbacktest.ID()
	k, ok := s.Upgrade(w, r, http.Header{"Dg-Request-Id": {id}}, fault, p.shapes)
	if !ok {
		s.leaveVoice()
		return
	}
	defer k.End()
	v := newSession(s, k, q, id)
	if fault.Then != loopbacktest.Nothing || fault.AfterBytes > 0 {
		v.over.Store(true) // it is not the client that drops the socket
	}
	age := time.AfterFunc(s.script.Voice.Age, func() {
		v.over.Store(true)
		k.Close(websocket.CloseNormalClosure, "the session is too old")
	})
	defer age.Stop()
	p.serve(v)
	v.release()
	k.End()
	for _, sp := range v.live() {
		s.Over(sp, "cut")
	}
}

// enterVoice counts a socket, unless there are too many.
func (s *Server) enterVoice() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit := s.script.Voice.Sockets; limit > 0 && s.voices >= limit {
		return false
	}
	s.voices++
	return true
}

func (s *Server) leaveVoice() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.voices--
}

// release ends the counting of a socket, at once or after it lingered.
func (v *session) release() {
	v.released.Do(func() {
		if v.over.Load() {
			v.server.leaveVoice()
			return
		}
		v.server.Go(func() {
			v.server.Wait(context.Background(), v.server.script.Voice.Linger)
			v.server.leaveVoice()
		})
	})
}
