package pipeline_test

import (
	"context"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/reply"
)

// adapter is what is done for an engine on this side of the network: before a request goes
// out, and after an answer came in.
type adapter struct{ before, after time.Duration }

func around[T any](a adapter, ctx context.Context, made iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		time.Sleep(a.before)
		inference.Sent(ctx)
		for v, err := range made {
			inference.Got(ctx, time.Now())
			time.Sleep(a.after)
			if !yield(v, err) {
				return
			}
		}
	}
}

type adaptedLLM struct {
	inference.LLM
	adapter
}

func (l adaptedLLM) Complete(ctx context.Context, r inference.Request) iter.Seq2[inference.Delta, error] {
	return around(l.adapter, ctx, l.LLM.Complete(ctx, r))
}

type adaptedTTS struct {
	inference.TTS
	adapter
}

func (v adaptedTTS) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return around(v.adapter, ctx, v.TTS.Speak(ctx, s))
}

// TestOverhead: what the server does between the caller's turn and the first packet is its
// own, and what engines are waited for is theirs.
func TestOverhead(t *testing.T) {
	const late = 40 * ms
	for _, c := range []struct {
		name                 string
		model                []enginetest.Step
		voice                time.Duration
		conductor            time.Duration // how long it takes over what the caller has said
		llm, tts             adapter
		ahead                bool
		wantModel, wantVoice time.Duration
		wantOverhead         time.Duration // and at most a frame more
	}{
		{name: "nothing takes long"},
		{name: "a slow conductor", conductor: late, wantOverhead: late},
		{name: "requests are made slowly", llm: adapter{before: late}, tts: adapter{before: late}, wantOverhead: 2 * late},
		{name: "answers are passed on slowly", llm: adapter{after: late}, tts: adapter{after: late}, wantOverhead: 2 * late},
		{name: "slow engines", model: enginetest.Sentences(150*ms, "Yes. "), voice: 80 * ms, wantModel: 150 * ms, wantVoice: 80 * ms},
		{name: "a model that writes slowly", model: []enginetest.Step{{After: 100 * ms, Text: "Yes, we "}, {After: 50 * ms, Text: "do. "}},
			voice: 80 * ms, wantModel: 100 * ms, wantVoice: 130 * ms},
		{name: "slow everything", model: enginetest.Sentences(150*ms, "Yes. "), voice: 80 * ms, conductor: late,
			llm: adapter{before: late}, tts: adapter{after: late}, wantModel: 150 * ms, wantVoice: 80 * ms, wantOverhead: 3 * late},
		{name: "begun in advance", ahead: true, model: enginetest.Sentences(20*ms, "Yes. "), voice: 20 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(said(1000, 2500, "what time do you open"))
				if c.model == nil {
					c.model = enginetest.Sentences(0, "Yes. ")
				}
				s.LLM.Replies, s.TTS.FirstAudio = [][]enginetest.Step{c.model}, c.voice
				s.Model, s.Voice = adaptedLLM{s.LLM, c.llm}, adaptedTTS{s.TTS, c.tts}
				if c.ahead {
					ahead(s)
				}
				var got *reply.Timing
				s.Observe = func(_ *pipeline.Call, e event.Event) {
					switch e.Kind {
					case event.UserLine:
						time.Sleep(c.conductor)
					case event.Timed:
						got = &e.Timing
					}
				}
				s.Play(t, 5*time.Second)
				if got == nil {
					t.Fatal("the answer was not timed")
				}
				if got.Model != c.wantModel || got.Voice != c.wantVoice ||
					got.Overhead < c.wantOverhead || got.Overhead > c.wantOverhead+media.FrameDuration {
					t.Errorf("model %v, voice %v, overhead %v; want %v, %v, %v", got.Model, got.Voice, got.Overhead, c.wantModel, c.wantVoice, c.wantOverhead)
				}
				if sum := got.Endpoint + got.Model + got.Voice + got.Overhead; sum != got.Total {
					t.Errorf("the parts are %v, the total is %v", sum, got.Total)
				}
			})
		})
	}
}
