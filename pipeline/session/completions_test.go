package session_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/pipeline/pipelinetest"
	"parley/pipeline/session"
	"parley/pipeline/session/sessiontest"
	"parley/store/history"
)

// completionsOf are the completions of a session as they were stored by now: requests, and answers.
func completionsOf(o *sessiontest.Harness, s *session.Session) (asked []history.CompletionRequest, answers []*history.CompletionAnswer) {
	synctest.Wait()
	for _, e := range o.Ledger.EventsOf(s.ID()) {
		switch c := e.Completion; {
		case c == nil:
		case c.Answer == nil:
			asked = append(asked, c.Request)
		default:
			answers = append(answers, c.Answer)
		}
	}
	return asked, answers
}

// TestCompletionsAreStored: each question to the model with its answer, the second as what it has beyond the first.
func TestCompletionsAreStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Call(web, func(s *pipelinetest.Scene) {
			types(40)(s)
			s.Config.Agent.Prompt = "You answer the telephone."
		})
		time.Sleep(15 * time.Second)
		asked, answers := completionsOf(o, s)
		if len(asked) == 0 || len(answers) != len(asked) {
			t.Fatalf("%d questions, %d answers", len(asked), len(answers))
		}
		first, answer := asked[0], answers[0]
		if first.System == nil || !strings.Contains(*first.System, "You answer the telephone.") || first.Tools == nil || len(first.Messages) == 0 || first.Same != 0 ||
			first.Messages[len(first.Messages)-1].Role != "user" || first.AtMS < 6000 {
			t.Errorf("the first question: %+v", first)
		}
		if answer.Outcome != history.CompletionDone || answer.Text != "Yes. " || answer.FirstMS == nil || *answer.FirstMS < 150 || answer.TookMS < *answer.FirstMS {
			t.Errorf("the answer: %+v", answer)
		}
		o.Wait()
	})
}

// scriptedModel answers each question as the test says.
type scriptedModel struct {
	inference.LLM
	answer func(ctx context.Context, yield func(inference.Delta, error) bool)
}

func (m scriptedModel) Complete(ctx context.Context, _ inference.Request) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) { m.answer(ctx, yield) }
}

// TestQuestionsBeyondTheLast: a question is stored as what it has beyond the one before, and an answer says how it ended.
func TestQuestionsBeyondTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Enter(web)
		s.Begin()
		scene := pipelinetest.NewScene()
		model := &scriptedModel{LLM: enginetest.NewFakeLLM()}
		scene.Config.LLM = model
		s.Bind(&scene.Config)
		ask := func(ctx context.Context, r inference.Request, most int) {
			for range scene.Config.LLM.Complete(ctx, r) {
				if most--; most == 0 {
					break
				}
			}
		}
		r := inference.Request{System: "Be brief.", Messages: []inference.Message{{Role: inference.RoleUser, Text: "A"}}, Tools: []inference.Tool{{Name: "book", Parameters: []byte(`{"type":"object"}`)}}}
		model.answer = func(_ context.Context, yield func(inference.Delta, error) bool) {
			_ = yield(inference.Delta{ToolCall: &inference.ToolCall{ID: "1", Name: "book", Arguments: "{}"}}, nil) &&
				yield(inference.Delta{Finish: inference.FinishTools, Engine: "haiku"}, nil)
		}
		ask(t.Context(), r, 0)
		r.Messages = append(r.Messages, inference.Message{Role: inference.RoleAgent, ToolCalls: []inference.ToolCall{{ID: "1", Name: "book", Arguments: "{}"}}}, inference.Message{Role: inference.RoleTool, ToolCallID: "1", Text: "booked"})
		model.answer = func(_ context.Context, yield func(inference.Delta, error) bool) {
			_ = yield(inference.Delta{Text: "Done"}, nil) && yield(inference.Delta{Text: " and so on"}, nil)
		}
		ask(t.Context(), r, 1)
		r.Messages[0].Text, r.System = "B", "Be long."
		model.answer = func(_ context.Context, yield func(inference.Delta, error) bool) {
			yield(inference.Delta{}, &inference.Error{Engine: "haiku", Fault: inference.ErrRefused, Err: errors.New("key sk_1")})
		}
		ask(t.Context(), r, 0)
		gone, cancel := context.WithCancel(t.Context())
		model.answer = func(ctx context.Context, yield func(inference.Delta, error) bool) {
			cancel()
			yield(inference.Delta{}, ctx.Err())
		}
		ask(gone, r, 0)
		time.Sleep(time.Second)
		asked, answers := completionsOf(o, s)
		if len(asked) != 4 || len(answers) != 4 {
			t.Fatalf("%d questions, %d answers", len(asked), len(answers))
		}
		if q := asked[0]; *q.System != "Be brief." || len(q.Tools) != 1 || q.Tools[0].Name != "book" || q.Same != 0 || len(q.Messages) != 1 {
			t.Errorf("the first: %+v", q)
		}
		if q := asked[1]; q.System != nil || q.Tools != nil || q.Same != 1 || len(q.Messages) != 2 || q.Messages[0].Calls[0].Name != "book" || q.Messages[1].CallID != "1" || q.Messages[1].Text != "booked" {
			t.Errorf("the second: %+v", q)
		}
		if q := asked[2]; q.System == nil || *q.System != "Be long." || q.Tools != nil || q.Same != 0 || len(q.Messages) != 3 {
			t.Errorf("the third: %+v", q)
		}
		if q := asked[3]; q.System != nil || q.Same != 3 || len(q.Messages) != 0 {
			t.Errorf("the fourth: %+v", q)
		}
		for i, want := range []history.CompletionAnswer{{Outcome: history.CompletionDone, Engine: "haiku", Finish: "tools"}, {Outcome: history.CompletionCut, Engine: "fake-llm", Text: "Done"},
			{Outcome: history.CompletionFailed, Engine: "fake-llm", Failure: "refused"}, {Outcome: history.CompletionCut, Engine: "fake-llm"}} {
			if a := answers[i]; a.Outcome != want.Outcome || a.Engine != want.Engine || a.Finish != want.Finish || a.Text != want.Text || a.Failure != want.Failure || (i == 0) != (len(a.Calls) == 1) {
				t.Errorf("answer %d: %+v", i, a)
			}
		}
		s.End(hungUp)
	})
}

// TestCompletionsAreBounded: of a model that is asked without end the first questions are kept.
func TestCompletionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Enter(web)
		s.Begin()
		scene := pipelinetest.NewScene()
		scene.Config.LLM = scriptedModel{LLM: enginetest.NewFakeLLM(), answer: func(_ context.Context, yield func(inference.Delta, error) bool) {
			yield(inference.Delta{Text: strings.Repeat("a", 20_000)}, nil)
		}}
		s.Bind(&scene.Config)
		for i := range 200 {
			for range scene.Config.LLM.Complete(t.Context(), inference.Request{System: strings.Repeat("b", i)}) {
			}
			time.Sleep(time.Second)
		}
		asked, answers := completionsOf(o, s)
		if len(asked) < 40 || len(asked) > 60 || len(answers) != len(asked) {
			t.Errorf("%d questions, %d answers", len(asked), len(answers))
		}
		s.End(hungUp)
	})
}
