package conversation

import (
	"log/slog"

	"parley/api"
	"parley/cmd/parley/engine"
	"parley/pipeline/agent"
	"parley/pipeline/tool"
	"parley/store"
)

// Plan is everything about a conversation that the agent decides.
type Plan struct {
	ID       string // of the stored agent; empty when the client brings its own
	Version  int64
	Agent    agent.Agent
	Follows  bool // the agent speaks the language of its caller
	Settings agent.Settings
	// Functions are those of the agent's that this server runs.
	Functions []tool.Definition

	chosen *engine.Choice // nil: not yet
	call   agent.Call     // that Begin was given
	steps  []agent.Step   // as of this conversation
	// visitors are the names of variables whose values the holder of a ticket has given.
	visitors []string
}

// PlanOf reads a stored agent. What an older version stored and this one cannot read is left at
// its default and logged.
func PlanOf(a *store.Agent, log *slog.Logger) Plan {
	p := Plan{ID: a.ID, Version: a.Version, Agent: agent.Agent{Prompt: a.Prompt, FirstMessage: a.FirstMessage, Voice: a.Voice}}
	p.Agent.Language, p.Follows = agent.Spoken(a.Language)
	functions, err := tool.Parse(a.Tools)
	if err != nil {
		log.Warn("an agent's functions cannot be read", "agent", a.ID, "err", err)
	}
	for _, f := range functions {
		if f.Kind == tool.Client {
			p.Agent.Tools = append(p.Agent.Tools, f.Spec)
		} else {
			p.Functions = append(p.Functions, f)
		}
	}
	if p.Settings, err = agent.ParseSettings(a.Settings); err != nil {
		log.Warn("an agent's settings cannot be read", "agent", a.ID, "err", err)
	}
	p.Agent.Phrases = p.Settings.Phrases
	p.Agent.Pronunciation = p.Settings.Dictionary()
	if s := p.Settings.Speed; s != nil {
		p.Agent.Speed = *s
	}
	if g := p.Settings.Goodbye; g != nil {
		p.Agent.Goodbye = *g
	}
	if text := p.Settings.HoldAnnouncement; text != nil {
		p.Agent.Announcement = *text
	}
	if tone := p.Settings.ListeningTone; tone != nil {
		p.Agent.ListeningTone = *tone
	}
	return p
}

// records says whether conversations are recorded.
func (p *Plan) records() bool { return p.Settings.Record != nil && *p.Settings.Record }

// Check refuses values of variables that the agent does not have.
func (p *Plan) Check(variables map[string]string) error {
	if err := agent.CheckGiven(&p.Settings, variables); err != nil {
		return api.Detail(api.ErrBadRequest, err.Error())
	}
	return nil
}

// Begin makes the agent's texts those of one conversation.
func (p *Plan) Begin(c agent.Call) agent.Fill {
	p.call = c
	fill := agent.Filled(&p.Settings, c)
	fill.Agent(&p.Agent, &p.Settings)
	p.steps = fill.Steps(p.Settings.Steps)
	return fill
}
