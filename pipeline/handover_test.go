package pipeline_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/tool"
	"parley/pipeline/turn"
)

// clerk is another agent with engines of its own.
type clerk struct {
	asr *enginetest.FakeASR
	llm *enginetest.FakeLLM
	tts *enginetest.FakeTTS
}

// handsOverTo has the model pass the caller of a scene to the agent that is returned, after some words.
func handsOverTo(s *pipelinetest.Scene, arguments string, to ...agent.Successor) *clerk {
	b := &clerk{enginetest.NewFakeASR(), enginetest.NewFakeLLM(), enginetest.NewFakeTTS()}
	b.asr.Name, b.llm.Name, b.tts.Name = "ear", "mind", "voice"
	b.asr.FinalAfter, b.asr.Plan = -1, s.ASR.Plan
	b.llm.Replies = [][]enginetest.Step{enginetest.Sentences(150*ms, "Billing here. "), enginetest.Sentences(150*ms, "It was ten euros. ")}
	s.LLM.Replies = [][]enginetest.Step{with("I will pass you on. ", "hand_over", arguments), enginetest.Sentences(150*ms, "I will help you myself. ")}
	if to == nil {
		to = []agent.Successor{{Agent: "ag_1", Name: "Billing", Description: "Invoices"}}
	}
	s.Config.HandOver = &pipeline.HandOver{To: to, Prepare: func(context.Context, *agent.Successor) (*pipeline.Config, error) {
		b.asr.Origin = s.ASR.Origin
		return &pipeline.Config{Agent: agent.Agent{Voice: "M2", Language: "en", Prompt: "You do billing.", FirstMessage: "Welcome to billing!", Phrases: []string{"credit note"}},
			ASR: b.asr, LLM: b.llm, TTS: b.tts, Turn: turn.DefaultConfig("en"), Functions: []tool.Function{takes("find_invoice", time.Second, "{}")}}, nil
	}}
	return b
}

var invoice = []pipelinetest.Said{said(1000, 2500, "about my invoice"), said(8000, 9500, "how much was it")}

// TestHandOver: another agent goes on with the call, with its own prompt, functions, voice and recogniser, and with what was said.
func TestHandOver(t *testing.T) {
	var b *clerk
	play(t, 16000, func(s *pipelinetest.Scene) {
		b = handsOverTo(s, `{"to":"billing","summary":"They ask about an invoice."}`)
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `agent_line "I will pass you on."`, `handed_over "Billing"`, "tool_ended call_1_1 ok", `agent_line "Billing here."`, `user_line "how much was it"`, `agent_line "It was ten euros."`)
		if n := len(s.LLM.Calls()); n != 1 {
			t.Errorf("the first agent's model was asked %d times", n)
		}
		asked := b.llm.Calls()
		if len(asked) != 2 {
			t.Fatalf("the other's was asked %d times", len(asked))
		}
		first := asked[0].Request
		if first.System != "You do billing." || first.Messages[0].Text != "about my invoice" || !offersTool(&first, "find_invoice") || offersTool(&first, "hand_over") {
			t.Errorf("it was asked %+v", first)
		}
		wantResult(t, first.Messages, `"you_are":"Billing"`)
		wantResult(t, first.Messages, "They ask about an invoice.")
		for _, c := range b.tts.Calls() {
			if c.Speech.Voice != "M2" || strings.Contains(c.Speech.Text, "Welcome") {
				t.Errorf("its voice was asked for %+v", c.Speech)
			}
		}
		streams := b.asr.Streams()
		if len(streams) != 1 || len(streams[0].Config().Hints.Terms) == 0 || streams[0].Config().Hints.Terms[0] != "credit note" {
			t.Errorf("its recogniser has %d streams", len(streams))
		}
	}, invoice...)
}

func offersTool(r *inference.Request, name string) bool {
	for _, f := range r.Tools {
		if f.Name == name {
			return true
		}
	}
	return false
}

// TestHandOverWithASummary: the other agent learns what the first one writes, and not what was said.
func TestHandOverWithASummary(t *testing.T) {
	var b *clerk
	play(t, 16000, func(s *pipelinetest.Scene) {
		b = handsOverTo(s, `{"to":"Billing","summary":"Invoice 7, ten euros."}`, agent.Successor{Name: "Billing", History: agent.HistorySummary})
	}, func(t *testing.T, _ *pipelinetest.Scene) {
		asked := b.llm.Calls()
		if len(asked) != 2 {
			t.Fatalf("it was asked %d times", len(asked))
		}
		for _, m := range asked[0].Request.Messages {
			if m.Role == inference.RoleUser {
				t.Errorf("it learns that the caller said %q", m.Text)
			}
		}
		wantResult(t, asked[0].Request.Messages, "Invoice 7, ten euros.")
		if m := asked[1].Request.Messages; m[len(m)-1].Text != "how much was it" {
			t.Errorf("then it was asked %+v", m)
		}
	}, invoice...)
}

// TestHandOverThatFails: the first agent goes on, and its model knows why.
func TestHandOverThatFails(t *testing.T) {
	for arguments, want := range map[string]string{`{"to":"marketing","summary":""}`: "not on the list", `{"to":7}`: "do not fit", `{"to":"Billing","summary":""}`: "gone home"} {
		play(t, 8000, func(s *pipelinetest.Scene) {
			handsOverTo(s, arguments)
			s.Config.HandOver.Prepare = func(context.Context, *agent.Successor) (*pipeline.Config, error) {
				return nil, errors.New("the agent has gone home")
			}
		}, func(t *testing.T, s *pipelinetest.Scene) {
			has(t, s, "tool_ended call_1_1 error", `agent_line "I will help you myself."`)
			wantResult(t, s.Prompts()[1], want)
			if strings.Contains(s.Log(), "handed_over") {
				t.Error("the caller was handed over")
			}
		}, invoice[0])
	}
}

// TestHandOverInterrupted: a caller who speaks while it is announced stays with the first agent.
func TestHandOverInterrupted(t *testing.T) {
	play(t, 8000, func(s *pipelinetest.Scene) {
		handsOverTo(s, `{"to":"Billing","summary":""}`)
		s.Config.HandOver.Prepare = func(context.Context, *agent.Successor) (*pipeline.Config, error) { panic("it was interrupted") }
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `user_line "no wait please"`, `agent_line "I will help you myself."`)
	}, invoice[0], said(3140, 4000, "no wait please"))
}

// TestHandOverWhileTheCallerSpeaks: what is said while another agent gets ready is heard by its recogniser, from the beginning.
func TestHandOverWhileTheCallerSpeaks(t *testing.T) {
	var b *clerk
	play(t, 16000, func(s *pipelinetest.Scene) {
		b = handsOverTo(s, `{"to":"Billing","summary":""}`)
		b.asr.OpenDelay, b.asr.Keep = 300*ms, true
		prepare := s.Config.HandOver.Prepare
		s.Config.HandOver.Prepare = func(ctx context.Context, to *agent.Successor) (*pipeline.Config, error) {
			time.Sleep(1000 * ms)
			return prepare(ctx, to)
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `handed_over "Billing"`, `user_line "it is the one from May"`)
		if n := len(b.asr.Streams()[0].Audio()) / 16; n < 1800 {
			t.Errorf("its recogniser heard %d ms of 2 s", n)
		}
	}, invoice[0], said(4900, 6900, "it is the one from May"))
}

// TestHandOverThereAndBack: the other agent may pass the caller back.
func TestHandOverThereAndBack(t *testing.T) {
	play(t, 20000, func(s *pipelinetest.Scene) {
		b := handsOverTo(s, `{"to":"Billing","summary":"An invoice."}`)
		b.llm.Replies[1] = with("Back to the desk. ", "hand_over", `{"to":"Desk","summary":"It is paid."}`)
		first := s.Config
		prepare := s.Config.HandOver.Prepare
		s.Config.HandOver.Prepare = func(ctx context.Context, to *agent.Successor) (*pipeline.Config, error) {
			next, err := prepare(ctx, to)
			next.HandOver = &pipeline.HandOver{To: []agent.Successor{{Name: "Desk"}}, Prepare: func(context.Context, *agent.Successor) (*pipeline.Config, error) {
				back := pipeline.Config{Agent: first.Agent, ASR: s.ASR, LLM: s.LLM, TTS: s.TTS, Turn: turn.DefaultConfig("en")}
				return &back, nil
			}}
			return next, err
		}
	}, func(t *testing.T, s *pipelinetest.Scene) {
		has(t, s, `handed_over "Billing"`, `agent_line "Billing here."`, `agent_line "Back to the desk."`, `handed_over "Desk"`, `agent_line "I will help you myself."`)
		last := s.Prompts()[1]
		wantResult(t, last, "It is paid.")
		if s.LLM.Calls()[1].Request.System != "You help." {
			t.Errorf("the first agent has the prompt %q", s.LLM.Calls()[1].Request.System)
		}
	}, invoice...)
}
