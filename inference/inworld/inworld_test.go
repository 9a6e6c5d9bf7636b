package inworld_test

import (
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/inworld"
	"parley/inference/inworld/inworldtest"
	"parley/inference/remote"
	"parley/inference/synthesiser"
)

func speak(t *testing.T, script inworldtest.Script, texts ...string) (length map[int]time.Duration, last []int, err error) {
	t.Helper()
	s := inworldtest.New(t, script)
	e, err := inworld.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": "Ashley"}, Stall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	u, err := e.Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en"})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		u.Say(text)
	}
	u.End()
	length = map[int]time.Duration{}
	for c := range u.Chunks() {
		if c.Err != nil {
			return length, last, c.Err
		}
		if length[c.Say] += c.Length(); c.Last {
			last = append(last, c.Say)
		}
	}
	return length, last, nil
}

// TestLongText: one that is longer than Inworld takes is said in parts, and is over once.
func TestLongText(t *testing.T) {
	long := strings.Repeat("This goes on and on, ", 120) + "to its end. "
	length, last, err := speak(t, inworldtest.Script{}, "First. ", long, "Third. ")
	for say, text := range map[int]string{1: "First. ", 2: long, 3: "Third. "} {
		if want := time.Duration(len(text)) * inworldtest.CharacterTime; length[say] != want {
			t.Errorf("Say %d: %v of audio, want %v", say, length[say], want)
		}
	}
	if len(last) != 3 || err != nil {
		t.Errorf("ends of %v, %v", last, err)
	}
}

// TestStatuses: what Inworld refuses within a socket has its fault.
func TestStatuses(t *testing.T) {
	said := []string{"it never was"} // what is said in a context that was refused
	if _, _, err := speak(t, inworldtest.Script{Voices: []string{"Dennis"}, Expects: said}, "Hello. "); inference.FaultOf(err) != inference.ErrRefused {
		t.Errorf("no such voice: %v", err)
	}
	s := inworldtest.New(t, inworldtest.Script{Contexts: 1, Expects: said, Delays: inworldtest.Delays{FirstAudio: func() time.Duration { return 300 * time.Millisecond }}})
	e, err := inworld.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": "Ashley"}, Stall: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	speech := inference.Speech{Text: "Hello.", VoiceConfig: inference.VoiceConfig{Voice: "F1", Language: "en"}}
	first, err := e.Open(t.Context(), speech.VoiceConfig)
	if err != nil {
		t.Fatal(err)
	}
	first.Say("Good morning. ")
	loopbacktest.Await(t, "the first context", func() bool { return s.Busy() == 1 })
	for _, err := range e.Speak(t.Context(), speech) {
		if inference.FaultOf(err) != inference.ErrUnavailable {
			t.Errorf("too many: %v", err)
		}
	}
	first.End()
	for c := range first.Chunks() {
		if c.Err != nil {
			t.Errorf("the first: %v", c.Err)
		}
	}
}
