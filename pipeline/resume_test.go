package pipeline_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/replay"
	"parley/pipeline/tool"
	"parley/pipeline/turn"
)

// carried is how far a call was, as another process gets it.
func carried(t *testing.T, at *journal.Conversation) (got *journal.Conversation) {
	t.Helper()
	text, err := json.Marshal(at)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// pausedAt has a scene's call say how far it is at some moments, and end after the last of them.
func pausedAt(s *pipelinetest.Scene, at *[]*journal.Conversation, moments ...time.Duration) {
	s.Act = func(c *pipeline.Call) {
		var since time.Duration
		for _, m := range moments {
			time.Sleep(m - since)
			since = m
			far, _ := c.Pause(context.Background())
			*at = append(*at, far)
		}
		c.Cancel(&media.Ended{Reason: media.Completed, Detail: "carried_on"})
	}
}

// guest is an agent whose conversation has a greeting, a function and advice.
func guest(s *pipelinetest.Scene) {
	s.Config.Agent = agent.Agent{Voice: "F1", Language: "en", Prompt: "You help.", FirstMessage: "Welcome!"}
	s.Config.Functions = []tool.Function{takes("find_table", 100*ms, `{"table":4}`)}
}

// TestResume: a call that goes on elsewhere goes on as if it had not moved: what it says, shows the model and counts.
func TestResume(t *testing.T) {
	before, after := said(3000, 4500, "a table for two"), said(14000, 15500, "which one is it")
	replies := [][]enginetest.Step{with("I will look. ", "find_table", `{}`), enginetest.Sentences(150*ms, "We have one. "), enginetest.Sentences(150*ms, "It is number four. ")}
	var whole, first, second *pipelinetest.Scene
	play(t, 20000, func(s *pipelinetest.Scene) {
		whole = s
		guest(s)
		s.LLM.Replies = replies
		s.Act = func(c *pipeline.Call) { c.Whisper("Be brief.") }
	}, func(*testing.T, *pipelinetest.Scene) {}, before, after)
	var at []*journal.Conversation
	const offered, moved = 11010 * ms, 12010 * ms // after the frame that ends at 12 s
	play(t, 20000, func(s *pipelinetest.Scene) {
		first = s
		guest(s)
		s.LLM.Replies = replies
		pausedAt(s, &at, offered, moved)
		act := s.Act
		s.Act = func(c *pipeline.Call) { c.Whisper("Be brief."); act(c) }
	}, func(*testing.T, *pipelinetest.Scene) {}, before)
	if len(at) != 2 || at[0] == nil || at[1] == nil {
		t.Fatalf("the call did not say how far it was:\n%s", first.Log())
	}
	for name, prepared := range map[string]*journal.Conversation{"at once": at[1], "prepared before": at[0]} {
		play(t, 8000, func(s *pipelinetest.Scene) {
			second = s
			guest(s)
			s.LLM.Replies = replies[2:]
			if s.Config.Resume = carried(t, prepared); prepared != at[1] {
				s.Fit = func(c *pipeline.Call) { c.Resume(carried(t, at[1])) }
			}
		}, func(*testing.T, *pipelinetest.Scene) {}, said(2000, 3500, "which one is it"))
		want, got := whole.LLM.Calls(), second.LLM.Calls()
		if len(want) != 3 || len(got) != 1 {
			t.Fatalf("%s: the model is asked %d times, and %d times after the move", name, len(want), len(got))
		}
		a, b := want[2].Request, got[0].Request
		if a.System != b.System || !reflect.DeepEqual(a.Messages, b.Messages) || len(a.Tools) != len(b.Tools) {
			t.Errorf("%s: the model gets\n%+v\nafter the move, else\n%+v", name, b, a)
		}
		if _, rest, _ := strings.Cut(whole.Log(), "\n14475 "); second.Log() != "14475 "+rest {
			t.Errorf("%s: after the move\n%s\nelse\n%s", name, second.Log(), whole.Log())
		}
	}
}

// TestResumeInAnotherLanguage: the agent goes on in the language that it spoke last, and does not greet in it.
func TestResumeInAnotherLanguage(t *testing.T) {
	play(t, 8000, func(s *pipelinetest.Scene) {
		guest(s)
		s.Config.Agent.Follows = []string{"en", "es"}
		s.Config.Turn.Complete = turn.DefaultConfig("es").Complete // as a replay has it
		s.Config.Resume = &journal.Conversation{Heard: 12 * media.Second, State: turn.State{Phase: turn.Listening}, Language: "es"}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		calls, streams := s.LLM.Calls(), s.ASR.Streams()
		if len(calls) != 1 || calls[0].Request.Language != "es" || len(streams) != 1 || streams[0].Config().Language != "es" || strings.Contains(s.Log(), "Welcome") {
			t.Errorf("the model is asked %+v in\n%s", calls, s.Log())
		}
	}, said(2000, 3500, "y cuál es"))
}

// TestCannotPause: while somebody speaks or something is under way, there is no moment to go on from.
func TestCannotPause(t *testing.T) {
	var at []*journal.Conversation
	play(t, 14000, func(s *pipelinetest.Scene) {
		guest(s)
		s.LLM.Replies = [][]enginetest.Step{with("I will look. ", "find_table", `{}`), enginetest.Sentences(150*ms, "We have one. ")}
		s.Config.Functions[0] = takes("find_table", 2000*ms, `{"table":4}`)
		// The greeting; the caller; what they said is recognised; the reply; the function; nothing.
		pausedAt(s, &at, 500*ms, 3500*ms, 4550*ms, 5200*ms, 7000*ms, 12500*ms)
	}, func(t *testing.T, s *pipelinetest.Scene) {
		for i, far := range at {
			if (far != nil) != (i == 5) {
				t.Errorf("moment %d: %+v in\n%s", i, far, s.Log())
			}
		}
	}, said(3000, 4500, "a table for two"))
}

// TestResumeTakesACopy: a call changes nothing of what it goes on from, so its record replays as often as one likes.
func TestResumeTakesACopy(t *testing.T) {
	at := &journal.Conversation{Heard: 12 * media.Second, State: turn.State{Phase: turn.Listening}, Number: 1, Begun: 1, Language: "en",
		Entries: make([]inference.Message, 1, 10), Results: map[string]string{}}
	at.Entries[0] = inference.Message{Role: inference.RoleUser, Text: "a table for two"}
	before := carried(t, at)
	play(t, 8000, func(s *pipelinetest.Scene) {
		guest(s)
		s.Config.Resume = at
		s.LLM.Replies = [][]enginetest.Step{with("I will look. ", "find_table", `{}`), enginetest.Sentences(150*ms, "We have one. ")}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		f, err := journal.Read(bytes.NewReader(s.Record()))
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if r, err := replay.Replay(f, s.Sounds); err != nil || !r.Same {
				t.Errorf("it replays otherwise, or not: %v", err)
			}
		}
		if again := f.Origin.Resume; !reflect.DeepEqual(again, before) || !reflect.DeepEqual(at, before) {
			t.Errorf("the call went on from\n%+v\nwhich is now\n%+v\nand in the record\n%+v", before, at, again)
		}
	}, said(2000, 3500, "which one is it"))
}
