package editor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"parley/api/dashboard/page"
	"parley/api/wire"
	"parley/store"
)

// outcome is how a simulation, or a case of it, stands: in words, and their colour.
type outcome struct{ Words, Tone string }

// outcomeOf is how a simulation stands.
func outcomeOf(s *wire.Simulation) outcome {
	switch {
	case s.State == "queued":
		return outcome{"Waiting", ""}
	case s.State == "running":
		return outcome{"Running", "info"}
	case s.State == "canceled":
		return outcome{"Cancelled", "warn"}
	case s.State == "failed":
		return outcome{"Could not be run", "bad"}
	case s.OK:
		return outcome{"Passed", "good"}
	}
	return outcome{fmt.Sprintf("%d of %d failed", s.Unmet, s.Total), "bad"}
}

// simulationView is one simulation.
type simulationView struct {
	Agent *wire.AgentDefinition
	wire.SimulationDetail
}

// Tabs says which page is open.
func (v *simulationView) Tabs(tab string) agentTabs { return agentTabs{v.Agent.ID, tab} }

// Outcome is how the simulation stands.
func (v *simulationView) Outcome() outcome { return outcomeOf(&v.Simulation) }

// Moves says whether something will change by itself.
func (v *simulationView) Moves() bool { return v.EndedAt == nil }

// Done is how much of a hundred was run.
func (v *simulationView) Done() int { return v.Ran * 100 / max(1, v.Total) }

// Of is how a case stands.
func (v *simulationView) Of(c wire.SimulatedCase) outcome {
	switch {
	case c.OK == nil && v.Moves():
		return outcome{"Waiting", ""}
	case c.OK == nil, c.Runs == 0:
		return outcome{"Not run", "warn"}
	case c.Failed == 0:
		return outcome{"Passed", "good"}
	case c.Runs == 1:
		return outcome{"Failed", "bad"}
	}
	return outcome{fmt.Sprintf("%d of %d runs failed", c.Failed, c.Runs), "bad"}
}

// Lost is how many runs of a case are not kept.
func (v *simulationView) Lost(c wire.SimulatedCase) int { return c.Runs - len(c.Results) }

// ends say in words why simulated conversations end.
var ends = map[string]string{"user_hangup": "The caller hung up", "agent_hangup": "The agent hung up", "completed": "The caller was transferred", "max_duration": "It took too long",
	"failed": "It failed"}

// simulatedRun is one simulated conversation.
type simulatedRun struct{ wire.SimulatedRun }

// Run is one as it is shown.
func (v *simulationView) Run(r wire.SimulatedRun) simulatedRun { return simulatedRun{r} }

// EndWords says in words why it ended.
func (r simulatedRun) EndWords() string { return cmp.Or(ends[r.Ended], r.Ended) }

// Length is how long it was.
func (r simulatedRun) Length() time.Duration { return time.Duration(r.LengthMS) * time.Millisecond }

// Slowest is the longest time that a caller waited for an answer, in milliseconds; 0: there was none.
func (r simulatedRun) Slowest() (most int64) {
	for _, t := range r.Turns {
		most = max(most, t.TotalMS)
	}
	return most
}

// simulatedLine is something that was said, or a function that was called.
type simulatedLine struct {
	At   time.Duration
	Who  string
	Text string                  // that was said
	Call *wire.SimulatedFunction // nil: something was said
}

// Lines are the conversation with the functions that were called, in the order of their times.
func (r simulatedRun) Lines() []simulatedLine {
	var out []simulatedLine
	for _, l := range r.Transcript {
		who := map[string]string{"user": "Caller", "agent": "Agent"}[l.Role]
		out = append(out, simulatedLine{At: time.Duration(l.AtMS) * time.Millisecond, Who: who, Text: l.Text})
	}
	for i, f := range r.Functions {
		out = append(out, simulatedLine{At: time.Duration(f.AtMS) * time.Millisecond, Who: "Function", Call: &r.Functions[i]})
	}
	slices.SortStableFunc(out, func(a, b simulatedLine) int { return cmp.Compare(a.At, b.At) })
	return out
}

// version is another when something else is shown.
func (v *simulationView) version() string { return fmt.Sprintf("%s %d %d", v.State, v.Ran, v.Cost) }

// At is where the simulation is, or what is below it.
func (v *simulationView) At(below string) string { return simulationAt(&v.Simulation) + below }

// Again is what the page asks for next: what differs from what it shows.
func (v *simulationView) Again() string {
	return v.At("/progress?") + url.Values{"seen": {v.version()}}.Encode()
}

// simulationAt is where a simulation is.
func simulationAt(s *wire.Simulation) string {
	return page.Path(At+"/", s.AgentID, "/simulations/", s.ID)
}

// simulationRoute is the API's address of the simulation of the path, or of what is below it.
func simulationRoute(q *page.Request, below string) string {
	return page.Path("/v1/simulations/", q.ID("simulation")) + below
}

func newSimulationView(q *page.Request) (*simulationView, error) {
	a, err := agent(q)
	if err != nil {
		return nil, err
	}
	s, err := page.Read[wire.SimulationDetail](q, simulationRoute(q, ""))
	if err == nil && s.AgentID != a.ID {
		err = store.ErrNotFound
	}
	return &simulationView{a, s}, err
}

func simulationPage(q *page.Request) error {
	v, err := newSimulationView(q)
	if err != nil {
		return err
	}
	return q.Page("agent-simulation", "Simulation of "+v.Agent.Name, v)
}

// simulationPart is what the page asks for until the simulation has ended. Nothing (204) when nothing has changed.
func simulationPart(q *page.Request) error {
	v, err := newSimulationView(q)
	if err == nil && q.R.URL.Query().Get("seen") == v.version() {
		q.W.WriteHeader(http.StatusNoContent)
		return nil
	}
	return q.ShowPart("agent-simulation", "simulation")(v, err)
}

// simulate asks for a simulation, and opens its page. What stands against it goes into the form, which again shows.
func simulate(q *page.Request, f *page.Form, order wire.NewSimulation, again func() error) error {
	var made wire.Simulation
	if done, err := q.Submit(f, http.MethodPost, page.Path("/v1/agents/", q.ID("id"), "/simulations"), order, &made, again); !done {
		return err
	}
	return q.Go(simulationAt(&made))
}

// runCases runs the cases that the form names; without any, all.
func runCases(q *page.Request, f *page.Form) error {
	return simulate(q, f, wire.NewSimulation{Cases: f.Values["case"]}, func() error {
		return q.ShowInvalid("agent-tests", "agent-tests-run", "Tests")(newTestsView(q, f))
	})
}

// tryDraft runs the test cases on what was entered, which is not saved.
func tryDraft(q *page.Request, form *page.Form) error {
	v, a, err := agentEntered(q, form)
	if err != nil {
		return err
	}
	again := func() error { return q.Invalid("agent", "agent-form", v.Title, v) }
	if !v.Form.OK() {
		return again()
	}
	document, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return simulate(q, form, wire.NewSimulation{Definition: &wire.AgentDraft{RawMessage: document}}, again)
}

func cancelSimulation(q *page.Request) error {
	at := page.Path(At+"/", q.ID("id"), "/simulations/", q.ID("simulation"))
	return q.Do(http.MethodPost, simulationRoute(q, "/cancel"), nil, at, "The simulation is cancelled.")
}
