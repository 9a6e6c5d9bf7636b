package simulate_test

import (
	"errors"
	"strings"
	"testing"

	"parley/inference/scripted"
	"parley/pipeline"
	"parley/pipeline/agent"
	"parley/pipeline/simulate"
)

// desk is an agent that hands callers with invoices over to another.
func desk(t *testing.T, successor func(*agent.Successor) (simulate.Subject, error)) simulate.Subject {
	t.Helper()
	s := lola(t, `{}`)
	s.Config.Agent.Prompt = "When the caller says \"invoice\": call hand_over {\"to\":\"Billing\",\"summary\":\"An invoice.\"}\nWhen nothing matches: This is the desk."
	s.Config.HandOver = &pipeline.HandOver{To: []agent.Successor{{Agent: "ag_billing", Name: "Billing"}}}
	s.Successor = successor
	return s
}

// TestHandOver: another agent goes on with a simulated call.
func TestHandOver(t *testing.T) {
	s := parse(t, `
caller:
- {say: I have an invoice}
- {say: what is it, expect: [This is billing]}
expect: [{calls: hand_over}]
`)
	clerk := simulate.Subject{Config: pipeline.Config{Agent: agent.Agent{Prompt: "When nothing matches: This is billing.", Voice: "M1", Language: "en"}, LLM: scripted.New()}}
	r := simulate.Run(t.Context(), s, desk(t, func(to *agent.Successor) (simulate.Subject, error) {
		if to.Agent != "ag_billing" {
			t.Errorf("asked for %+v", to)
		}
		return clerk, nil
	}), 1)
	if !r.OK || strings.Contains(said(r), "This is the desk") {
		t.Errorf("%s%v %q", said(r), failed(r), r.Problem)
	}
}

// TestHandOverThatFails: the agent goes on by itself.
func TestHandOverThatFails(t *testing.T) {
	s := parse(t, `caller: [{say: I have an invoice}, {say: what is it, expect: [This is the desk]}]`)
	r := simulate.Run(t.Context(), s, desk(t, func(*agent.Successor) (simulate.Subject, error) { return simulate.Subject{}, errors.New("it is gone") }), 1)
	if !r.OK {
		t.Errorf("%s%v %q", said(r), failed(r), r.Problem)
	}
}

// TestSteps: the agent has the instructions of the step that it is at, also in the next run from the beginning.
func TestSteps(t *testing.T) {
	s := parse(t, `
caller:
- {say: my name is Ana}
- {say: my name is Ana, expect: [Pardon]}
expect: [{calls: next_step}]
`)
	subject := lola(t, `{}`)
	subject.Config.Agent.Prompt = "You book tables."
	subject.Steps = []agent.Step{
		{Name: "Name", Prompt: `When the caller says "my name is": call next_step {"to":"Day"}`, Next: []agent.Way{{To: "Day", When: "you know the name"}}},
		{Name: "Day", Prompt: "When nothing matches: Pardon?"},
	}
	for n := 1; n <= 2; n++ {
		if r := simulate.Run(t.Context(), s, subject, n); !r.OK {
			t.Errorf("run %d: %s%v %q", n, said(r), failed(r), r.Problem)
		}
	}
}
