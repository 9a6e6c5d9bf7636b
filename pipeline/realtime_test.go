package pipeline_test

import (
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/inference/realtime"
	"parley/pipeline"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/reply"
)

// speaks has one engine hear, think and speak in a scene.
func speaks(s *pipelinetest.Scene, engine *enginetest.FakeRealtime) {
	c := realtime.New(engine, inference.RealtimeConfig{Prompt: s.Config.Agent.Prompt, Voice: "F1", Language: "en"}, nil)
	s.Recogniser, s.Model, s.Voice = c.ASR(), c.LLM(), c.TTS()
	s.Config.Turn.EngineTurns, s.Config.Speculation, s.Config.Interrupted = true, reply.SpeculationOff, c.Interrupted
	s.Config.Begins = c.Begins
}

// TestRealtime: an engine that hears and speaks by itself holds a conversation. Its turns are the call's, what it says
// is in the transcript as far as it was heard, and it forgets what was not.
func TestRealtime(t *testing.T) {
	engine := enginetest.NewFakeRealtime()
	engine.Turns = []enginetest.HeardTurn{{From: 1000 * ms, To: 2620 * ms, Text: "what time do you open"}, {From: 6000 * ms, To: 8120 * ms, Text: "and on Sunday"}}
	engine.Replies = []enginetest.RealtimeReply{
		{Text: "We open at nine every morning. On Saturdays we open at ten. On all other days it depends.", Length: 9 * time.Second},
		{Text: "We are closed.", Length: time.Second},
	}
	play(t, 12000, func(s *pipelinetest.Scene) { speaks(s, engine) }, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `user_line "what time do you open"`, "interrupted", `agent_line "We open at nine every morning. On Saturdays we open at"`,
			`user_line "and on Sunday"`, `agent_line "We are closed."`)
		heard := engine.Sessions()[0].Heard()
		if d := heard["item_i"]; len(heard) != 1 || d < 3600*ms || d > 3700*ms { // from 2920 to 6600
			t.Errorf("the engine takes for heard: %v", heard)
		}
		if engine.Busy() != 0 {
			t.Error("a session is left")
		}
	}, said(1000, 2500, ""), said(6000, 8000, ""))
}

// TestRealtimeLines: the agent's own lines are said by the engine, too.
func TestRealtimeLines(t *testing.T) {
	engine := enginetest.NewFakeRealtime()
	engine.Replies = []enginetest.RealtimeReply{{Text: "Welcome.", Length: time.Second}, {Text: "Goodbye.", Length: time.Second}}
	play(t, 12000, func(s *pipelinetest.Scene) {
		speaks(s, engine)
		s.Config.Agent.FirstMessage, s.Config.Agent.Goodbye = "Welcome.", "Goodbye."
		s.Act = func(c *pipeline.Call) {
			time.Sleep(4 * time.Second)
			c.Stop("api_hangup", "", true)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `agent_line "Welcome."`, `agent_line "Goodbye."`)
	})
}
