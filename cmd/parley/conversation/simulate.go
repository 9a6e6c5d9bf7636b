package conversation

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"parley/inference"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/reply"
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
	subject, settings, err := r.subject(a, agent.Call{Now: simulate.Epoch, Given: s.Variables}, s.Telephone == nil || *s.Telephone)
	if err == nil && len(settings.HandOverTo) > 0 {
		subject.Successor = func(to *agent.Successor) (simulate.Subject, error) { return r.successor(to, s) }
	}
	return subject, err
}

// Again is an agent as it would have been in a call of this server that has taken place, in whose words it answers again: with
// the same functions as a Subject, and the one that searches its documents.
func (r *Rehearsal) Again(a *store.Agent, call agent.Call, telephone bool) (simulate.Subject, error) {
	subject, settings, err := r.subject(a, call, telephone)
	taken := func(f tool.Function) bool { return f.Spec.Name == tool.SearchKnowledge }
	if err == nil && len(settings.KnowledgeBases) > 0 && !settings.LooksUpEachTurn() && !slices.ContainsFunc(subject.Config.Functions, taken) {
		subject.Config.Functions = append(subject.Config.Functions, tool.NewSearchKnowledge(nil))
	}
	return subject, err
}

func (r *Rehearsal) subject(a *store.Agent, call agent.Call, telephone bool) (subject simulate.Subject, settings *agent.Settings, err error) {
	p := PlanOf(a, r.Log)
	p.Begin(call)
	llm, err := r.Model(p.Settings.Engines)
	if err != nil {
		return subject, nil, err
	}
	c := pipeline.Config{Agent: p.Agent, LLM: llm, Turn: p.Settings.Turn(p.Agent.Language), MaxDuration: p.Settings.MaxDuration(),
		Log: r.Log}
	if p.Settings.Speculate(true) {
		c.Speculation = reply.SpeculateText
	}
	for _, d := range p.Functions {
		if d.Kind != tool.MCPKind {
			c.Functions = append(c.Functions, tool.Function{Spec: d.Spec, Cancel: d.Cancel})
		}
	}
	c.ClientTools = len(p.Agent.Tools) > 0
	if telephone {
		Telephone(&c, &p.Settings, &bridge.Transfer{}, func(context.Context, string) error { return nil }, func(context.Context) error { return nil })
	}
	if len(p.Settings.HandOverTo) > 0 {
		c.HandOver = &pipeline.HandOver{To: p.Settings.HandOverTo}
	}
	return simulate.Subject{Config: c, Steps: p.steps}, &p.Settings, nil
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
