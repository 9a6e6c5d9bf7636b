package pipeline_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/pipelinetest"
)

// TestBatchRecogniser: one that recognises whole utterances is asked once a turn, though
// the caller pauses in it, and how long it took is measured from then on.
func TestBatchRecogniser(t *testing.T) {
	var waits []time.Duration
	turn := []pipelinetest.Said{said(1000, 1500, ""), said(1660, 2200, ""), said(2360, 3000, "")}
	for name, c := range map[string]struct {
		batch bool
		asked int
		log   string
	}{"batch": {true, 1, "3500 user_line"}, "stream": {false, 3, "3400 user_line"}} {
		t.Run(name, func(t *testing.T) {
			waits = nil
			play(t, 6000, func(s *pipelinetest.Scene) {
				s.ASR.Plan, s.ASR.FinalAfter, s.ASR.Texts = nil, 300*ms, []string{"a table for two please"}
				s.Config.Turn.Batch = c.batch
				if c.batch {
					s.ASR.Feed = inference.FeedBatch
				}
				s.Config.Recognised = func(wait time.Duration) { waits = append(waits, wait) }
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if n := s.ASR.Streams()[0].Finishes(); n != c.asked {
					t.Errorf("asked %d times, want %d", n, c.asked)
				}
				if want := []time.Duration{300 * ms}; !slices.Equal(waits, want) {
					t.Errorf("took %v, want %v", waits, want)
				}
				if !strings.Contains(s.Log(), c.log+` "a table for two please"`) {
					t.Errorf("no %q in\n%s", c.log, s.Log())
				}
			}, turn...)
		})
	}
}

// TestRecogniserBehind: what a recogniser that is behind has heard so far is not the turn.
func TestRecogniserBehind(t *testing.T) {
	play(t, 9000, func(s *pipelinetest.Scene) {
		s.ASR.Plan = []enginetest.Heard{{At: 2000 * ms, Text: "what"}, {At: 5040 * ms, Text: "what time do you open", Final: true}}
		s.ASR.Lag = func(at time.Duration) time.Duration { return max(0, 5*time.Second-at) }
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if log := s.Log(); !strings.Contains(log, `user_line "what time do you open"`) || strings.Contains(log, `user_line "what"`) {
			t.Errorf("the turn is not what was said:\n%s", log)
		}
	}, said(1000, 2500, ""))
}

// TestContinuousRecogniser: one that finds the ends of turns by itself gets the call's whole
// audio, and the conversation is the same.
func TestContinuousRecogniser(t *testing.T) {
	heard, logs := map[inference.Feed]int{}, map[inference.Feed]string{}
	for _, feed := range []inference.Feed{inference.FeedUtterances, inference.FeedContinuous} {
		play(t, 6000, func(s *pipelinetest.Scene) {
			s.ASR.Feed, s.ASR.Keep = feed, true
		}, func(t *testing.T, s *pipelinetest.Scene) {
			heard[feed], logs[feed] = len(s.ASR.Streams()[0].Audio())/320, s.Log()
		}, said(1000, 2500, "what time do you open"))
	}
	if n := heard[inference.FeedContinuous]; n < 295 || n > 301 {
		t.Errorf("heard %d frames of 300", n)
	}
	if n := heard[inference.FeedUtterances]; n > 150 {
		t.Errorf("heard %d frames of an utterance of 75", n)
	}
	if logs[inference.FeedContinuous] != logs[inference.FeedUtterances] {
		t.Errorf("the conversations differ:\n%s\n%s", logs[inference.FeedUtterances], logs[inference.FeedContinuous])
	}
}
