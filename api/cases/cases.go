// Package cases serves the test cases of agents and the simulations that run them.
package cases

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/cases"
)

// Options are what the routes need of packages that they may not know. All are set.
type Options struct {
	Store   *cases.Store
	Enqueue store.Enqueue // of a simulation
	// Check says what is wrong with a script, as a refusal of the error table.
	Check func(script json.RawMessage) error
	Runs  func(script json.RawMessage) int // how often it has itself run
	// Draft is the agent that a document would make, as a simulation takes it, or a refusal.
	Draft func(document json.RawMessage) (any, error)
	// Stored is a stored agent likewise.
	Stored func(*store.Agent) any
}

const (
	maxCaseBody       = cases.MaxScript + 16<<10 // bytes
	maxSimulationBody = 1 << 20                  // an agent's
)

var (
	ofAgents = api.Group{Tag: "Agents", Access: api.Management, OwnPagesOnly: true, MaxBody: maxCaseBody, Missing: api.ErrNoAgent}
	routes   = api.Group{Tag: "Agents", Access: api.Management, OwnPagesOnly: true, MaxBody: maxCaseBody}
)

// Mount adds the routes.
func Mount(a *api.API, o Options) {
	s := &service{o}
	const all, one = "/v1/agents/{id}/cases", "/v1/agents/{id}/cases/{case}"
	api.Register(a, ofAgents.Get(all, "list-cases", "List the test cases of an agent", "Newest first.", http.StatusNotFound), s.list)
	api.Register(a, ofAgents.Post(all, "create-case", "Add a test case to an agent",
		"A simulated caller and what is expected of the agent. `detail` names every mistake in the script by its path. An agent has 100 cases at most.", http.StatusNotFound).Created().Repeatable(), s.create)
	api.Register(a, routes.Get(one, "get-case", "Read a test case", "With its script.", http.StatusNotFound), s.get)
	api.Register(a, routes.Put(one, "replace-case", "Replace a test case", "Its name and its script. Simulations that wait or run go on with the case as it was.", http.StatusNotFound), s.replace)
	api.Register(a, routes.Delete(one, "delete-case", "Delete a test case", "Results of simulations stay.", http.StatusNotFound), s.remove)
	api.Register(a, ofAgents.Post("/v1/agents/{id}/simulations", "create-simulation", "Run test cases of an agent",
		"Has simulated callers try the agent in the background, in simulated time, without telephone and voice; none of its functions is really called. "+
			"With `definition` an agent is tried that is not stored, as `POST /v1/agents` takes it. Tokens of the models are charged as those of replies. "+
			"It takes 10 minutes at most, and five of an account may wait or run. The last 100 of an agent are kept.",
		http.StatusNotFound).Accepted().Within(maxSimulationBody).Repeatable(), s.simulate)
	api.Register(a, ofAgents.Get("/v1/agents/{id}/simulations", "list-simulations", "List the simulations of an agent", "Newest first, without results.", http.StatusNotFound), s.simulations)
	api.Register(a, routes.Get("/v1/simulations/{id}", "get-simulation", "Read a simulation", "With the results of each case that has run. Ask every second or two until `ended_at` is there.", http.StatusNotFound), s.simulation)
	api.Register(a, routes.Post("/v1/simulations/{id}/cancel", "cancel-simulation", "Cancel a simulation",
		"It stops after the run that it makes now; what was run is kept and charged. One that has ended stays as it is.", http.StatusNotFound), s.cancel)
}

type service struct{ Options }

type caseInput struct {
	ID   string `path:"id" doc:"The agent's identifier." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Case string `path:"case" doc:"The case's identifier." maxLength:"100" example:"case_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func view(c *cases.Case) wire.Case {
	return wire.Case{ID: c.ID, CaseDraft: wire.CaseDraft{Name: c.Name, Script: wire.CaseScript{RawMessage: c.Script}}, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
}

func show(c *cases.Case, err error) (*api.Reply[wire.Case], error) {
	if errors.Is(err, cases.ErrName) {
		return nil, api.Bad("name: another case of the agent has it")
	}
	if err != nil {
		return nil, err
	}
	return api.Body(view(c)), nil
}

func (s *service) list(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The agent's identifier." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	api.Paging
}) (*api.Listed[wire.Case], error) {
	return api.Pages(in.Limit, func(c cases.Case) string { return c.ID }, view)(s.Store.Cases(ctx, api.AccountOf(ctx), in.ID, in.Page()))
}

func (s *service) create(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"The agent's identifier." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.CaseDraft
}) (*api.Reply[wire.Case], error) {
	if err := s.Check(in.Body.Script.RawMessage); err != nil {
		return nil, err
	}
	return show(s.Store.Create(ctx, api.AccountOf(ctx), cases.Case{Agent: in.ID, Name: in.Body.Name, Script: in.Body.Script.RawMessage}))
}

func (s *service) get(ctx context.Context, in *caseInput) (*api.Reply[wire.Case], error) {
	return show(s.Store.Case(ctx, api.AccountOf(ctx), in.ID, in.Case))
}

func (s *service) replace(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"The agent's identifier." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Case string `path:"case" doc:"The case's identifier." maxLength:"100" example:"case_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.CaseDraft
}) (*api.Reply[wire.Case], error) {
	if err := s.Check(in.Body.Script.RawMessage); err != nil {
		return nil, err
	}
	return show(s.Store.Replace(ctx, api.AccountOf(ctx), cases.Case{ID: in.Case, Agent: in.ID, Name: in.Body.Name, Script: in.Body.Script.RawMessage}))
}

func (s *service) remove(ctx context.Context, in *caseInput) (*struct{}, error) {
	return nil, s.Store.Delete(ctx, api.AccountOf(ctx), in.ID, in.Case)
}
