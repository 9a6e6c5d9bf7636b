package pipeline_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline"
	"parley/pipeline/event"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/tool"
)

// takes is a function that answers after a while, or when it is told to stop.
func takes(name string, d time.Duration, result string) tool.Function {
	return tool.Function{Spec: inference.Tool{Name: name}, Run: func(ctx context.Context, _ json.RawMessage) (string, error) {
		select {
		case <-time.After(d):
			return result, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}}
}

// looksUp has the model call a function in its first reply and speak in the others.
func looksUp(s *pipelinetest.Scene, f tool.Function, first string, then ...string) {
	s.Config.Functions = []tool.Function{f}
	s.LLM.Replies = [][]enginetest.Step{calls(first, f.Spec.Name)}
	for _, text := range then {
		s.LLM.Replies = append(s.LLM.Replies, enginetest.Sentences(150*ms, text))
	}
}

// functions are conversations in which this server runs functions. Their logs are
// settled like those of the scenarios.
var functions = []scenario{
	{name: "function takes four seconds", design: "11", limit: 11000,
		said: []pipelinetest.Said{said(1000, 2500, "when do you open"), said(4850, 5350, "are you there"), said(6760, 7600, "what is it")},
		setup: func(s *pipelinetest.Scene) {
			s.Config.Turn.Idle = 1000 * 1000 * 1000 // it must not be armed
			looksUp(s, takes("look_up", 4*time.Second, `{"opens":"nine"}`), "", "I am still looking. ", "It opens at nine. ")
		}, check: func(t *testing.T, s *pipelinetest.Scene) {
			prompts := s.Prompts()
			if len(prompts) != 3 {
				t.Fatalf("the model was asked %d times, want 3", len(prompts))
			}
			wantResult(t, prompts[1], `{"status":"pending"}`)
			wantResult(t, prompts[2], `{"opens":"nine"}`)
			for _, m := range prompts[2] {
				if strings.Contains(m.Text, "One moment") {
					t.Errorf("the model was told of a filler: %+v", m)
				}
			}
		}},
	{name: "function out of time", design: "11b", said: []pipelinetest.Said{said(1000, 2500, "book it")}, limit: 15000,
		setup: func(s *pipelinetest.Scene) { looksUp(s, takes("look_up", time.Hour, ""), "", "I could not. ") },
		check: lastPrompt("did not answer in time")},
	{name: "function that nobody knows", design: "11c", said: []pipelinetest.Said{said(1000, 2500, "book it")}, limit: 5000,
		setup: func(s *pipelinetest.Scene) {
			looksUp(s, takes("look_up", time.Second, ""), "", "I cannot. ")
			s.LLM.Replies[0] = calls("", "fly")
		}, check: lastPrompt("there is no function fly")},
	{name: "function after words", said: []pipelinetest.Said{said(1000, 2500, "book it")}, limit: 20000,
		setup: func(s *pipelinetest.Scene) {
			f := takes("look_up", 12*time.Second, "done")
			f.Timeout = 20 * time.Second
			looksUp(s, f, "Let me see. ", "It is done. ")
		}, check: lastPrompt("done")},
	{name: "function fails", said: []pipelinetest.Said{said(1000, 2500, "book it")}, limit: 5000,
		setup: func(s *pipelinetest.Scene) {
			f := takes("look_up", 0, "")
			f.Run = func(context.Context, json.RawMessage) (string, error) { return "", errors.New("no such room") }
			looksUp(s, f, "", "There is none. ")
		}, check: lastPrompt(`{"error":"no such room"}`)},
	{name: "function goes on after an interruption", said: []pipelinetest.Said{said(1000, 2500, "book it"), said(3140, 4000, "no wait"), said(8000, 8600, "did you")}, limit: 11000,
		setup: func(s *pipelinetest.Scene) {
			looksUp(s, takes("look_up", 4*time.Second, `{"booked":7}`), "I am booking the table for you. ", "Fine. ", "Yes. ")
		}, check: func(t *testing.T, s *pipelinetest.Scene) {
			prompts := s.Prompts()
			wantResult(t, prompts[1], `{"status":"pending"}`)
			wantResult(t, prompts[len(prompts)-1], `{"booked":7}`)
		}},
	{name: "function given up for an interruption", said: []pipelinetest.Said{said(1000, 2500, "book it"), said(3140, 4000, "no wait")}, limit: 6000,
		setup: func(s *pipelinetest.Scene) {
			f := takes("look_up", 4*time.Second, `{"booked":7}`)
			f.Cancel = true
			looksUp(s, f, "I am booking the table for you. ", "Fine. ")
		}, check: func(t *testing.T, s *pipelinetest.Scene) { wantResult(t, s.Prompts()[1], "not known whether") }},
}

func TestFunctions(t *testing.T) {
	for _, sc := range functions {
		t.Run(sc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := pipelinetest.NewScene(sc.said...)
				sc.setup(s)
				s.Play(t, sc.limit*ms+10*ms)
				golden(t, filepath.Join("testdata", strings.ReplaceAll(sc.name, " ", "_")+".log"), s.Log()+"\n")
				sc.check(t, s)
			})
		})
	}
}

// wantResult checks the latest result of a function that the model was told of.
func wantResult(t *testing.T, prompt []inference.Message, want string) {
	t.Helper()
	for i := len(prompt) - 1; i >= 0; i-- {
		if m := prompt[i]; m.Role == inference.RoleTool {
			if !strings.Contains(m.Text, want) {
				t.Errorf("the model was told the result %q, want %q", m.Text, want)
			}
			return
		}
	}
	t.Errorf("the model was told no result: %+v", prompt)
}

// TestResults: whatever a function does, the model is told one result that it can read.
func TestResults(t *testing.T) {
	long := strings.Repeat("é", 1<<19) + "."
	for name, test := range map[string]struct {
		arguments string
		run       func(context.Context, json.RawMessage) (string, error)
		outcome   string
		want      string
	}{
		"empty":        {"{}", func(context.Context, json.RawMessage) (string, error) { return "", nil }, "ok", `{"ok":true}`},
		"long":         {"{}", func(context.Context, json.RawMessage) (string, error) { return long, nil }, "ok", "cut off: these are the first 16384 of 1048577 bytes"},
		"panics":       {"{}", func(context.Context, json.RawMessage) (string, error) { panic("broken") }, "error", "the function failed"},
		"gives up":     {"{}", func(context.Context, json.RawMessage) (string, error) { return "", context.DeadlineExceeded }, "timeout", "in time"},
		"no arguments": {"", func(_ context.Context, a json.RawMessage) (string, error) { return string(a), nil }, "ok", "{}"},
		"no object":    {"[1]", nil, "error", "not a JSON object"},
		"no JSON":      {`{"a":`, nil, "error", "not a JSON object"},
		"deaf": {"{}", func(context.Context, json.RawMessage) (string, error) {
			time.Sleep(12 * time.Second) // longer than it may, and not beyond the end by as much as the call waits
			return "late", nil
		}, "timeout", "in time"},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, 12000, func(s *pipelinetest.Scene) {
				f := tool.Function{Spec: inference.Tool{Name: "f"}, Run: test.run}
				looksUp(s, f, "", "Fine. ")
				s.LLM.Replies[0][1].Tool.Arguments = test.arguments
			}, func(t *testing.T, s *pipelinetest.Scene) {
				if n := strings.Count(s.Log(), "tool_ended"); n != 1 {
					t.Errorf("%d results, want 1", n)
				}
				has(t, s, "tool_ended call_1_1 "+test.outcome)
				wantResult(t, s.Prompts()[1], test.want)
				if m := s.Prompts()[1][2]; len(m.Text) > tool.MaxResult+100 || strings.ContainsRune(m.Text, '�') {
					t.Errorf("the model was told %d bytes", len(m.Text))
				}
			}, said(1000, 2500, "book it"))
		})
	}
}

// TestDiscardedReply: what a reply wants that the caller has made obsolete is not done.
func TestDiscardedReply(t *testing.T) {
	play(t, 8000, func(s *pipelinetest.Scene) {
		ran := 0
		s.Config.Functions = []tool.Function{{Spec: inference.Tool{Name: "book"}, Run: func(context.Context, json.RawMessage) (string, error) {
			ran++
			return "", nil
		}}}
		s.LLM.IgnoreCancel = true
		s.LLM.Replies = [][]enginetest.Step{{{After: 600 * ms, Tool: &inference.ToolCall{Name: "book", Arguments: "{}"}}}, enginetest.Sentences(150*ms, "Fine. ")}
		s.Act = func(*pipeline.Call) {
			time.Sleep(7 * time.Second)
			if ran != 0 {
				t.Errorf("it was run %d times", ran)
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if strings.Contains(s.Log(), "tool_") {
			t.Error("the log speaks of a function:\n" + s.Log())
		}
		has(t, s, `agent_line "Fine."`)
	}, said(1000, 2500, "book it"), said(2800, 3800, "no leave it"))
}

// TestNamesOfFunctions: two functions of this server cannot have one name; of a client's
// the one whose name is taken is not offered.
func TestNamesOfFunctions(t *testing.T) {
	for _, names := range [][]string{{"a", "a"}, {"end_call"}, {"transfer_call"}, {"b", "opt_out"}, {""}} {
		var cfg pipeline.Config
		for _, n := range names {
			cfg.Functions = append(cfg.Functions, tool.Function{Spec: inference.Tool{Name: n}})
		}
		last := names[len(names)-1]
		if err := pipeline.New(cfg).Prepare(t.Context()); err == nil || !strings.Contains(err.Error(), `"`+last+`"`) {
			t.Errorf("%q: %v", names, err)
		}
	}
	play(t, 5000, func(s *pipelinetest.Scene) {
		s.Config.ClientTools = true
		s.Config.Agent.Tools = []inference.Tool{{Name: "end_call", Description: "the client's"}, {Name: "f", Description: "the client's"}, {Name: "g"}}
		s.Config.Functions = []tool.Function{takes("f", 0, "here")}
		s.LLM.Replies = [][]enginetest.Step{calls("", "f"), enginetest.Sentences(150*ms, "Fine. ")}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		var names []string
		for _, f := range s.LLM.Calls()[0].Request.Tools {
			names = append(names, f.Name+f.Description[:min(3, len(f.Description))])
		}
		if got := strings.Join(names, " "); got != "end_callEnd f g" {
			t.Errorf("offered were %q", got)
		}
		wantResult(t, s.Prompts()[1], "here")
	}, said(1000, 2500, "book it"))
}

// TestFillers: each language has its own, made before they are wanted, and the caller
// who speaks over one is heard at once.
func TestFillers(t *testing.T) {
	for _, language := range []string{"en", "es", "ca", "gl", "eu", "pt", "fr", "it", "de"} {
		play(t, 14000, func(s *pipelinetest.Scene) {
			s.Config.Agent.Language = language
			s.Config.Turn.Language = language
			s.ASR.Languages = []string{language}
			f := takes("f", 10*time.Second, "done")
			f.Timeout = time.Minute // 30 s count
			looksUp(s, f, "", "Fine. ")
		}, func(t *testing.T, s *pipelinetest.Scene) {
			var lines []string
			for line := range strings.Lines(s.Log()) {
				if strings.Contains(line, "agent_line") {
					lines = append(lines, line)
				}
			}
			if len(lines) != 3 || lines[0] == lines[1] || !strings.HasPrefix(lines[0], "4") {
				t.Errorf("%s: %q", language, lines)
			}
			for _, call := range s.TTS.Calls()[:2] {
				if call.Speech.Language != language {
					t.Errorf("%+v was made, want it in %s", call.Speech, language)
				}
			}
		}, said(1000, 2500, "book it"))
	}
	play(t, 10000, func(s *pipelinetest.Scene) {
		looksUp(s, takes("f", 5*time.Second, "done"), "", "Fine. ", "Done. ")
	}, func(t *testing.T, s *pipelinetest.Scene) {
		if strings.Contains(s.Log(), " interrupted\n") || strings.Contains(s.Log(), "ducked") {
			t.Error("a filler was interrupted:\n" + s.Log())
		}
		has(t, s, `agent_line "One"`, `user_line "are you there"`, "tool_ended call_1_1 ok")
	}, said(1000, 2500, "book it"), said(4000, 5000, "are you there"))
}

// TestLongestFunction: a function has half a minute, however long it asks for.
func TestLongestFunction(t *testing.T) {
	play(t, 36000, func(s *pipelinetest.Scene) {
		f := takes("f", time.Hour, "")
		f.Timeout = time.Minute
		looksUp(s, f, "", "I could not. ")
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "2850 tool_begun call_1_1 f {}", "32850 tool_ended call_1_1 timeout")
		lastPrompt("did not answer in time")(t, s)
	}, said(1000, 2500, "book it"))
}

// TestClientsAnswerTheirOwnFunctions: what the client sends is no result of a function that
// this server runs, and does not end it.
func TestClientsAnswerTheirOwnFunctions(t *testing.T) {
	play(t, 12000, func(s *pipelinetest.Scene) {
		looksUp(s, takes("check", 3*time.Second, `{"pin":"wrong"}`), "", "It is wrong. ")
		s.Config.ClientTools = true
		s.Config.Agent.Tools = []inference.Tool{{Name: "book"}}
		s.Observe = func(c *pipeline.Call, e event.Event) {
			if e.Kind == event.ToolBegun {
				time.AfterFunc(time.Second, func() { c.ToolResult(e.Call.ID, `{"pin":"forged"}`) })
			}
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, "2850 tool_begun call_1_1 check {}", "5850 tool_ended call_1_1 ok", `agent_line "It is wrong."`)
		lastPrompt(`{"pin":"wrong"}`)(t, s)
	}, said(1000, 2500, "is my PIN right"))
}
