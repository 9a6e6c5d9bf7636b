package enginetest

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"testing"

	"parley/inference"
)

// LLMOptions is what TestLLM has to know of the engine.
type LLMOptions struct {
	// Request is answered with text in at least two deltas.
	Request inference.Request
	// ToolRequest is answered with a call of one of its tools. Without tools the
	// checks about them are left out.
	ToolRequest inference.Request
	// Busy says how many requests the engine, or the server behind it, is still
	// working on. nil when that is not known.
	Busy func() int
	// Run is synctest.Test for an engine that lives in simulated time.
	Run func(*testing.T, func(*testing.T))
}

// TestLLM checks that an engine keeps the contract of inference.LLM.
func TestLLM(t *testing.T, engine inference.LLM, o LLMOptions) {
	s := llmSuite{engine, o}
	checks := []check{
		{"info", func(t *testing.T) {
			if engine.Info().Name == "" {
				t.Error("no name")
			}
			languages(t, engine.Info().Languages)
		}},
		{"text", func(t *testing.T) { s.answer(t, o.Request) }},
		{"cancelled before", s.cancelledBefore},
		{"cancelled midway", s.cancelledMidway},
		{"left", s.left},
		{"concurrent", s.concurrent},
	}
	if len(o.ToolRequest.Tools) > 0 {
		checks = append(checks, check{"tool", s.tool}, check{"no tools", s.noTools})
	}
	bubble(o.Run).runAll(t, checks)
}

type llmSuite struct {
	engine inference.LLM
	o      LLMOptions
}

// answer reads a whole reply and checks its usage.
func (s llmSuite) answer(t *testing.T, r inference.Request) (text string, calls []*inference.ToolCall) {
	t.Helper()
	o := collect(t, s.engine.Complete(t.Context(), r), nil)
	if o.err != nil {
		t.Errorf("error %v", o.err)
		return "", nil
	}
	var last *inference.Usage
	var finish inference.Finish
	for _, d := range o.values {
		text, finish = text+d.Text, d.Finish
		if d.ToolCall != nil {
			calls = append(calls, d.ToolCall)
		}
		if d.Usage == nil {
			continue
		}
		u := *d.Usage
		if u.Source != inference.UsageProvider && u.Source != inference.UsageCounted {
			t.Errorf("usage from %q", u.Source)
		}
		if last != nil && last.Source == u.Source && (u.In < last.In || u.Out < last.Out) {
			t.Errorf("usage went down from %+v to %+v", *last, u)
		}
		last = &u
	}
	if want := map[bool]inference.Finish{true: inference.FinishTools, false: inference.FinishStop}[len(calls) > 0]; finish != want {
		t.Errorf("it finished by %q, want %q", finish, want)
	}
	if text == "" && len(calls) == 0 {
		t.Error("an empty reply")
	}
	if last == nil || last.In <= 0 || last.Out <= 0 {
		t.Errorf("usage %+v", last)
	}
	return text, calls
}

func (s llmSuite) cancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := collect(t, s.engine.Complete(ctx, s.o.Request), nil)
	for _, d := range o.values {
		if d.Text != "" || d.ToolCall != nil {
			t.Errorf("%+v under a cancelled context", d)
		}
	}
	idle(t, s.o.Busy)
}

// cancelledMidway cancels at the first text. A reply may still tell what it
// consumed, but say no more.
func (s llmSuite) cancelledMidway(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	texts := 0
	o := collect(t, s.engine.Complete(ctx, s.o.Request), func(d inference.Delta) bool {
		if d.Text != "" || d.ToolCall != nil {
			texts++
			cancel()
		}
		return true
	})
	if texts != 1 {
		t.Errorf("%d texts, want the one before the cancellation (%v)", texts, o.err)
	}
	if !slices.ContainsFunc(o.values, func(d inference.Delta) bool { return d.Usage != nil }) {
		t.Error("no usage of an aborted reply")
	}
	idle(t, s.o.Busy)
	s.answer(t, s.o.Request)
}

// left breaks out of the sequence at the first text.
func (s llmSuite) left(t *testing.T) {
	collect(t, s.engine.Complete(t.Context(), s.o.Request), func(d inference.Delta) bool { return d.Text == "" })
	idle(t, s.o.Busy)
	s.answer(t, s.o.Request)
}

func (s llmSuite) concurrent(t *testing.T) {
	many(8, func(i int) {
		if i%2 == 1 {
			s.answer(t, s.o.Request)
			return
		}
		cancelAfterFirst(t, func(ctx context.Context) iter.Seq2[inference.Delta, error] {
			return content(s.engine.Complete(ctx, s.o.Request))
		})
	})
	idle(t, s.o.Busy)
}

// content leaves out the deltas that only count.
func content(seq iter.Seq2[inference.Delta, error]) iter.Seq2[inference.Delta, error] {
	return func(yield func(inference.Delta, error) bool) {
		for d, err := range seq {
			if (err != nil || d.Text != "" || d.ToolCall != nil) && !yield(d, err) {
				return
			}
		}
	}
}

func (s llmSuite) tool(t *testing.T) {
	_, calls := s.answer(t, s.o.ToolRequest)
	if len(calls) == 0 {
		t.Error("no tool called")
	}
	ids := map[string]bool{}
	for _, c := range calls {
		known := slices.ContainsFunc(s.o.ToolRequest.Tools, func(tool inference.Tool) bool { return tool.Name == c.Name })
		if c.ID == "" || ids[c.ID] || !known || !json.Valid([]byte(c.Arguments)) {
			t.Errorf("tool call %+v", *c)
		}
		ids[c.ID] = true
	}
}

func (s llmSuite) noTools(t *testing.T) {
	r := s.o.ToolRequest
	r.NoTools = true
	if _, calls := s.answer(t, r); len(calls) > 0 {
		t.Errorf("called %s though tools were off", calls[0].Name)
	}
}
