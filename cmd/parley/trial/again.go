package trial

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"

	"parley/api/wire"
	"parley/cmd/parley/conversation"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/journal"
	"parley/pipeline/replay"
	"parley/pipeline/session"
	"parley/pipeline/simulate"
	"parley/pipeline/toolbox"
	"parley/store"
)

// Bounds of one turn that is answered again.
const (
	mostRounds = 3        // answers that may call functions; one more says what they gave
	mostAnswer = 16 << 10 // bytes of an answer
)

// answerer is an agent whose model is asked, with its books.
type answerer struct {
	agent     store.Agent
	rehearsal conversation.Rehearsal
	model     inference.LLM
	work      *session.Work
	log       *slog.Logger
	in, out   atomic.Int64 // tokens
}

// meeting is an agent as it would have been in a recorded call. Its methods may be called from any goroutine.
type meeting struct {
	*answerer
	subject simulate.Subject
	tools   []inference.Tool
}

// meets makes the agent that of a recorded call. Values of its own variables were not kept: they are those it has by itself.
func (s *answerer) meets(f *journal.File) (*meeting, error) {
	telephone := slices.ContainsFunc(f.Origin.Own, func(name string) bool {
		return slices.Contains([]string{bridge.TransferCall, toolbox.SendDTMF, toolbox.CollectDigits, toolbox.OptOut}, name)
	})
	subject, err := s.rehearsal.Again(&s.agent, agent.Call{Now: f.Origin.Start}, telephone)
	if err != nil {
		return nil, err
	}
	return &meeting{s, subject, offers(&subject.Config)}, nil
}

// answer is what the agent says and calls in the last of the turns of a call.
func (m *meeting) answer(until []replay.Exchange) *wire.AnswerSide {
	x := &until[len(until)-1]
	a := &m.subject.Config.Agent
	request := inference.Request{System: a.Prompt, Messages: slices.Clone(x.Messages), Tools: m.tools, Language: a.Language}
	steps := m.steps(until[:len(until)-1])
	if steps != nil {
		request.System, request.Tools = steps.Prompt(), append(slices.Clip(m.tools), steps.Function(nil).Spec)
	}
	out := &wire.AnswerSide{Functions: []wire.ComparedFunction{}}
	rest := slices.Clone(x.Calls)
	for round := range mostRounds + 1 {
		request.NoTools = round == mostRounds
		said, err := m.complete(request)
		if err != nil {
			out.Failed = true
			return out
		}
		out.Text = strings.TrimSpace(out.Text + " " + said.Text)
		known := len(said.ToolCalls) > 0
		request.Messages = append(request.Messages, said)
		for i := range said.ToolCalls {
			call := &said.ToolCalls[i]
			call.ID = fmt.Sprintf("again_%d_%d", round, i)
			one, result := recalled(&rest, call)
			if steps != nil && call.Name == toolbox.NextStep { // it changes nothing outside
				if result, err = steps.Go(json.RawMessage(call.Arguments)); err == nil {
					request.System = steps.Prompt()
				}
				one.Recorded = one.Recorded || err == nil
			}
			out.Functions = append(out.Functions, one)
			known = known && one.Recorded && call.Name != toolbox.EndCall
			request.Messages = append(request.Messages, inference.Message{Role: inference.RoleTool, ToolCallID: call.ID, Text: result})
		}
		if !known || request.NoTools {
			break
		}
	}
	return out
}

// steps is the step in which an agent is after the turns of a call, as far as its steps have the ways that were gone; nil: it has none.
func (m *meeting) steps(before []replay.Exchange) *toolbox.Steps {
	if len(m.subject.Steps) == 0 {
		return nil
	}
	steps := toolbox.NewSteps(m.subject.Config.Agent.Prompt, m.subject.Steps)
	for i := range before {
		for _, c := range before[i].Calls {
			if c.Name == toolbox.NextStep {
				_, _ = steps.Go(json.RawMessage(c.Arguments)) // a way that these steps do not have
			}
		}
	}
	return steps
}

// recalled is a call of a function, with the result that it had in the recorded turn, which is taken from rest.
func recalled(rest *[]replay.Called, call *inference.ToolCall) (one wire.ComparedFunction, result string) {
	one = wire.ComparedFunction{Name: call.Name, Arguments: call.Arguments}
	i := slices.IndexFunc(*rest, func(c replay.Called) bool { return c.Name == call.Name && sameJSON(c.Arguments, call.Arguments) })
	if i < 0 {
		return one, ""
	}
	one.Recorded, result = true, (*rest)[i].Result
	*rest = slices.Delete(*rest, i, i+1)
	return one, result
}

// sameJSON says whether two models have written the same arguments.
func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(cmp.Or(a, "{}")), &x) != nil || json.Unmarshal([]byte(cmp.Or(b, "{}")), &y) != nil {
		return a == b
	}
	return reflect.DeepEqual(x, y)
}

// complete is all that the model answers, on the books.
func (m *meeting) complete(r inference.Request) (said inference.Message, err error) {
	said.Role = inference.RoleAgent
	engine, text := m.model.Info().Name, strings.Builder{}
	var usage *inference.Usage
	for d, fault := range m.model.Complete(m.work.Context(), r) {
		if fault != nil {
			err = fault
			break
		}
		engine = cmp.Or(d.Engine, engine)
		text.WriteString(d.Text)
		if d.Part != nil {
			said.Parts = append(said.Parts, *d.Part)
		}
		if d.ToolCall != nil && !r.NoTools {
			said.ToolCalls = append(said.ToolCalls, *d.ToolCall)
		}
		if d.Usage != nil {
			usage = new(*d.Usage)
		}
		if text.Len() > mostAnswer {
			break
		}
	}
	said.Text = strings.TrimSpace(text.String())
	if usage == nil && text.Len()+len(said.ToolCalls) > 0 { // it does not say what it used
		usage = &inference.Usage{In: r.Characters() / perToken, Out: text.Len() / perToken, Source: inference.UsageCounted}
	}
	if usage != nil {
		m.work.Answered(engine, *usage)
		m.in.Add(int64(usage.In))
		m.out.Add(int64(usage.Out))
	}
	if err != nil && m.work.Context().Err() == nil {
		m.log.Warn("a model did not answer a recorded turn again", "engine", engine, "err", err)
	}
	return said, err
}

// compare puts the sides of a turn beside each other, the agent that is compared first; those that are nil have failed.
func compare(x *replay.Exchange, sides []*wire.AnswerSide) *wire.ComparedAnswer {
	for i := range sides {
		if sides[i] == nil {
			sides[i] = &wire.AnswerSide{Functions: []wire.ComparedFunction{}, Failed: true}
		}
	}
	recorded := wire.AnswerSide{Text: x.Said, Functions: []wire.ComparedFunction{}}
	for _, c := range x.Calls {
		recorded.Functions = append(recorded.Functions, wire.ComparedFunction{Name: c.Name, Arguments: c.Arguments, Recorded: true})
	}
	out := &wire.ComparedAnswer{Turn: x.Turn, Heard: x.Heard, Recorded: recorded, Now: *sides[0]}
	if len(sides) > 1 {
		out.Then = sides[1]
		out.Differs = !alike(out.Then, &out.Now, false)
	} else {
		out.Differs = !alike(&recorded, &out.Now, x.Interrupted)
	}
	return out
}

// alike says whether two sides say and call the same; of one that was cut off, as far as it was heard.
func alike(a, b *wire.AnswerSide, cut bool) bool {
	words := func(s *wire.AnswerSide) string { return strings.ToLower(strings.Join(strings.Fields(s.Text), " ")) }
	same := words(a) == words(b) || cut && strings.HasPrefix(words(b), words(a))
	return same && a.Failed == b.Failed && slices.EqualFunc(a.Functions, b.Functions, func(f, g wire.ComparedFunction) bool {
		return f.Name == g.Name && sameJSON(f.Arguments, g.Arguments)
	})
}
