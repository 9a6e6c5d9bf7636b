package deepgram_test

import (
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/deepgram"
	"parley/inference/deepgram/deepgramtest"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/synthesiser"
	"parley/media"
)

func aura(t *testing.T, s *deepgramtest.Server, stall time.Duration) *synthesiser.Engine {
	t.Helper()
	e, err := deepgram.NewTTS(deepgram.Config{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": "aura-2-thalia-en"}, Stall: stall})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestAuraConformance(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{Voice: deepgramtest.Voice{LateChunks: 2}})
	e := aura(t, s, 10*time.Second)
	o := enginetest.TTSOptions{NoSpeed: true}
	t.Run("whole texts", func(t *testing.T) { enginetest.TestTTS(t, e, o) })
	t.Run("utterances", func(t *testing.T) { enginetest.TestStreamingTTS(t, e, o) })
}

func speak(t *testing.T, e *synthesiser.Engine, texts ...string) (length time.Duration, ends []int, err error) {
	t.Helper()
	u, err := e.Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en", Rate: media.Rate8k})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		u.Say(text)
	}
	u.End()
	for c := range u.Chunks() {
		if c.Err != nil {
			return length, ends, c.Err
		}
		if length += c.Length(); c.Last {
			ends = append(ends, c.Say)
		}
	}
	return length, ends, nil
}

// TestAuraSpeaksOnOneSocket: reply after reply, each sentence with its end.
func TestAuraSpeaksOnOneSocket(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{})
	e := aura(t, s, 0)
	for range 3 {
		length, ends, err := speak(t, e, "Good morning, Ana. ", "We are open. ")
		if want := time.Duration(len("Good morning, Ana. We are open. ")) * deepgramtest.CharacterTime; err != nil || length < want-200*time.Millisecond || len(ends) != 2 {
			t.Errorf("%v of audio, want %v, ends %v, %v", length, want, ends, err)
		}
	}
	if b := s.Books(); b.Opened != 1 {
		t.Errorf("%d sockets", b.Opened)
	}
}

// TestAuraInterrupted: what was cleared is not heard in the next reply.
func TestAuraInterrupted(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{Voice: deepgramtest.Voice{LateChunks: 3, Delays: deepgramtest.VoiceDelays{Cleared: func() time.Duration { return 100 * time.Millisecond }}}})
	e := aura(t, s, 0)
	for range 5 {
		u, err := e.Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en", Rate: media.Rate8k})
		if err != nil {
			t.Fatal(err)
		}
		u.Say(strings.Repeat("This goes on for quite some time. ", 10))
		<-u.Chunks()
		u.Cancel()
		for range u.Chunks() {
		}
		if length, _, err := speak(t, e, "Sorry? "); err != nil || length > 700*time.Millisecond || length == 0 {
			t.Errorf("%v of audio, %v", length, err)
		}
	}
}

func TestAuraFaults(t *testing.T) {
	for what, fault := range map[string]loopbacktest.Fault{
		"cut": {AfterMessages: 3, Then: loopbacktest.Cut}, "invalid": {AfterMessages: 3, Then: loopbacktest.Invalid}, "stalled": {AfterMessages: 3, Then: loopbacktest.Stall},
	} {
		s := deepgramtest.New(t, deepgramtest.Script{Faults: []loopbacktest.Fault{fault}})
		if _, _, err := speak(t, aura(t, s, 300*time.Millisecond), strings.Repeat("Good morning to all of you. ", 20)); inference.FaultOf(err) != inference.ErrFailed {
			t.Errorf("%s: %v", what, err)
		}
	}
}
