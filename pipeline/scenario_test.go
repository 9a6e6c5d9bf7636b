package pipeline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/toolbox"
)

const ms = time.Millisecond

func said(from, to time.Duration, text string) pipelinetest.Said {
	return pipelinetest.Said{From: from * ms, To: to * ms, Text: text}
}

// fourSentences makes the agent audible from 5000 to 9000 when the caller's turn
// ends at 4560.
func fourSentences(s *pipelinetest.Scene) {
	s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(160*ms, "We have a table. ", "It is for four. ", "It is by the window. ", "It is quiet there. ")}
}

var table = said(3000, 4560, "a table please")

func calls(text, name string) []enginetest.Step {
	return []enginetest.Step{{After: 150 * ms, Text: text}, {Tool: &inference.ToolCall{ID: "x", Name: name, Arguments: "{}"}}}
}

// scenario is a conversation whose every event and its time is settled: its log in
// testdata is compared byte for byte.
type scenario struct {
	name string
	// design is its number among the fifteen that the design asks for; empty: it is
	// one of ours.
	design string
	said   []pipelinetest.Said
	setup  func(s *pipelinetest.Scene)
	limit  time.Duration
	check  func(t *testing.T, s *pipelinetest.Scene)
}

var scenarios = []scenario{
	{name: "answer", design: "1 off", said: []pipelinetest.Said{said(1000, 2500, "what time do you open")}, limit: 7000},
	{name: "unfinished sentence", said: []pipelinetest.Said{said(1000, 2000, "I'd like to book a"), said(2900, 3600, "table for two")}, limit: 5000,
		setup: func(s *pipelinetest.Scene) {
			s.Config.Turn.Complete = func(text string) float64 {
				if strings.HasSuffix(text, " a") {
					return 0.15
				}
				return 0.9
			}
		},
		check: func(t *testing.T, s *pipelinetest.Scene) {
			if n := len(s.LLM.Calls()); n != 1 {
				t.Errorf("the model was asked %d times, want once", n)
			}
		}},
	{name: "backchannel", design: "5", said: []pipelinetest.Said{table, said(6000, 6350, "uh-huh")}, setup: fourSentences, limit: 10000},
	{name: "barge-in", design: "6", said: []pipelinetest.Said{table, said(6000, 7200, "no wait, I meant Friday")}, setup: fourSentences, limit: 8000, check: cutAt(6340)},
	{name: "barge-in on deaf engines", said: []pipelinetest.Said{table, said(6000, 7200, "no wait, I meant Friday")}, limit: 9000,
		setup: func(s *pipelinetest.Scene) {
			fourSentences(s)
			s.TTS.IgnoreCancel, s.LLM.IgnoreCancel = true, true
			s.TTS.Every = 50 * ms
		}, check: cutAt(6340)},
	{name: "noise over the agent", design: "7", said: []pipelinetest.Said{table, said(6000, 6400, "")}, setup: fourSentences, limit: 10000},
	{name: "no final", design: "9", said: []pipelinetest.Said{said(1000, 2500, "what time do you open")}, limit: 4000,
		setup: func(s *pipelinetest.Scene) { s.ASR.Plan = s.ASR.Plan[:len(s.ASR.Plan)-1] }},
	{name: "nothing recognised", design: "9b", said: []pipelinetest.Said{said(1000, 2500, ""), said(6000, 7500, "")}, limit: 12000},
	{name: "two finals", design: "10", said: []pipelinetest.Said{said(1000, 2500, ""), said(6000, 7000, "")}, limit: 9000,
		setup: func(s *pipelinetest.Scene) {
			s.ASR.Plan = append([]enginetest.Heard{{At: 2620 * ms, Text: "Uh", Final: true, More: true}, {At: 3300 * ms, Text: "I want pizza", Final: true}},
				enginetest.Spoken(6000*ms, 7000*ms, "a large one")...)
			s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(900*ms, "Fine. ")}
		}},
	{name: "cough before the reply", said: []pipelinetest.Said{said(1000, 2500, "what time do you open"), said(2720, 2920, "")}, limit: 5000},
	{name: "goodbye", design: "13", said: []pipelinetest.Said{said(1000, 2500, "goodbye")}, limit: 10000,
		setup: func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{calls("Goodbye then.", toolbox.EndCall)}
		}},
	{name: "goodbye hung up on", design: "13b", said: []pipelinetest.Said{said(1000, 2500, "goodbye")}, limit: 10000,
		setup: func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{calls("Goodbye then.", toolbox.EndCall)}
			s.Leg.HangUp = 3500 * ms
		}},
	{name: "goodbye and hang-up at once", design: "13c", said: []pipelinetest.Said{said(1000, 2500, "goodbye")}, limit: 10000,
		setup: func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{calls("Goodbye then.", toolbox.EndCall)}
			s.Leg.HangUp = 4140*ms + 1 // the agent is first; TestBothHangUp has them in the same instant
		}, check: oneEnd},
	{name: "hang-up in a pause", said: []pipelinetest.Said{said(1000, 2500, "I will call again")}, limit: 4000,
		setup: func(s *pipelinetest.Scene) { s.Leg.HangUp = 2650 * ms }},
	{name: "hang-up while speaking", said: []pipelinetest.Said{said(1000, 2500, "I will call again")}, limit: 4000,
		setup: func(s *pipelinetest.Scene) { s.Leg.HangUp = 2300 * ms }},
	{name: "hang-up in the middle of a turn that went on", said: []pipelinetest.Said{said(1000, 2500, "what time do you open"), said(2800, 3600, "on Sunday")}, limit: 5000,
		setup: func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(time.Second, "At nine. ")}
			s.Leg.HangUp = 3500 * ms
		}},
	{name: "hang-up over the agent", said: []pipelinetest.Said{table, said(6000, 7200, "no wait, I meant Friday")}, limit: 8000,
		setup: func(s *pipelinetest.Scene) { fourSentences(s); s.Leg.HangUp = 6330 * ms }},
	{name: "idle", design: "14", said: []pipelinetest.Said{said(6000, 6300, "")}, limit: 60000,
		setup: func(s *pipelinetest.Scene) {
			s.Config.Turn.Idle = 8 * media.Second
			s.Config.Agent.FirstMessage = "Hello there. This is a long greeting. How are you?"
			s.TTS.FirstAudio = 0
		}},
	{name: "client function", said: []pipelinetest.Said{said(1000, 2500, "book it")}, limit: 7000,
		setup: func(s *pipelinetest.Scene) {
			s.Config.ClientTools = true
			s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
			s.LLM.Replies = [][]enginetest.Step{calls("One moment. ", "book"), enginetest.Sentences(150*ms, "Booked. ")}
			s.Observe = func(c *pipeline.Call, e event.Event) {
				if e.Kind == event.ToolAsked {
					time.AfterFunc(2*time.Second, func() {
						c.ToolResult(e.Call.ID, `{"ok":true}`)
						c.ToolResult(e.Call.ID, `{"ok":"again"}`)
						c.ToolResult("call_9_9", "{}")
					})
				}
			}
		}, check: lastPrompt(`{"ok":true}`)},
	{name: "function without an answer", said: []pipelinetest.Said{said(1000, 2500, "book it")}, limit: 16000,
		setup: func(s *pipelinetest.Scene) {
			s.Config.ClientTools = true
			s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
			s.LLM.Replies = [][]enginetest.Step{calls("", "book"), enginetest.Sentences(150*ms, "I could not. ")}
		}, check: lastPrompt("did not answer in time")},
	{name: "unknown function", said: []pipelinetest.Said{said(1000, 2500, "book it")}, limit: 5000,
		setup: func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{calls("", "fly"), enginetest.Sentences(150*ms, "I cannot. ")}
		}, check: lastPrompt("there is no function fly")},
	{name: "model fails", said: []pipelinetest.Said{said(1000, 2500, "hello")}, limit: 6000,
		setup: func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{{{After: 100 * ms, Err: &inference.Error{Engine: "fake", Fault: inference.ErrFailed}}}}
		}},
	{name: "model hangs", said: []pipelinetest.Said{said(1000, 2500, "hello")}, limit: 20000,
		setup: func(s *pipelinetest.Scene) { s.LLM.Replies = [][]enginetest.Step{{{Hang: true}}} }},
	{name: "voice fails", said: []pipelinetest.Said{said(1000, 2500, "hello")}, limit: 6000,
		setup: func(s *pipelinetest.Scene) {
			s.TTS.Limit, s.TTS.Err = 0, &inference.Error{Engine: "fake", Fault: inference.ErrFailed}
		}},
	{name: "typed", limit: 6000, setup: func(s *pipelinetest.Scene) {
		s.Act = func(c *pipeline.Call) {
			time.Sleep(1010 * ms)
			c.Type("what time do you open")
			time.Sleep(1500 * ms)
			c.Type("and on Sunday")
			time.Sleep(1000 * ms)
			c.Interrupt()
		}
	}},
	{name: "stopped with a goodbye", said: []pipelinetest.Said{table}, limit: 20000,
		setup: func(s *pipelinetest.Scene) {
			fourSentences(s)
			s.Act = func(c *pipeline.Call) {
				time.Sleep(6500 * ms)
				c.Stop(media.BalanceExhausted, "", true)
			}
		}},
}

// TestTypedWhileItThinks: texts that come before an answer are one turn, up to a bound, and
// none is lost.
func TestTypedWhileItThinks(t *testing.T) {
	play(t, 12000, func(s *pipelinetest.Scene) {
		s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(time.Second, "Fine. ")}
		s.Act = func(c *pipeline.Call) {
			time.Sleep(1010 * ms)
			for i := range 10 {
				c.Type(fmt.Sprint(i, strings.Repeat(" word", 300)))
				time.Sleep(100 * ms)
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		prompts := s.Prompts()
		last := prompts[len(prompts)-1]
		var turns []int
		for _, m := range last {
			turns = append(turns, len(m.Text))
		}
		if want := []int{3003, 3003, 3003, 3003, 3003}; !slices.Equal(turns, want) {
			t.Errorf("the turns have %d characters, want %d", turns, want)
		}
	})
}

func TestScenarios(t *testing.T) { playAll(t, scenarios) }

// playAll plays each scenario and compares its log.
func playAll(t *testing.T, list []scenario) {
	for _, sc := range list {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(sc.said...)
				if sc.setup != nil {
					sc.setup(s)
				}
				s.Play(t, sc.limit*ms+10*ms) // between two frames
				golden(t, filepath.Join("testdata", strings.ReplaceAll(sc.name, " ", "_")+".log"), s.Log()+"\n")
				if sc.check != nil {
					sc.check(t, s)
				}
			})
		})
	}
}

// golden compares got with a file; PARLEY_GOLDEN=update rewrites it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("PARLEY_GOLDEN") == "update" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if settled(got) != settled(string(want)) {
		t.Errorf("the conversation went differently.\ngot:\n%s\nwant:\n%s", got, want)
	}
}

// settled puts usage behind what else happened at the same time: it comes when the
// model has stopped, which it does beside the call.
func settled(log string) string {
	var out, used []string
	now := ""
	for line := range strings.Lines(log) {
		at, what, _ := strings.Cut(line, " ")
		if at != now {
			out, used, now = append(out, used...), nil, at
		}
		if strings.HasPrefix(what, "used") {
			used = append(used, line)
		} else {
			out = append(out, line)
		}
	}
	return strings.Join(append(out, used...), "")
}

// cutAt checks that no audio of the reply was sent after the cut, and that what
// the model is told next is what was heard.
func cutAt(at time.Duration) func(*testing.T, *pipelinetest.Scene) {
	return func(t *testing.T, s *pipelinetest.Scene) {
		for _, f := range s.Leg.Sent() {
			if f.At > at*ms && f.At < at*ms+time.Second {
				t.Errorf("a frame was sent at %v, after the cut at %v ms", f.At, int64(at))
			}
		}
		prompts := s.Prompts()
		if len(prompts) != 2 {
			t.Fatalf("the model was asked %d times, want 2", len(prompts))
		}
		reply := prompts[1][1]
		if reply.Role != inference.RoleAgent || !reply.Interrupted || reply.Text != "We have a table. It" {
			t.Errorf("the model was told %+v of its reply", reply)
		}
	}
}

func oneEnd(t *testing.T, s *pipelinetest.Scene) {
	if n := strings.Count(s.Log(), " end "); n != 1 {
		t.Errorf("%d ends, want 1", n)
	}
}

// TestBothHangUp: where caller and agent hang up in the same instant, either has ended the call, and no more than one.
func TestBothHangUp(t *testing.T) {
	for range 20 {
		play(t, 10000, func(s *pipelinetest.Scene) {
			s.LLM.Replies = [][]enginetest.Step{calls("Goodbye then.", toolbox.EndCall)}
			s.Leg.HangUp = 4140 * ms
		}, func(t *testing.T, s *pipelinetest.Scene) {
			oneEnd(t, s)
			if log := s.Log(); !strings.HasSuffix(log, "4140 end user_hangup") && !strings.HasSuffix(log, "4140 end agent_hangup: end_call") {
				t.Error("the end has another reason")
			}
		}, said(1000, 2500, "goodbye"))
	}
}

func lastPrompt(want string) func(*testing.T, *pipelinetest.Scene) {
	return func(t *testing.T, s *pipelinetest.Scene) {
		prompts := s.Prompts()
		last := prompts[len(prompts)-1]
		if m := last[len(last)-1]; m.Role != inference.RoleTool || !strings.Contains(m.Text, want) {
			t.Errorf("the model was last told %+v, want a result with %s", m, want)
		}
	}
}
