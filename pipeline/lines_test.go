package pipeline_test

import (
	"slices"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/event"
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
		s.Observe = func(_ *pipeline.Call, e event.Event) {
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

// TestMarksOfALineSaidTwice: the words of a line whose audio is kept stand where the voice has marked them, each time it is
// said, and its caption comes with the first of them.
func TestMarksOfALineSaidTwice(t *testing.T) {
	const line = "Are you still there?"
	for _, streaming := range []bool{false, true} {
		said, caption := 0, media.Time(0)
		play(t, 20000, func(s *pipelinetest.Scene) {
			if s.Config.Turn.Idle = 3 * media.Second; streaming {
				streams(s)
			}
			s.Observe = func(_ *pipeline.Call, e event.Event) {
				switch {
				case e.Text != line:
				case e.Kind == event.AgentPartial:
					caption = e.At
				case e.Kind == event.AgentLine:
					said++
					words := e.Said.Words
					if e.Said.Estimated || len(words) != 4 {
						t.Errorf("%d words, estimated: %v", len(words), e.Said.Estimated)
						return
					}
					for i, w := range words {
						if at := w.From - words[0].From; at != media.Time(i)*250*media.Millisecond {
							t.Errorf("%s is at %v", w.Text, at.Duration())
						}
					}
					if ahead := words[0].From - caption; ahead < 0 || ahead > 400*media.Millisecond {
						t.Errorf("the caption is %v ahead of its words", ahead.Duration())
					}
				}
			}
		}, func(t *testing.T, s *pipelinetest.Scene) {
			made := 0
			for _, c := range s.TTS.Calls() {
				if c.Speech.Text == line {
					made++
				}
			}
			if said < 2 || made != 1 {
				t.Errorf("it was said %d times, and made %d times", said, made)
			}
		})
	}
}

// TestLinesFollowTheAgent: a line that was made ahead is made again when the agent has come
// to speak otherwise.
func TestLinesFollowTheAgent(t *testing.T) {
	var spoken []inference.Speech
	play(t, 20000, func(s *pipelinetest.Scene) {
		s.Config.Turn.Idle = 3 * media.Second
		s.Act = func(c *pipeline.Call) {
			time.Sleep(time.Second)
			c.Update(func(a *agent.Agent) { a.Speed = 1.5 })
		}
		s.Voice = oddVoice{s.TTS, func(x inference.Speech) []inference.Chunk {
			spoken = append(spoken, x)
			return []inference.Chunk{{Samples: make([]int16, 24000), Rate: media.Rate24k}}
		}}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `agent_line "Are you still there?"`)
		if !slices.ContainsFunc(spoken, func(x inference.Speech) bool { return x.Text == "Are you still there?" && x.Speed == 1.5 }) {
			t.Errorf("nobody spoke it faster: %+v", spoken)
		}
	})
}

// TestFillersOfNoRate: audio of a rate that cannot be is not kept for later.
func TestFillersOfNoRate(t *testing.T) {
	play(t, 9000, func(s *pipelinetest.Scene) {
		s.Config.ClientTools, s.Config.Agent.Tools = true, []inference.Tool{{Name: "book"}}
		s.LLM.Replies = [][]enginetest.Step{calls("", "book")}
		s.Voice = oddVoice{s.TTS, func(inference.Speech) []inference.Chunk {
			return []inference.Chunk{{Samples: make([]int16, 24000), Rate: 7}}
		}}
	}, func(t *testing.T, s *pipelinetest.Scene) { has(t, s, "9010 end api_hangup") }, said(1000, 2500, "book it"))
}
