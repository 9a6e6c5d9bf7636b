package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/toolbox"
)

// with has the model call a function with arguments after some words.
func with(text, name, arguments string) []enginetest.Step {
	steps := calls(text, name)
	steps[1].Tool.Arguments = arguments
	return steps
}

// menu is a conversation on a telephone in which the model's first reply calls a
// function of the keys.
func menu(t *testing.T, limit time.Duration, first []enginetest.Step, keys map[time.Duration]byte, check func(*testing.T, *pipelinetest.Scene), said ...pipelinetest.Said) {
	t.Helper()
	play(t, limit, func(s *pipelinetest.Scene) {
		s.Leg.Telephone()
		s.Leg.Digits = keys
		s.Config.Keys = []string{toolbox.SendDTMF, toolbox.CollectDigits}
		s.LLM.Replies = [][]enginetest.Step{first, enginetest.Sentences(150*ms, "Fine. ")}
	}, check, said...)
}

func TestSendDTMF(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"digits":"12w3#"}`:   "3940:12 4840:3#",
		`{"digits":"ad"}`:      "3940:AD",
		`{"digits":"w5"}`:      "4440:5",
		`{"digits":"12x"}`:     "",
		`{"digits":""}`:        "",
		`{"digits":5}`:         "",
		`{"digits":"1","x":1}`: "3940:1",
	} {
		menu(t, 9000, with("One. ", "send_dtmf", arguments), nil, func(t *testing.T, s *pipelinetest.Scene) {
			if got := s.Leg.Pressed(); got != want {
				t.Errorf("%s pressed %q, want %q", arguments, got, want)
			}
			if want != "" {
				has(t, s, `agent_line "One."`, "tool_begun call_1_1 send_dtmf "+arguments, "tool_ended call_1_1 ok", `agent_line "Fine."`)
			} else {
				has(t, s, "tool_ended call_1_1 error")
			}
		}, said(1000, 2500, "book it"))
	}
	// What is interrupted before it begins is not done.
	menu(t, 9000, with("I am pressing one for you now. ", "send_dtmf", `{"digits":"1"}`), nil, func(t *testing.T, s *pipelinetest.Scene) {
		if got := s.Leg.Pressed(); got != "" {
			t.Errorf("pressed %q", got)
		}
		has(t, s, "tool_ended call_1_1 cancelled")
		wantResult(t, s.Prompts()[1], "this was not done")
	}, said(1000, 2500, "book it"), said(3140, 4000, "no wait"))
}

func TestCollectDigits(t *testing.T) {
	keys := func(digits string, from time.Duration) map[time.Duration]byte {
		m := map[time.Duration]byte{}
		for i := range len(digits) {
			m[(from+time.Duration(i)*300)*ms+10*ms] = digits[i]
		}
		return m
	}
	for name, test := range map[string]struct {
		arguments string
		keys      map[time.Duration]byte
		at        string // when it ends
		want      string
	}{
		"terminator":       {`{}`, keys("1234#", 5000), "6210 tool_ended call_1_1 ok", `{"digits":"1234","ended_by":"terminator"}`},
		"most":             {`{"max_digits":2}`, keys("1234", 5000), "5310 tool_ended call_1_1 ok", `{"digits":"12","ended_by":"max_digits"}`},
		"too few":          {`{"min_digits":4}`, keys("12", 5000), "9320 tool_ended call_1_1 error", `"digits":"12","ended_by":"timeout","error":`},
		"none":             {`{"first_timeout_seconds":3}`, nil, "6960 tool_ended call_1_1 error", `"digits":"","ended_by":"timeout"`},
		"star ends":        {`{"terminator":"*"}`, keys("1#*", 5000), "5610 tool_ended call_1_1 ok", `{"digits":"1#","ended_by":"terminator"}`},
		"nothing ends":     {`{"terminator":"","max_digits":3}`, keys("1#*", 5000), "5610 tool_ended call_1_1 ok", `{"digits":"1#*","ended_by":"max_digits"}`},
		"prompt":           {`{"prompt":"Type your number please."}`, keys("7#", 6000), "6310 tool_ended call_1_1 ok", `{"digits":"7","ended_by":"terminator"}`},
		"prompt typed on":  {`{"prompt":"Type your number please."}`, keys("7#", 4600), "4910 tool_ended call_1_1 ok", `{"digits":"7","ended_by":"terminator"}`},
		"bounds":           {`{"min_digits":5,"max_digits":2}`, nil, "3940 tool_ended call_1_1 error", "the least first"},
		"not a terminator": {`{"terminator":"1"}`, nil, "3940 tool_ended call_1_1 error", "terminator must be"},
	} {
		t.Run(name, func(t *testing.T) {
			menu(t, 20000, with("One. ", "collect_digits", test.arguments), test.keys, func(t *testing.T, s *pipelinetest.Scene) {
				has(t, s, `agent_line "One."`, test.at, `agent_line "Fine."`)
				wantResult(t, s.Prompts()[1], test.want)
				if strings.HasPrefix(name, "prompt") {
					m := s.Prompts()[1]
					if asked := m[len(m)-2]; m[len(m)-1].Role != inference.RoleTool || asked.Text != "One. Type your number please." || len(asked.ToolCalls) != 1 {
						t.Errorf("the model is asked with %+v", m)
					}
				}
				if strings.Contains(s.Log(), "One moment") {
					t.Error("the agent spoke while the caller typed")
				}
			}, said(1000, 2500, "book it"))
		})
	}
	// Who speaks instead is listened to, and is answered once.
	menu(t, 20000, with("One. ", "collect_digits", `{}`), keys("12", 5000), func(t *testing.T, s *pipelinetest.Scene) {
		if n := len(s.Prompts()); n != 2 {
			t.Errorf("the model was asked %d times, want 2", n)
		}
		wantResult(t, s.Prompts()[1], `{"digits":"12","ended_by":"speech"}`)
		has(t, s, "tool_ended call_1_1 ok", `user_line "I do not have it"`, `agent_line "Fine."`)
	}, said(1000, 2500, "book it"), said(6000, 7000, "I do not have it"))
}

// TestOptOut: the number goes on the list, or the model learns why it does not.
func TestOptOut(t *testing.T) {
	for _, fails := range []bool{false, true} {
		listed := 0
		play(t, 6000, func(s *pipelinetest.Scene) {
			s.Config.OptOut = func(context.Context) error {
				listed++
				if fails {
					return errors.New("secret")
				}
				return nil
			}
			s.LLM.Replies = [][]enginetest.Step{with("", "opt_out", "{}"), enginetest.Sentences(150*ms, "Fine. ")}
		}, func(t *testing.T, s *pipelinetest.Scene) {
			want := `{"listed":true}`
			if fails {
				want = "could not be put on the list"
			}
			wantResult(t, s.Prompts()[1], want)
			if listed != 1 {
				t.Errorf("listed %d times", listed)
			}
		}, said(1000, 2500, "stop calling me"))
	}
}

// TestOffered: a call offers the functions that its leg can do and its agent may.
func TestOffered(t *testing.T) {
	transfer := &bridge.Transfer{To: []agent.Destination{{Number: "+34911234567", Name: "sales"}}}
	for name, test := range map[string]struct {
		setup func(*pipelinetest.Scene)
		want  string
	}{
		"plain":     {func(*pipelinetest.Scene) {}, "end_call"},
		"keys":      {func(s *pipelinetest.Scene) { s.Config.Keys = []string{toolbox.SendDTMF, toolbox.CollectDigits} }, "end_call send_dtmf collect_digits"},
		"transfer":  {func(s *pipelinetest.Scene) { s.Config.Transfer = transfer }, "end_call transfer_call"},
		"to nobody": {func(s *pipelinetest.Scene) { s.Config.Transfer = &bridge.Transfer{} }, "end_call"},
		"opt out":   {func(s *pipelinetest.Scene) { s.Config.OptOut = func(context.Context) error { return nil } }, "end_call opt_out"},
	} {
		play(t, 4000, test.setup, func(t *testing.T, s *pipelinetest.Scene) {
			if got := named(s.LLM.Calls()[0].Request.Tools); got != test.want {
				t.Errorf("%s: %q, want %q", name, got, test.want)
			}
		}, said(1000, 2500, "hello"))
	}
}

func named(tools []inference.Tool) string {
	var names []string
	for _, f := range tools {
		names = append(names, f.Name)
	}
	return strings.Join(names, " ")
}
