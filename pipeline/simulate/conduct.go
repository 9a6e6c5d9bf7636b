package simulate

import (
	"encoding/json"
	"slices"
	"time"

	"parley/inference"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/pipeline/toolbox"
)

// Functions of the conversation itself, which the world runs: all others give what the script has for them.

// conducts makes a subject the one that conducts the call, and returns the configuration for it.
func (w *world) conducts(s Subject) pipeline.Config {
	w.subject, w.steps = s, nil
	cfg := s.Config
	if len(s.Steps) > 0 {
		w.steps = toolbox.NewSteps(cfg.Agent.Prompt, s.Steps)
		cfg.Agent.Prompt = w.steps.Prompt()
		cfg.Functions = append(slices.Clip(cfg.Functions), w.steps.Function(nil))
	}
	return cfg
}

// step goes on to another step, before the result comes.
func (w *world) step(call *inference.ToolCall, result *journal.Message) {
	if w.steps == nil {
		return
	}
	text, err := w.steps.Go(json.RawMessage(call.Arguments))
	if err != nil {
		result.Err = err.Error()
		return
	}
	result.Text = text
	prompt := w.steps.Prompt()
	w.before(func() { w.call.Update(w.now, func(a *agent.Agent) { a.Prompt = prompt }) })
}

// handOver has another agent conduct the call, before the result comes.
func (w *world) handOver(call *inference.ToolCall, result *journal.Message) {
	to, text, err := toolbox.Successor(w.subject.Config.HandOver.To, json.RawMessage(call.Arguments))
	var next Subject
	if err == nil {
		next, err = w.subject.Successor(to)
	}
	if err != nil {
		result.Err = err.Error()
		return
	}
	result.Text = text
	w.before(func() { w.call.TakeOver(w.now, to, w.conducts(next)) })
}

// before has something done when the result of a function can come at the earliest.
func (w *world) before(do func()) {
	w.later(item{at: w.now + functionAfter*667/1000 - time.Millisecond, do: do})
}
