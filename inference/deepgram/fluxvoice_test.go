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

const haley = "flux-haley-en"

// TestFluxSpeaksInTurns: each sentence is a turn, all on one socket; a text without an end is spoken at the end.
func TestFluxSpeaksInTurns(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{})
	e := speaker(t, s, haley)
	for range 3 {
		length, ends, err := speak(t, e, "Good morning, Ana. ", "We are ", "open")
		if want := time.Duration(len("Good morning, Ana. We are open")) * deepgramtest.CharacterTime; err != nil || length != want || len(ends) != 3 {
			t.Errorf("%v of audio, want %v, ends %v, %v", length, want, ends, err)
		}
	}
	if all := s.Speeches(); len(all) != 6 || all[1].Text != "We are open" || s.Books().Opened != 1 {
		t.Errorf("%d sockets, %+v", s.Books().Opened, all)
	}
}

// TestFluxIsBilled: what Deepgram charges replaces what is counted.
func TestFluxIsBilled(t *testing.T) {
	s := deepgramtest.New(t, deepgramtest.Script{})
	var usage inference.Usage
	for c, err := range speaker(t, s, haley).Speak(t.Context(), inference.Speech{Text: "Good\u0007 morning.", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}) {
		if err != nil {
			t.Fatal(err)
		}
		if c.Usage != nil {
			usage = *c.Usage
		}
	}
	if usage.Characters != len("Good morning.") || usage.Source != inference.UsageProvider || s.Books().Characters != usage.Characters+1 {
		t.Errorf("usage %+v, sent %d characters", usage, s.Books().Characters)
	}
}

// TestFluxInterrupted: what is interrupted is not heard in the next reply, in whatever way Deepgram answers.
func TestFluxInterrupted(t *testing.T) {
	slowly := func() time.Duration { return 100 * time.Millisecond }
	for name, script := range map[string]deepgramtest.Voice{
		"late audio":      {LateChunks: 3, Delays: deepgramtest.VoiceDelays{Cleared: slowly}, Traps: deepgramtest.VoiceTraps{InterruptedWithoutID: true}},
		"before the end":  {Delays: deepgramtest.VoiceDelays{Chunk: func() time.Duration { return time.Millisecond }}},
		"cannot be ended": {Delays: deepgramtest.VoiceDelays{FirstAudio: slowly}, Traps: deepgramtest.VoiceTraps{NoAudioGenerated: true}},
	} {
		t.Run(name, func(t *testing.T) {
			s := deepgramtest.New(t, deepgramtest.Script{Voice: script})
			e := speaker(t, s, haley)
			for n := range 5 {
				u, err := e.Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en", Rate: media.Rate8k})
				if err != nil {
					t.Fatal(err)
				}
				before := len(s.Speeches())
				u.Say(strings.Repeat("This goes on for quite some time. ", 10))
				if n%2 == 0 {
					<-u.Chunks()
				} else {
					loopbacktest.Await(t, "the text's arrival", func() bool { return len(s.Speeches()) > before })
				}
				u.Cancel()
				for range u.Chunks() {
				}
				if length, _, err := speak(t, e, "Sorry? "); err != nil || length != 7*deepgramtest.CharacterTime {
					t.Errorf("%v of audio, %v", length, err)
				}
			}
		})
	}
}

// TestFluxSettings: speeds are those that Deepgram has. Each speed has an engine of its own,
// because an engine asks nothing anew of a connection that it keeps.
func TestFluxSettings(t *testing.T) {
	for speed, want := range map[float64]string{0: "", 1: "", 1.02: "", 1.23: "1.25", 2: "1.5", 0.1: "0.5"} {
		s := deepgramtest.New(t, deepgramtest.Script{})
		e, err := deepgram.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": haley}, Options: inference.Options(`{"expressivity": -1}`)})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range e.Speak(t.Context(), inference.Speech{Text: "Hello.", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en", Speed: speed}}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if q := s.Books().Query; q.Get("speed") != want || q.Get("expressivity") != "-1" {
			t.Errorf("speed %v: %v", speed, q)
		}
		e.Close()
	}
	for want, c := range map[string]remote.Engine{
		"two engines": {Voices: synthesiser.Voices{"F1": haley, "M1": "aura-2-orion-en"}},
		"-2 to 2":     {Voices: synthesiser.Voices{"F1": haley}, Options: inference.Options(`{"expressivity": 3}`)},
	} {
		c.APIKey = "k"
		if _, err := deepgram.NewTTS(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
