package pipeline_test

import (
	"slices"
	"testing"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/pipelinetest"
)

// TestPhonesOfALineSaidTwice: the phonemes of a line whose audio is kept stand where the
// line does, each time it is said.
func TestPhonesOfALineSaidTwice(t *testing.T) {
	var got []time.Duration
	play(t, 12000, func(s *pipelinetest.Scene) {
		s.LLM.Replies[0] = s.LLM.Replies[0][:2]
		s.LLM.Replies[0][0].Text, s.LLM.Replies[0][1].Text = "Hello. ", "Are you still there?"
		s.Voice = oddVoice{s.TTS, func(inference.Speech) []inference.Chunk {
			return []inference.Chunk{{Samples: make([]int16, 24000), Rate: media.Rate24k, Phones: []inference.Mark{{Text: "a", End: time.Second}}}}
		}}
		s.Observe = func(_ *pipeline.Call, e pipeline.Event) {
			for _, p := range e.Phones {
				got = append(got, p.Start, p.End)
				e.Phones[0].Start = time.Hour // they are the observer's
			}
		}
	}, func(t *testing.T, _ *pipelinetest.Scene) {
		once := []time.Duration{0, time.Second, time.Second, 2 * time.Second}
		if want := slices.Concat(once, once); !slices.Equal(got, want) {
			t.Errorf("phonemes from and to %v, want %v", got, want)
		}
	}, said(1000, 2500, "hello"), said(7000, 8000, "hello"))
}
