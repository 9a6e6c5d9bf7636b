package conversation

import (
	"context"
	"errors"
	"maps"
	"slices"

	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
	"parley/store"
)

// Why another agent does not take a caller over, as the model reads it.
var (
	errGone   = errors.New("there is no such agent any more; help the caller yourself")
	errAway   = errors.New("the agent cannot be reached now; help the caller yourself")
	errSpeaks = errors.New("the agent cannot take over a call that has begun; help the caller yourself")
	errDeaf   = errors.New("the agent does not understand this language; help the caller yourself")
)

// takeover is what agents need that conduct a call one after another.
type takeover struct {
	maker   *Maker
	session *session.Session
	options Options
	hears   bool      // the call has a recogniser
	open    *tool.Set // the functions of its first agent, with which those of others are closed
	call    *pipeline.Call
}

// from is whom the agent of a plan may hand the caller over to; nil: nobody. An engine that hears and speaks by itself knows no hand-over.
func (t *takeover) from(p *Plan) *pipeline.HandOver {
	if len(p.Settings.HandOverTo) == 0 || p.chosen.Realtime != nil {
		return nil
	}
	return &pipeline.HandOver{To: p.Settings.HandOverTo, Prepare: func(ctx context.Context, to *agent.Successor) (*pipeline.Config, error) {
		return t.prepare(ctx, p, to)
	}}
}

// prepare makes the agent's part of the call for one that takes over from another.
func (t *takeover) prepare(ctx context.Context, before *Plan, to *agent.Successor) (*pipeline.Config, error) {
	m, s := t.maker, t.session
	stored, err := m.Store.Agent(ctx, s.Account(), to.Agent)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil, errGone
	case err != nil:
		m.Log.Warn("an agent could not take a call over", "session", s.ID(), "agent", to.Agent, "err", err)
		return nil, errAway
	}
	p := PlanOf(stored, m.Log)
	p.succeeds(before)
	engines := m.chosen(ctx, s.Account(), &p)
	if engines.Realtime != nil {
		return nil, errSpeaks
	}
	cfg, deaf := m.part(*engines, &p, t.call.Rate(), s.Spoke)
	if deaf && t.hears {
		return nil, errDeaf
	}
	set := m.functions(ctx, s, &p, t.options.Other, t.options.Parent)
	t.open.Also(set)
	t.equip(&cfg, set, &p)
	cfg.LLM = m.lookingUp(s.Pays(cfg.LLM), s, &p)
	s.Serves(engines.Engine)
	m.Log.Info("an agent takes a call over", "session", s.ID(), "agent", p.ID, "from", before.ID)
	return &cfg, nil
}

// succeeds makes the agent's texts those of the conversation that another agent had. What a visitor has said of variables counts
// where this agent, too, lets visitors set them.
func (p *Plan) succeeds(before *Plan) {
	call := before.call
	call.Given = maps.Clone(call.Given)
	for _, name := range before.visitors {
		if slices.Contains(p.Settings.PublicVariables, name) {
			p.visitors = append(p.visitors, name)
		} else {
			delete(call.Given, name)
		}
	}
	p.Begin(call)
}

// equip gives a configuration what the agent of a plan does besides talking.
func (t *takeover) equip(cfg *pipeline.Config, set *tool.Set, p *Plan) {
	cfg.Functions, cfg.HandOver = set.Functions, t.from(p)
	t.lead(cfg, p)
	if t.options.Telephone != nil {
		t.options.Telephone(cfg, p)
	}
}

// lead has an agent go through its steps, if it has some. One that hears and speaks by itself knows them all from the beginning.
func (t *takeover) lead(cfg *pipeline.Config, p *Plan) {
	if len(p.steps) == 0 || p.chosen.Realtime != nil {
		return
	}
	steps := toolbox.NewSteps(cfg.Agent.Prompt, p.steps)
	cfg.Agent.Prompt = steps.Prompt()
	cfg.Functions = append(slices.Clip(cfg.Functions), steps.Function(func(prompt string) {
		t.call.Update(func(a *agent.Agent) { a.Prompt = prompt })
	}))
}
