package pipeline_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/reply"
	"parley/pipeline/session/sessiontest"
	"parley/pipeline/toolbox"
	"parley/store/ledger"
)

// ahead has replies begun in the caller's pauses.
func ahead(s *pipelinetest.Scene) { s.Config.Speculation = reply.SpeculateText }

// unfinished gives the turn's first part a chance of p to be all of it.
func unfinished(p float64) func(*pipelinetest.Scene) {
	return func(s *pipelinetest.Scene) {
		ahead(s)
		s.Config.Turn.Complete = func(text string) float64 {
			if strings.HasSuffix(text, " a") {
				return p
			}
			return 0.9
		}
	}
}

var (
	firstHalf  = said(1000, 2000, "I'd like to book a")
	secondHalf = said(2900, 3600, "table for two")
)

// asked checks when the model was asked, in ms.
func asked(want ...int64) func(*testing.T, *pipelinetest.Scene) {
	return func(t *testing.T, s *pipelinetest.Scene) {
		t.Helper()
		var got []int64
		for _, c := range s.LLM.Calls() {
			got = append(got, c.Start.Sub(s.Leg.Start()).Milliseconds())
		}
		if len(got) != len(want) {
			t.Fatalf("the model was asked at %v, want %v", got, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("the model was asked at %v, want %v", got, want)
				return
			}
		}
	}
}

// discarded checks that what was begun at 2120 was dead by 2980 and left no trace but
// its bill.
func discarded(t *testing.T, s *pipelinetest.Scene) {
	asked(2120, 3720)(t, s)
	first := s.LLM.Calls()[0]
	if end := first.End.Sub(s.Leg.Start()); end > 2980*ms {
		t.Errorf("it was dead at %v, want by 2980 ms", end)
	}
	for _, f := range s.Leg.Sent() {
		if f.At < 3950*ms {
			t.Fatalf("a frame was sent at %v", f.At)
		}
	}
	if m := s.Prompts()[1]; len(m) != 1 || m[0].Text != "I'd like to book a table for two" {
		t.Errorf("the next one was asked %+v", m)
	}
	has(t, s, "2960 used speculative 1 discarded", "3800 thinking 1", "3950 speaking 1", "used 2 committed")
}

// speculative are conversations in which replies are begun in advance.
var speculative = []scenario{
	{name: "answer begun in advance", design: "1 on", said: []pipelinetest.Said{said(1000, 2500, "what time do you open")}, setup: ahead, limit: 7000,
		check: func(t *testing.T, s *pipelinetest.Scene) {
			asked(2620)(t, s)
			has(t, s, `2700 user_line "what time do you open"`, "2700 thinking 1", "2850 speaking 1", "used 1 committed")
		}},
	{name: "unfinished sentence is not answered in advance", design: "2", said: []pipelinetest.Said{firstHalf, secondHalf}, setup: unfinished(0.15), limit: 8000,
		check: func(t *testing.T, s *pipelinetest.Scene) {
			asked(3720)(t, s)
			has(t, s, `3800 user_line "I'd like to book a table for two"`, "3950 speaking 1")
		}},
	{name: "begun in advance and in vain", design: "3", said: []pipelinetest.Said{firstHalf, secondHalf}, setup: unfinished(0.4), limit: 8000, check: discarded},
	{name: "nothing is begun in advance", design: "3b", said: []pipelinetest.Said{firstHalf, secondHalf}, limit: 8000,
		setup: func(s *pipelinetest.Scene) { unfinished(0.4)(s); s.Config.Speculation = reply.SpeculationOff },
		check: func(t *testing.T, s *pipelinetest.Scene) {
			asked(3800)(t, s)
			has(t, s, "3800 thinking 1", "4030 speaking 1")
		}},
	{name: "hangs up in advance", design: "4", said: []pipelinetest.Said{firstHalf, secondHalf}, limit: 8000,
		setup: func(s *pipelinetest.Scene) {
			unfinished(0.4)(s)
			s.LLM.Replies = [][]enginetest.Step{{{Tool: &inference.ToolCall{Name: toolbox.EndCall}}}, enginetest.Sentences(150*ms, "For two. ")}
		},
		check: func(t *testing.T, s *pipelinetest.Scene) {
			has(t, s, "3950 speaking 1", "listening", "8010 end api_hangup")
			if strings.Contains(s.Log(), "tool") {
				t.Error("something became of its wish")
			}
		}},
	{name: "calls a function in advance", said: []pipelinetest.Said{said(1000, 2500, "book it")}, limit: 6000,
		setup: func(s *pipelinetest.Scene) {
			ahead(s)
			s.Config.ClientTools = true
			s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
			s.LLM.Replies = [][]enginetest.Step{{{After: 20 * ms, Tool: &inference.ToolCall{Name: "book", Arguments: "{}"}}}, enginetest.Sentences(150*ms, "Booked. ")}
			s.Observe = func(c *pipeline.Call, e event.Event) {
				if e.Kind == event.ToolAsked {
					time.AfterFunc(300*ms, func() { c.ToolResult(e.Call.ID, "{}") })
				}
			}
		}, check: func(t *testing.T, s *pipelinetest.Scene) {
			asked(2620, 3000)(t, s)
			has(t, s, "2700 thinking 1", "2700 tool_asked call_1_1 book {}", "3000 tool_ended call_1_1 ok", `agent_line "Booked."`)
		}},
}

func TestSpeculation(t *testing.T) { playAll(t, speculative) }

// TestNothingInAdvance: what speaks against beginning a reply, and against using it.
func TestNothingInAdvance(t *testing.T) {
	for _, c := range []struct {
		name  string
		said  []pipelinetest.Said
		setup func(s *pipelinetest.Scene)
		asked []int64
		lines []string
	}{
		{"the agent's voice is not here", []pipelinetest.Said{said(1000, 2500, "what time")},
			func(s *pipelinetest.Scene) { s.TTS.Remote = true }, []int64{2620}, []string{"2850 speaking 1"}},
		{"but it may be used", []pipelinetest.Said{said(1000, 2500, "what time")},
			func(s *pipelinetest.Scene) {
				s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(0, "Yes. ")}
				s.TTS.Remote, s.Config.Speculation = true, reply.SpeculateSpeech
			}, []int64{2620}, []string{"2700 speaking 1"}},
		{"and is ready at the commit", []pipelinetest.Said{said(1000, 2500, "what time")},
			func(s *pipelinetest.Scene) { s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(0, "Yes. ")} },
			[]int64{2620}, []string{"2700 user_line \"what time\"", "2700 thinking 1", "2700 speaking 1", `3700 agent_line "Yes."`, "used 1 committed"}},
		{"the agent changes meanwhile", []pipelinetest.Said{said(1000, 2500, "what time")},
			func(s *pipelinetest.Scene) {
				s.Act = func(c *pipeline.Call) {
					time.Sleep(2650 * ms)
					c.Update(func(a *agent.Agent) { a.Prompt = "Another." })
				}
			}, []int64{2620, 2700}, []string{"used speculative 1 discarded", "2930 speaking 1", "used 2 committed"}},
		{"the model fails in advance", []pipelinetest.Said{said(1000, 2500, "what time")},
			func(s *pipelinetest.Scene) {
				s.LLM.Replies = [][]enginetest.Step{{{After: 20 * ms, Err: broken}}, enginetest.Sentences(150*ms, "Yes. ")}
			}, []int64{2620, 2700}, []string{"2640 used speculative 1 failed", "2930 speaking 1", "used 2 committed"}},
		{"other words are final", []pipelinetest.Said{said(1000, 2500, "")},
			func(s *pipelinetest.Scene) {
				s.ASR.Plan = []enginetest.Heard{{At: 2400 * ms, Text: "what lime"}, {At: 2680 * ms, Text: "what time", Final: true}}
			}, []int64{2620, 2680}, []string{"2680 used speculative 1 discarded", `2700 user_line "what time"`, "2910 speaking 1", "used 2 committed"}},
		{"typed", []pipelinetest.Said{said(1000, 2500, "what time")},
			func(s *pipelinetest.Scene) {
				s.Act = func(c *pipeline.Call) { time.Sleep(2650 * ms); c.Type("hello") }
			}, []int64{2620, 2650}, []string{`2650 user_line "hello"`, "2650 used speculative 1 discarded", "2880 speaking 1"}},
		{"the balance is used up", []pipelinetest.Said{said(1000, 2500, "what time")},
			func(s *pipelinetest.Scene) {
				s.Act = func(c *pipeline.Call) { time.Sleep(1000 * ms); c.NoSpeculation(true) }
			}, []int64{2700}, []string{"2930 speaking 1"}},
		{"hung up on", []pipelinetest.Said{said(1000, 2500, "what time")},
			func(s *pipelinetest.Scene) { s.Leg.HangUp = 2690 * ms }, []int64{2620}, []string{"used speculative 1 discarded", "2690 end user_hangup"}},
		{"a function that outlived an interruption", []pipelinetest.Said{said(1000, 2500, "book it"), said(3140, 4000, "no wait"), said(8000, 8600, "did you")},
			func(s *pipelinetest.Scene) {
				looksUp(s, takes("look_up", 20*time.Second, "done"), "I am booking the table for you. ", "Fine. ", "Not yet. ")
			}, []int64{2620, 4200, 8800}, []string{"3670 interrupted", `8800 user_line "did you"`}},
		{"two in a turn at most", []pipelinetest.Said{said(1000, 1500, "one a"), said(2000, 2500, "two a"), said(3000, 3500, "three a")},
			func(s *pipelinetest.Scene) { unfinished(0.4)(s) }, []int64{1620, 2620, 5020},
			[]string{"2060 used speculative 1 discarded", "3060 used speculative 2 discarded", `5020 user_line "one a two a three a"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			play(t, 9000, func(s *pipelinetest.Scene) {
				ahead(s)
				c.setup(s)
			}, func(t *testing.T, s *pipelinetest.Scene) {
				asked(c.asked...)(t, s)
				has(t, s, c.lines...)
			}, c.said...)
		})
	}
}

// TestSpeculationIsCharged on a line of its own, and stops where the balance does.
func TestSpeculationIsCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &sessiontest.FakeLedger{Checkpoint: func(at time.Duration, _ *ledger.Session) (r ledger.CheckpointResult) {
			if r.Pots.Paid = billing.USD; at > 15*time.Second {
				r.Pots.Paid = -billing.Cent
			}
			return r
		}}
		o := ledger.Open(t, 0)
		usage := &inference.Usage{In: 100, Out: 10, Source: inference.UsageProvider}
		s := o.Call(sessiontest.Web, func(s *pipelinetest.Scene) {
			unfinished(0.4)(s)
			s.Leg.Speech, s.ASR.Plan = nil, nil
			for _, at := range []time.Duration{1000, 10000, 20000} {
				for _, u := range []pipelinetest.Said{firstHalf, secondHalf} {
					from, to := u.From+at*ms, u.To+at*ms
					s.Leg.Speech = append(s.Leg.Speech, pipelinetest.Utterance{From: from, To: to})
					s.ASR.Plan = append(s.ASR.Plan, enginetest.Spoken(from, to, u.Text)...)
				}
			}
			s.LLM.Replies = [][]enginetest.Step{{{Text: "Yes. ", Usage: usage}}}
			s.Leg.HangUp = 30 * time.Second
		})
		o.Wait()
		u := ledger.Closings[0].Usage
		if u[billing.SpeculativeIn] != 200 || u[billing.SpeculativeOut] != 20 || u[billing.ReplyIn] != 300 || u[billing.ReplyOut] != 30 {
			t.Errorf("used %v", u)
		}
		var got []string
		for _, g := range ledger.Talks[s.ID()].Generations {
			got = append(got, g.Kind+" "+g.Outcome)
		}
		if want := "speculative discarded, reply committed, speculative discarded, reply committed, reply committed"; strings.Join(got, ", ") != want {
			t.Errorf("the books have %q", got)
		}
	})
}
