package rime_test

import (
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/remote"
	"parley/inference/rime"
	"parley/inference/rime/rimetest"
	"parley/inference/synthesiser"
)

// TestInterruptedSocket: what Rime speaks cannot be stopped but by the end of its socket; the next reply finds another that
// is open. One that has spoken all is used again.
func TestInterruptedSocket(t *testing.T) {
	for _, speaking := range []bool{true, false} {
		s := rimetest.New(t, rimetest.Script{Delays: rimetest.Delays{Chunk: func() time.Duration { return 5 * time.Millisecond }}})
		e, err := rime.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": rimetest.DefaultVoice}, Stall: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		u, err := e.Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		u.Say("This goes on for quite some time. ")
		for c := range u.Chunks() {
			if speaking || c.Last {
				break
			}
		}
		u.Cancel()
		for range u.Chunks() {
		}
		if speaking {
			loopbacktest.Await(t, "another socket", func() bool { return s.Books().Opened == 2 })
		}
		for c, err := range e.Speak(t.Context(), inference.Speech{Text: "Sorry?", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}) {
			if err != nil || c.Length() > 200*time.Millisecond {
				t.Errorf("%v of audio, %v", c.Length(), err)
			}
		}
		if b := s.Books(); !speaking && b.Opened != 1 {
			t.Errorf("%d sockets", b.Opened)
		}
		e.Close()
	}
}
