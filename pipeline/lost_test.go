package pipeline_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/tool"
)

const (
	back    = "Sorry, I lost you for a moment."
	unknown = `{"error":"the server had a fault, it is not known whether this was done"}`
)

// lost is how far a call was whose process died ten minutes later, as another process gets it: the caller wanted a table for two, and
// was offered one. since is what was said since then.
func lost(t *testing.T, since ...inference.Message) *journal.Conversation {
	t.Helper()
	var at []*journal.Conversation
	play(t, 13000, func(s *pipelinetest.Scene) {
		guest(s)
		s.Config.Turn.Idle = 5 * media.Second // its timer runs when it dies
		s.LLM.Replies = [][]enginetest.Step{with("I will look. ", "find_table", `{}`), enginetest.Sentences(150*ms, "We have one. ")}
		pausedAt(s, &at, 11010*ms)
	}, func(*testing.T, *pipelinetest.Scene) {}, said(3000, 4500, "a table for two"))
	got := carried(t, at[0])
	got.Lost, got.Heard, got.Entries = true, got.Heard+600*media.Second, append(got.Entries, since...)
	return got
}

// adopts plays a call that goes on after at, in which the model says that it is number four.
func adopts(t *testing.T, at *journal.Conversation, setup func(*pipelinetest.Scene), check func(*testing.T, *pipelinetest.Scene), said ...pipelinetest.Said) {
	t.Helper()
	play(t, 9000, func(s *pipelinetest.Scene) {
		guest(s)
		s.Config.Agent.FirstMessage = ""
		s.Config.Resume = at
		s.LLM.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, "It is number four. ")}
		setup(s)
	}, check, said...)
}

// shown is what the model is shown, a message a line.
func shown(messages []inference.Message) (lines []string) {
	for _, m := range messages {
		text := string(m.Role) + ": " + m.Text
		for _, c := range m.ToolCalls {
			text += " [" + c.ID + "]"
		}
		lines = append(lines, text)
	}
	return lines
}

// prompted compares what the model was shown, request by request.
func prompted(t *testing.T, s *pipelinetest.Scene, want ...[]string) {
	t.Helper()
	prompts := s.Prompts()
	if len(prompts) != len(want) {
		t.Errorf("the model was asked %d times, want %d", len(prompts), len(want))
		return
	}
	for i, p := range prompts {
		if got := shown(p); !slices.Equal(got, want[i]) {
			t.Errorf("the model was shown\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want[i], "\n"))
		}
	}
}

// soFar is what the model was shown of the time before the process died.
func soFar(then ...string) []string {
	return append([]string{"agent: Welcome!", "user: a table for two", "agent: I will look. [call_2_1]", `tool: {"table":4}`, "agent: We have one."}, then...)
}

func times(s *pipelinetest.Scene, text string) int { return strings.Count(s.Log(), text) }

// made is how often the voice was given a text.
func made(s *pipelinetest.Scene, text string) (n int) {
	for _, c := range s.TTS.Calls() {
		if c.Speech.Text == text {
			n++
		}
	}
	return n
}

var which = inference.Message{Role: inference.RoleUser, Text: "which one is it"}

func nothingElse(*pipelinetest.Scene) {}

// TestLost: after its process died the agent says so at once, listens, and answers the next turn with all that was said.
func TestLost(t *testing.T) {
	ahead := 0
	adopts(t, lost(t), func(s *pipelinetest.Scene) {
		s.Config.Turn.Idle = 4 * media.Second
		s.Fit = func(c *pipeline.Call) {
			<-c.Rehearsed()
			ahead = made(s, back)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "611000 thinking 3", `612080 agent_line "`+back+`"`, "612080 listening", `agent_line "It is number four."`)
		prompted(t, s, soFar("agent: "+back, "user: which one is it"))
		if n := made(s, back); times(s, "agent_line \""+back) != 1 || ahead != 1 || n != 1 || times(s, "still there") != 0 {
			t.Errorf("the line was made %d times, %d of them ahead", n, ahead)
		}
	}, said(4000, 5500, which.Text))
}

// TestNothingIsLost: a call that moves while its process lives says nothing, and has nothing made for that.
func TestNothingIsLost(t *testing.T) {
	at := lost(t)
	at.Lost, at.Heard = false, at.Heard-600*media.Second
	adopts(t, at, nothingElse, func(t *testing.T, s *pipelinetest.Scene) {
		if times(s, back) != 0 || made(s, back) != 0 {
			t.Error("the agent says that it was away")
		}
	})
}

// TestLostBeforeTheAnswer: what the caller said last is answered after the line, though they do not say it again.
func TestLostBeforeTheAnswer(t *testing.T) {
	adopts(t, lost(t, which), nothingElse, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `agent_line "`+back+`"`, `agent_line "It is number four."`, "listening")
		prompted(t, s, soFar("agent: "+back, "user: which one is it"))
	})
}

// TestLostInAFunction: a function that ran when the process died is not run again, and the model learns that nobody knows. Those
// that it calls now have other ids.
func TestLostInAFunction(t *testing.T) {
	at := lost(t, which, inference.Message{Role: inference.RoleAgent, Text: "Let me see.", ToolCalls: []inference.ToolCall{{ID: "call_9_1", Name: "find_table", Arguments: `{}`}}})
	var ended []string
	ran := 0
	adopts(t, at, func(s *pipelinetest.Scene) {
		s.LLM.Replies = [][]enginetest.Step{with("", "find_table", `{}`), enginetest.Sentences(150*ms, "It is number four. ")}
		run := s.Config.Functions[0].Run
		s.Config.Functions = []tool.Function{{Spec: inference.Tool{Name: "find_table"}, Run: func(ctx context.Context, arguments json.RawMessage) (string, error) {
			ran++
			return run(ctx, arguments)
		}}}
		s.Observe = func(_ *pipeline.Call, e event.Event) {
			if e.Kind == event.ToolEnded {
				ended = append(ended, e.Call.ID+" "+e.Text+" "+e.Result)
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		open := soFar("user: which one is it", "agent: "+back, "agent: Let me see. [call_9_1]", "tool: "+unknown)
		prompted(t, s, open, append(open, "agent:  [call_11_1]", `tool: {"table":4}`))
		if want := []string{"call_9_1 cancelled " + unknown, `call_11_1 ok {"table":4}`}; !slices.Equal(ended, want) || ran != 1 {
			t.Errorf("functions ended with %q, want %q; %d ran", ended, want, ran)
		}
	})
}

// TestBargeInOverTheReturn: a caller who speaks over the line interrupts it, and is answered, once, with what was owed before them.
func TestBargeInOverTheReturn(t *testing.T) {
	adopts(t, lost(t, which), nothingElse, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "interrupted", `user_line "are you there"`, `agent_line "It is number four."`)
		prompted(t, s, soFar("agent: Sorry, I lost you for", "user: which one is it", "user: are you there"))
	}, said(300, 1800, "are you there"))
}

// TestNoiseOverTheReturn: noise that interrupts the line does not cost the caller their answer.
func TestNoiseOverTheReturn(t *testing.T) {
	adopts(t, lost(t, which), func(s *pipelinetest.Scene) { s.Config.Turn.NoiseMax = 3 * media.Second }, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "interrupted", `agent_line "It is number four."`)
		prompted(t, s, soFar("agent: Sorry, I lost you for", "user: which one is it"))
	}, said(300, 1800, ""))
}

// TestLostInAnotherLanguage: the agent comes back in the language that it spoke last.
func TestLostInAnotherLanguage(t *testing.T) {
	at := lost(t)
	at.Language = "es"
	adopts(t, at, func(s *pipelinetest.Scene) { s.Config.Agent.Follows = []string{"en", "es"} }, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `agent_line "Perdone, se ha cortado un momento."`)
	})
}

// TestLostTwice: a call can lose its process again, and goes on from where it was then.
func TestLostTwice(t *testing.T) {
	var at []*journal.Conversation
	adopts(t, lost(t, which), func(s *pipelinetest.Scene) { pausedAt(s, &at, 500*ms, 6000*ms) }, func(t *testing.T, s *pipelinetest.Scene) {
		if at[0] != nil || at[1] == nil || at[1].Lost {
			t.Fatalf("the call was at %+v", at)
		}
		at[1].Lost = true
	})
	adopts(t, carried(t, at[1]), nothingElse, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `agent_line "`+back+`"`)
		prompted(t, s)
	})
}
