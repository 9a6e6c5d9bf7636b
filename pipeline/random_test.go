package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline"
	"parley/pipeline/pipelinetest"
)

// TestRandomConversations plays conversations with random speech, noise, engine
// delays and faults, and checks what must hold in every one of them.
func TestRandomConversations(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	for seed := range rounds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playRandom(t, uint64(seed)) })
		})
	}
}

func playRandom(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	between := func(lo, hi int) time.Duration { return time.Duration(lo+rng.IntN(hi-lo)) * ms }
	texts := []string{"", "", "uh-huh", "yes", "stop", "no wait", "what time do you open on monday", "book a table", "goodbye"}
	var speech []pipelinetest.Said
	for at := between(200, 3000); at < 25*time.Second; {
		length := between(60, 2500)
		speech = append(speech, pipelinetest.Said{From: at, To: at + length, Text: texts[rng.IntN(len(texts))], Level: -float32(10 + rng.IntN(40))})
		at += length + between(60, 4000)
	}
	s := pipelinetest.NewScene(speech...)
	for i := range s.ASR.Plan {
		s.ASR.Plan[i].At += between(0, 400)
	}
	s.Config.ClientTools = true
	s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
	s.TTS.FirstAudio, s.TTS.Every = between(0, 300), between(0, 60)
	s.TTS.IgnoreCancel = rng.IntN(2) == 0
	s.LLM.Answer = func(n int, r inference.Request) []enginetest.Step {
		steps := enginetest.Sentences(between(0, 900), "One thing. ", "Another thing. ", "Shall I?")
		switch rng.IntN(8) {
		case 0:
			steps = append(steps[:1:1], enginetest.Step{Err: &inference.Error{Engine: "fake", Fault: inference.ErrFailed}})
		case 1:
			steps = append(steps, enginetest.Step{Tool: &inference.ToolCall{Name: "book", Arguments: "{}"}})
		case 2:
			steps = []enginetest.Step{{Tool: &inference.ToolCall{Name: "nobody", Arguments: "{}"}}}
		}
		return steps
	}
	v := &invariants{t: t, results: map[string]int{}, asked: map[string]bool{}}
	s.Observe = func(c *pipeline.Call, e pipeline.Event) {
		v.see(e)
		if e.Kind == pipeline.ToolAsked && rng.IntN(3) > 0 {
			time.AfterFunc(between(0, 12000), func() { c.ToolResult(e.Call.ID, "{}") })
		}
	}
	s.Play(t, 30*time.Second+ms)
	v.end(len(s.LLM.Calls()))
	if t.Failed() {
		t.Log("\n" + s.Log())
	}
	time.Sleep(20 * time.Second) // timers of the test itself
}

// invariants checks the order of a conversation's events.
type invariants struct {
	t        *testing.T
	ended    int
	thinking int
	speaking int
	used     int
	results  map[string]int
	asked    map[string]bool
	cut      bool
}

func (v *invariants) see(e pipeline.Event) {
	if v.ended > 0 {
		v.t.Errorf("%s after the end", e.Kind)
	}
	switch e.Kind {
	case pipeline.Thinking:
		if e.Generation != v.thinking+1 {
			v.t.Errorf("thinking %d after %d", e.Generation, v.thinking)
		}
		v.thinking, v.cut = e.Generation, false
	case pipeline.Speaking:
		if e.Generation != v.thinking {
			v.t.Errorf("speaking %d while thinking of %d", e.Generation, v.thinking)
		}
		if v.cut {
			v.t.Errorf("speaking again after the cut of %d", e.Generation)
		}
		v.speaking = e.Generation
	case pipeline.AgentPartial:
		if v.cut {
			v.t.Errorf("a sentence of %d begins after its cut", e.Generation)
		}
	case pipeline.Interrupted:
		v.cut = true
	case pipeline.ToolAsked:
		v.asked[e.Call.ID] = true
	case pipeline.ToolEnded:
		v.results[e.Call.ID]++
		if v.results[e.Call.ID] > 1 {
			v.t.Errorf("%s has %d results", e.Call.ID, v.results[e.Call.ID])
		}
	case pipeline.Used:
		v.used++
	case pipeline.End:
		v.ended++
	}
}

func (v *invariants) end(requests int) {
	if v.ended != 1 {
		v.t.Errorf("%d ends, want 1", v.ended)
	}
	if v.used != requests {
		v.t.Errorf("usage of %d completions was reported, the model was asked %d times", v.used, requests)
	}
	for id := range v.asked {
		if v.results[id] != 1 {
			v.t.Errorf("%s has no result", id)
		}
	}
}
