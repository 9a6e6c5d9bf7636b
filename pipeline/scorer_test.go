package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/pipelinetest"
)

// deafScorer goes on after its deadline.
type deafScorer struct{ *enginetest.FakeTurnScorer }

func (d deafScorer) Score(ctx context.Context, p inference.Pause) (float64, error) {
	return d.FakeTurnScorer.Score(context.WithoutCancel(ctx), p)
}

// TestScorer: what a scorer says of a pause in time counts instead of the words, and decides when the turn ends. The replay of
// each conversation, which asks nobody, goes the same way.
func TestScorer(t *testing.T) {
	for _, c := range []struct {
		name     string
		complete float64 // of the words
		prob     float64
		after    time.Duration
		fails    bool
		deaf     bool
		commits  string
	}{
		{"nothing is known of the words", 0.1, 0.9, 50 * ms, false, false, "2700"},
		{"a pause that is long already ends", 0.1, 0.9, 1000 * ms, false, false, "3600"},
		{"a caller who has more to say", 0.9, 0.1, 50 * ms, false, false, "4900"},
		{"nor one who may have", 0.9, 0.4, 50 * ms, false, false, "4020"},
		{"an error", 0.9, 0.1, 50 * ms, true, false, "2700"},
		{"an error, and unfinished words", 0.1, 0.9, 50 * ms, true, false, "4900"},
		{"no probability", 0.9, -1, 50 * ms, false, false, "2700"},
		{"an answer after the end of the turn", 0.9, 0.1, 700 * ms, false, false, "2700"},
		{"and of a scorer that knows no deadline", 0.9, 0.1, 700 * ms, false, true, "2700"},
	} {
		t.Run(c.name, func(t *testing.T) {
			scorer := &enginetest.FakeTurnScorer{After: c.after, Prob: func(inference.Pause) float64 { return c.prob }}
			if c.fails {
				scorer.Err = errors.New("no")
			}
			play(t, 9000, func(s *pipelinetest.Scene) {
				s.Config.Scorer = scorer
				if c.deaf {
					s.Config.Scorer = deafScorer{scorer}
				}
				s.Config.Turn.Complete = func(string) float64 { return c.complete }
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if want := c.commits + ` user_line "what time do you open"`; !strings.Contains(s.Log(), want) {
					t.Errorf("no %s in\n%s", want, s.Log())
				}
			}, said(1000, 2500, "what time do you open"))
		})
	}
}

// TestScorerIsAskedAgain: in each pause, and when its words change; what was to come of an earlier pause counts in no later one. It
// hears the turn from its beginning and knows what was said.
func TestScorerIsAskedAgain(t *testing.T) {
	scorer := &enginetest.FakeTurnScorer{After: 1500 * ms, Prob: func(p inference.Pause) float64 {
		if strings.Contains(p.Text, "open") {
			return 0.1
		}
		return 1
	}}
	play(t, 12000, func(s *pipelinetest.Scene) {
		s.Config.Agent.FirstMessage = "Casa Lola."
		s.Config.Scorer = deafScorer{scorer}
		s.Config.Turn.Complete = func(string) float64 { return 0.1 }
		s.ASR.Plan = []enginetest.Heard{{At: 3450 * ms, Text: "what time"}, {At: 3520 * ms, Text: "what time", Final: true},
			{At: 4600 * ms, Text: "do you"}, {At: 5210 * ms, Text: "do you open", Final: true}}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		var asked []string
		for _, p := range scorer.Pauses() {
			asked = append(asked, fmt.Sprintf("%d %q %s %s", len(p.Audio)/16, p.Text, p.Language, p.Said))
		}
		want := []string{`1900 "what time" en Casa Lola.`, `3300 "what time do you" en Casa Lola.`, `3600 "what time do you open" en Casa Lola.`}
		if !slices.Equal(asked, want) {
			t.Errorf("asked  %q\nwanted %q", asked, want)
		}
		if want := `7200 user_line "what time do you open"`; !strings.Contains(s.Log(), want) {
			t.Errorf("no %s", want)
		}
	}, said(2000, 3400, ""), said(3700, 4800, ""))
}
