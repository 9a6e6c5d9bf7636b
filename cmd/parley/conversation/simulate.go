package conversation

import (
	"context"
	"errors"
	"log/slog"

	"parley/inference"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/simulate"
	"parley/pipeline/tool"
	"parley/store"
)

// Rehearsal is what simulated callers try agents with. Nothing is left running.
type Rehearsal struct {
	// Model is the model for the engines that an agent wants.
	Model func(wanted *agent.Engines) (inference.LLM, error)
	// Other is another agent of the account, for hand-overs; nil: there are none.
	Other func(id string) (*store.Agent, error)
	Log   *slog.Logger
}

// Subject is an agent as it would be in a call of this server, for a simulated caller:
// with its model, and functions of which nothing runs. Those of MCP servers, which describe
// them themselves, are not there.
func (r *Rehearsal) Subject(a *store.Agent, s *simulate.Script) (simulate.Subject, error) {
	p := PlanOf(a, r.Log)
	p.Begin(agent.Call{Now: simulate.Epoch, Given: s.Variables})
	llm, err := r.Model(p.Settings.Engines)
	if err != nil {
		return simulate.Subject{}, err
	}
	c := pipeline.Config{Agent: p.Agent, LLM: llm, Turn: p.Settings.Turn(p.Agent.Language), MaxDuration: p.Settings.MaxDuration(),
		Log: r.Log}
	if p.Settings.Speculate(true) {
		c.Speculation = pipeline.SpeculateText
	}
	for _, d := range p.Functions {
		if d.Kind != tool.MCPKind {
			c.Functions = append(c.Functions, tool.Function{Spec: d.Spec, Cancel: d.Cancel})
		}
	}
	c.ClientTools = len(p.Agent.Tools) > 0
	if s.Telephone == nil || *s.Telephone {
		Telephone(&c, &p.Settings, &bridge.Transfer{}, func(context.Context) error { return nil })
	}
	subject := simulate.Subject{Config: c, Steps: p.steps}
	if len(p.Settings.HandOverTo) > 0 {
		subject.Config.HandOver = &pipeline.HandOver{To: p.Settings.HandOverTo}
		subject.Successor = func(to *agent.Successor) (simulate.Subject, error) { return r.successor(to, s) }
	}
	return subject, nil
}

// successor is the agent that another one hands a simulated caller over to.
func (r *Rehearsal) successor(to *agent.Successor, s *simulate.Script) (next simulate.Subject, err error) {
	if r.Other == nil {
		return next, errGone
	}
	stored, err := r.Other(to.Agent)
	if err == nil {
		next, err = r.Subject(stored, s)
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return next, errGone
	case err != nil:
		r.Log.Warn("an agent could not take a simulated call over", "agent", to.Agent, "err", err)
		return next, errAway
	}
	return next, nil
}
