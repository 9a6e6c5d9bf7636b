package inference_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
)

// TestUtteranceOfWholeTexts: the times of words and what was consumed count from the
// utterance's beginning, whatever the number of texts.
func TestUtteranceOfWholeTexts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u, err := inference.Streaming(enginetest.NewFakeTTS()).Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{"One two.", "", "Three."} {
			if err := u.Say(text); err != nil {
				t.Error(err)
			}
		}
		u.End()
		var words []string
		for c := range u.Chunks() {
			for _, w := range c.Words {
				words = append(words, w.Text+" "+w.Start.String())
			}
			if c.Err != nil || c.Say == 2 {
				t.Errorf("chunk of Say %d, error %v", c.Say, c.Err)
			}
		}
		if want := []string{"One 0s", "two. 250ms", "Three. 1s"}; !slices.Equal(words, want) {
			t.Errorf("words %q, want %q", words, want)
		}
	})
}

// TestUtteranceIsBounded: text that nobody speaks does not pile up for ever.
func TestUtteranceIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tts := enginetest.NewFakeTTS()
		tts.FirstAudio = time.Hour
		u, err := inference.Streaming(tts).Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		defer u.Cancel()
		said := 0
		for ; err == nil && said < 1000; said++ {
			err = u.Say(strings.Repeat("x", 1000))
		}
		if !errors.Is(err, inference.ErrUtteranceFull) || said < 30 || said > 40 {
			t.Errorf("after %d texts: %v", said, err)
		}
	})
}
