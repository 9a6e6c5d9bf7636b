package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
	"parley/pipeline/turn"
)

// TestRandomConversations plays conversations with random speech, noise, networks,
// engine delays and faults, and checks what must hold in every one of them.
func TestRandomConversations(t *testing.T) {
	playMany(t, 0, 60)
}

// TestRandomStreams is the same with voices that stream, give up utterances, and leave the ends of sentences unmarked: none
// has an open utterance in the end.
func TestRandomStreams(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var v *enginetest.FakeStreamingTTS
				playRandom(t, seed, func(s *pipelinetest.Scene) {
					v = streams(s)
					v.Unmarked, v.Idle = seed%2 == 1, time.Duration(seed%3)*300*ms
				})
				closed(t, v)
			})
		})
	}
}

// TestSoakRandomConversations is the same at length.
func TestSoakRandomConversations(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	playMany(t, 60, 1150)
}

func playMany(t *testing.T, from, to int) {
	for seed := from; seed < to; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playRandom(t, uint64(seed), func(*pipelinetest.Scene) {}) })
		})
	}
}

// dice are random numbers that may be drawn on any goroutine.
type dice struct {
	run int // of many, from 0
	mu  sync.Mutex
	rng *rand.Rand
}

func (d *dice) n(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rng.IntN(n)
}

func (d *dice) one(in int) bool { return d.n(in) == 0 }

func (d *dice) between(lo, hi int) time.Duration { return time.Duration(lo+d.n(hi-lo)) * ms }

func playRandom(t *testing.T, seed uint64, setup func(*pipelinetest.Scene)) {
	d := &dice{rng: rand.New(rand.NewPCG(seed, 1))}
	s := pipelinetest.NewScene(randomSpeech(d)...)
	randomNetwork(d, s)
	randomEngines(d, s)
	setup(s)
	if d.one(2) {
		ahead(s)
	}
	s.TTS.Remote = d.one(3)
	if d.one(4) {
		s.Config.Turn.Barge, s.Config.Turn.Greeting = turn.Policy(d.n(3)), turn.Policy(d.n(3))
	}
	if d.one(4) {
		s.Config.Agent.FirstMessage = "Hello there. How can I help you?"
	}
	s.Config.Turn.Idle = media.FromDuration(d.between(0, 8000))
	v := &invariants{t: t, leg: s.Leg, results: map[string]int{}, asked: map[string]bool{}}
	s.Observe = func(c *pipeline.Call, e event.Event) {
		v.see(e)
		if e.Kind == event.ToolAsked && !d.one(3) {
			time.AfterFunc(d.between(0, 12000), func() { c.ToolResult(e.Call.ID, "{}") })
		}
	}
	s.Act = func(c *pipeline.Call) { meddle(d, s, c) }
	s.Play(t, 20*time.Second+ms)
	v.end(len(s.LLM.Calls()))
	if t.Failed() {
		t.Log("\n" + s.Log())
	}
	time.Sleep(20 * time.Second) // timers of the test itself
}

func randomSpeech(d *dice) (speech []pipelinetest.Said) {
	texts := []string{"", "", "uh-huh", "yes", "stop", "no wait", "what time do you open on monday", "book a table", "goodbye"}
	for at := d.between(200, 3000); at < 17*time.Second; {
		length := d.between(60, 2500)
		speech = append(speech, pipelinetest.Said{From: at, To: at + length, Text: texts[d.n(len(texts))], Level: -float32(10 + d.n(40))})
		at += length + d.between(60, 4000)
	}
	return speech
}

// randomNetwork makes the leg a telephone or a socket whose packets come late now
// and then: up to 180 ms, and then all at once.
func randomNetwork(d *dice, s *pipelinetest.Scene) {
	if d.one(2) {
		s.Leg.Telephone()
	}
	if d.one(3) {
		return
	}
	jitter, stalls := 1+d.n(30), 20+d.n(200)
	s.Leg.Late = func(int64) time.Duration {
		if d.one(stalls) {
			return d.between(20, 180)
		}
		return d.between(0, jitter)
	}
}

func randomEngines(d *dice, s *pipelinetest.Scene) {
	if d.one(4) {
		s.ASR.Plan, s.ASR.FinalAfter = nil, d.between(0, 1500)
		s.ASR.Texts = []string{"", "hello there", "stop", "yes"}
	}
	for i := range s.ASR.Plan {
		s.ASR.Plan[i].At += d.between(0, 400)
	}
	s.Config.ClientTools = true
	s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
	s.Config.Functions = []tool.Function{takes("look_up", d.between(0, 12000), "{}"), takes("write_down", d.between(0, 6000), "{}")}
	s.Config.Functions[0].Cancel = true
	s.TTS.FirstAudio, s.TTS.Every = d.between(0, 300), d.between(0, 130)
	s.TTS.Rate = s.Leg.Format().Out
	if d.one(6) { // which takes most of the test's time
		s.TTS.Rate = media.Rate22k
	}
	s.TTS.IgnoreCancel = d.one(2)
	if d.one(10) {
		s.TTS.Limit, s.TTS.Err = d.n(12), broken
	}
	s.LLM.Answer = func(int, inference.Request) []enginetest.Step {
		steps := enginetest.Sentences(d.between(0, 900), "One thing. ", "Another thing. ", "Shall I?")
		switch d.n(10) {
		case 0:
			steps = append(steps[:1:1], enginetest.Step{Err: broken})
		case 1:
			name := []string{"book", "look_up", "write_down"}[d.n(3)]
			steps = append(steps, enginetest.Step{Tool: &inference.ToolCall{Name: name, Arguments: "{}"}})
		case 2:
			steps = []enginetest.Step{{Tool: &inference.ToolCall{Name: "nobody", Arguments: "{}"}}}
		case 3:
			steps = []enginetest.Step{{Tool: &inference.ToolCall{Name: "book", Arguments: "{}"}}, steps[0], {Hang: true}}
		case 4:
			steps = append(steps, enginetest.Step{Tool: &inference.ToolCall{Name: toolbox.EndCall}})
		}
		return steps
	}
}

// meddle is what people and faults do to a call from outside.
func meddle(d *dice, s *pipelinetest.Scene, c *pipeline.Call) {
	for range d.n(5) {
		time.Sleep(d.between(0, 8000) + time.Millisecond/2)
		switch d.n(8) {
		case 0, 1:
			c.Type("typed")
		case 2, 3:
			c.Interrupt()
		case 4:
			c.Update(func(a *agent.Agent) { a.Prompt = "Another one." })
		case 5:
			c.Stop(media.BalanceExhausted, "", d.one(2))
		default:
			if streams := s.ASR.Streams(); len(s.ASR.Plan) == 0 {
				streams[len(streams)-1].Fail(broken)
			}
		}
	}
}

// invariants checks the order of a conversation's events.
type invariants struct {
	t        *testing.T
	leg      *pipelinetest.Leg
	ended    int
	thinking int
	speaking int
	used     int
	results  map[string]int
	asked    map[string]bool
	cut      bool
	cutAt    int // frames sent before the cut
	ducked   bool
}

func (v *invariants) see(e event.Event) {
	if v.ended > 0 {
		v.t.Errorf("%s after the end", e.Kind)
	}
	switch e.Kind {
	case event.Thinking:
		if e.Generation != v.thinking+1 {
			v.t.Errorf("thinking %d after %d", e.Generation, v.thinking)
		}
		v.silent()
		v.thinking, v.cut = e.Generation, false
	case event.Speaking:
		if e.Generation != v.thinking {
			v.t.Errorf("speaking %d while thinking of %d", e.Generation, v.thinking)
		}
		if v.cut {
			v.t.Errorf("speaking again after the cut of %d", e.Generation)
		}
		v.speaking = e.Generation
	case event.AgentPartial:
		if v.cut {
			v.t.Errorf("a sentence of %d begins after its cut", e.Generation)
		}
	case event.Interrupted:
		if v.speaking == 0 || v.cut {
			v.t.Errorf("interrupted, and nothing is audible")
		}
		v.cut, v.cutAt, v.ducked = true, len(v.leg.Sent()), false
	case event.Ducked:
		if e.On == v.ducked {
			v.t.Errorf("ducked is %v twice", e.On)
		}
		v.ducked = e.On
	case event.ToolAsked, event.ToolBegun:
		v.asked[e.Call.ID] = true
	case event.ToolEnded:
		v.results[e.Call.ID]++
		if v.results[e.Call.ID] > 1 {
			v.t.Errorf("%s has %d results", e.Call.ID, v.results[e.Call.ID])
		}
	case event.Used:
		v.used++
	case event.End:
		v.silent()
		v.ended++
	}
}

// silent checks that nothing but the end of a word followed a cut, and that in
// one frame.
func (v *invariants) silent() {
	if !v.cut {
		return
	}
	loud := 0
	for _, f := range v.leg.Sent()[v.cutAt:] {
		if !f.Silent {
			loud++
		}
	}
	if most := btoi(v.leg.Format().Continuous); loud > most {
		v.t.Errorf("%d frames of speech were sent after a cut", loud)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
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
