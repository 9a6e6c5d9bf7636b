package pipeline_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
)

// called is an engine by another name; a mute one fails whatever it is asked.
type (
	calledLLM struct {
		inference.LLM
		name string
		mute bool
	}
	calledTTS struct {
		inference.TTS
		name string
		mute bool
	}
)

func (c calledLLM) Info() inference.Info { return inference.Info{Name: c.name} }
func (c calledTTS) Info() inference.Info { return inference.Info{Name: c.name} }

func (c calledLLM) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	if c.mute {
		return func(yield func(inference.Delta, error) bool) {
			yield(inference.Delta{}, &inference.Error{Engine: c.name, Fault: inference.ErrUnavailable})
		}
	}
	return c.LLM.Complete(ctx, r)
}

func (c calledTTS) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	if c.mute {
		return func(yield func(inference.Chunk, error) bool) {
			yield(inference.Chunk{}, &inference.Error{Engine: c.name, Fault: inference.ErrUnavailable})
		}
	}
	return c.TTS.Speak(ctx, s)
}

// served are the Served events of a scene as "stage engine", and whose completions were.
func served(s *pipelinetest.Scene) (stages, completions *[]string) {
	stages, completions = new([]string), new([]string)
	s.Observe = func(_ *pipeline.Call, e event.Event) {
		switch e.Kind {
		case event.Served:
			*stages = append(*stages, string(e.Stage)+" "+e.Text)
		case event.Used:
			*completions = append(*completions, e.Usage.Engine)
		}
	}
	return stages, completions
}

// TestWhoServed: where the first engine of a list fails the next one answers within the
// turn, and it is the one that is named; each is told of once.
func TestWhoServed(t *testing.T) {
	var stages, completions *[]string
	play(t, 12000, func(s *pipelinetest.Scene) {
		c := inference.FailoverConfig{}
		s.Model = inference.NewFailoverLLM(c, calledLLM{name: "first mind", mute: true}, calledLLM{s.LLM, "second mind", false})
		s.Voice = inference.NewFailoverTTS(c, calledTTS{name: "first voice", mute: true}, calledTTS{s.TTS, "second voice", false})
		s.Recogniser = inference.NewFailoverASR(c, s.ASR)
		s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, "Yes. "), enginetest.Sentences(150*ms, "No. ")}
		stages, completions = served(s)
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `agent_line "Yes."`, `agent_line "No."`)
		if want := []string{"asr fake-asr", "llm second mind", "tts second voice"}; !slices.Equal(*stages, want) {
			t.Errorf("served: %q, want %q", *stages, want)
		}
		if want := []string{"second mind", "second mind"}; !slices.Equal(*completions, want) {
			t.Errorf("completions of %q, want %q", *completions, want)
		}
	}, said(1000, 2500, "hello"), said(6000, 7500, "again"))
}

// TestWhoServedAlone: engines that are alone go by their own names, and one that only
// failed has not served.
func TestWhoServedAlone(t *testing.T) {
	var stages, completions *[]string
	play(t, 6000, func(s *pipelinetest.Scene) {
		s.LLM.Replies = [][]enginetest.Step{{{Err: broken}}}
		stages, completions = served(s)
	}, func(t *testing.T, _ *pipelinetest.Scene) {
		if want := []string{"asr fake-asr", "tts fake-tts"}; !slices.Equal(*stages, want) { // it says that something went wrong
			t.Errorf("served: %q, want %q", *stages, want)
		}
		if want := []string{""}; !slices.Equal(*completions, want) {
			t.Errorf("completions of %q, want %q", *completions, want)
		}
	}, said(1000, 2500, "hello"))
}
