package reply

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/turn"
)

// TestLinesAreShared: what one call has a voice speak the next one has, for an hour.
func TestLinesAreShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		voice, lines := enginetest.NewFakeTTS(), &Lines{}
		a := &agent.Agent{Language: "en", Voice: voice.VoiceIDs[0], FirstMessage: "Good morning. How are you?"}
		rehearse := func(tts inference.TTS, l *Lines) *Maker {
			m := NewMaker(nil, tts, l, still{})
			m.rehearse(t.Context(), a, turn.Greeting, 0)
			return m
		}
		before := len(rehearse(voice, lines).Line(a, a.FirstMessage))
		asked := len(voice.Calls())
		if again := rehearse(voice, lines).Line(a, a.FirstMessage); before == 0 || len(again) != before || len(voice.Calls()) != asked {
			t.Errorf("%d chunks, then %d; the voice was asked for %d texts, then for %d", before, len(again), asked, len(voice.Calls()))
		}
		if rehearse(voice, nil); len(voice.Calls()) != 2*asked {
			t.Errorf("without lines that are shared, for %d", len(voice.Calls()))
		}
		if rehearse(enginetest.NewFakeTTS(), lines); len(voice.Calls()) != 2*asked {
			t.Error("another voice has asked this one")
		}
		time.Sleep(sharedFor + time.Second)
		if rehearse(voice, lines); len(voice.Calls()) != 3*asked {
			t.Errorf("after an hour, for %d", len(voice.Calls()))
		}
	})
}

// TestLinesOfAStandIn: calls do not keep the voice that stood in for one that failed.
func TestLinesOfAStandIn(t *testing.T) {
	broken, other := enginetest.NewFakeTTS(), enginetest.NewFakeTTS()
	broken.Name, broken.Limit, broken.Err = "broken", 0, &inference.Error{Engine: "broken", Fault: inference.ErrFailed}
	other.Name = "other"
	a := &agent.Agent{Language: "en", Voice: other.VoiceIDs[0]}
	tts, lines := inference.NewFailoverTTS(inference.FailoverConfig{}, broken, other), &Lines{}
	for range 2 {
		NewMaker(nil, tts, lines, still{}).rehearse(t.Context(), a, turn.Greeting, 0)
	}
	if n := len(other.Calls()); n == 0 || n%2 != 0 || len(lines.kept) != 0 {
		t.Errorf("the voice was asked for %d texts in two calls, %d lines are kept", n, len(lines.kept))
	}
}

// TestLinesAreBounded: the lines that were not used for longest go.
func TestLinesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		voice, lines := enginetest.NewFakeTTS(), &Lines{}
		samples := make([]int16, maxShared/10)
		for n := range 15 {
			lines.put(voice, fmt.Sprint(n), []inference.Chunk{{Samples: samples, Rate: media.Rate24k}})
			time.Sleep(time.Second)
			lines.get(voice, "0")
		}
		for n := range 15 {
			if got := lines.get(voice, fmt.Sprint(n)) != nil; got != (n == 0 || n > 5) {
				t.Errorf("line %d is kept: %v", n, got)
			}
		}
		if lines.put(voice, "long", []inference.Chunk{{Samples: make([]int16, maxShared/4), Rate: media.Rate24k}}); lines.get(voice, "long") != nil {
			t.Error("one line takes a quarter of the room")
		}
	})
}
