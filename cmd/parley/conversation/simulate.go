package conversation

import (
	"context"
	"log/slog"

	"parley/inference"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/simulate"
	"parley/pipeline/tool"
	"parley/store"
)

// Simulated is an agent as it would be in a call of this server, for a simulated caller:
// with the model that model gives for the engines it wants, and functions of which nothing
// runs. Those of MCP servers, which describe them themselves, are not there. Nothing is left
// running.
func Simulated(model func(wanted *agent.Engines) (inference.LLM, error), a *store.Agent, s *simulate.Script, log *slog.Logger) (simulate.Subject, error) {
	p := PlanOf(a, log)
	agent.Filled(&p.Settings, agent.Call{Now: simulate.Epoch, Given: s.Variables}).Agent(&p.Agent, &p.Settings)
	llm, err := model(p.Settings.Engines)
	if err != nil {
		return simulate.Subject{}, err
	}
	c := pipeline.Config{Agent: p.Agent, LLM: llm, Turn: p.Settings.Turn(p.Agent.Language), MaxDuration: p.Settings.MaxDuration(),
		Log: log}
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
	return simulate.Subject{Config: c}, nil
}
