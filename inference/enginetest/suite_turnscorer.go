package enginetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"parley/inference"
)

// TestTurnScorer checks that an engine keeps the contract of inference.TurnScorer.
// run is synctest.Test for an engine that lives in simulated time, else nil.
func TestTurnScorer(t *testing.T, engine inference.TurnScorer, run func(*testing.T, func(*testing.T))) {
	language := engine.Info().Languages[0]
	pause := func() inference.Pause {
		return inference.Pause{Audio: make([]int16, 2*16000), Text: "a table for two", Language: language, Said: "What can I do for you?"}
	}
	score := func(t *testing.T, p inference.Pause) {
		t.Helper()
		if v, err := engine.Score(t.Context(), p); err != nil || v < 0 || v > 1 {
			t.Errorf("score %v, error %v", v, err)
		}
	}
	bubble(run).runAll(t, []check{
		{"info", func(t *testing.T) {
			if engine.Info().Name == "" {
				t.Error("no name")
			}
			languages(t, engine.Info().Languages)
		}},
		{"scores", func(t *testing.T) {
			p := pause()
			score(t, p)
			if slices.ContainsFunc(p.Audio, func(v int16) bool { return v != 0 }) {
				t.Error("the audio was written to")
			}
		}},
		{"nothing known", func(t *testing.T) { score(t, inference.Pause{Language: language}) }},
		{"past the deadline", func(t *testing.T) {
			ctx, cancel := context.WithDeadline(t.Context(), time.Now())
			defer cancel()
			inTime(t, "Score", func() {
				if _, err := engine.Score(ctx, pause()); err == nil {
					t.Error("a score after the deadline")
				}
			})
		}},
		{"concurrent", func(t *testing.T) { many(8, func(int) { score(t, pause()) }) }},
	})
}
