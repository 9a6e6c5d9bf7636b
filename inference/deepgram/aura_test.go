package deepgram_test

import (
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/deepgram"
	"parley/inference/deepgram/deepgramtest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

// speaker is an engine with one voice.
func speaker(t *testing.T, s *deepgramtest.Server, model string) *synthesiser.Engine {
	t.Helper()
	e, err := deepgram.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": model}, Stall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return e
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
	e := speaker(t, s, "aura-2-thalia-en")
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
	e := speaker(t, s, "aura-2-thalia-en")
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

// TestVoicesSayGoodbye: a socket counts no more when its engine is closed, though Deepgram counts those that are dropped.
func TestVoicesSayGoodbye(t *testing.T) {
	for _, model := range []string{"aura-2-thalia-en", "flux-haley-en"} {
		s := deepgramtest.New(t, deepgramtest.Script{Voice: deepgramtest.Voice{Sockets: 1, Linger: time.Hour}})
		for range 2 {
			e := speaker(t, s, model)
			loopbacktest.Await(t, "room for a socket", func() bool {
				_, _, err := speak(t, e, "Good morning. ")
				return err == nil
			})
			e.Close()
		}
	}
}
