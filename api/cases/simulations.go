package cases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"parley/api"
	"parley/api/wire"
	"parley/store/cases"
)

type simulationInput struct {
	ID string `path:"id" doc:"The simulation's identifier." maxLength:"100" example:"sim_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

func viewSimulation(s *cases.Simulation) wire.Simulation {
	out := wire.Simulation{ID: s.ID, AgentID: s.AgentID, AgentVersion: s.Version, Draft: s.Draft, State: string(s.State),
		OK: s.State == cases.Done && s.Unmet == 0, Total: s.Cases, Ran: s.Ran, Unmet: s.Unmet, InTokens: s.InTokens, OutTokens: s.OutTokens,
		Cost: wire.USD(s.Cost), CreatedAt: s.CreatedAt, StartedAt: s.StartedAt, EndedAt: s.EndedAt}
	if s.Reason != "" {
		out.Reason = &s.Reason
	}
	return out
}

func (s *service) simulate(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"The agent's identifier." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.NewSimulation
}) (*api.Reply[wire.Simulation], error) {
	p := api.PrincipalOf(ctx)
	o := cases.Order{Account: p.Account, Key: p.Key, Agent: in.ID, Cases: in.Body.Cases, Runs: in.Body.Runs, Count: s.Runs}
	if in.Body.Definition != nil {
		var err error
		if o.Draft, err = s.Draft(in.Body.Definition.RawMessage); err != nil {
			return nil, err
		}
	}
	made, err := s.Store.Simulate(ctx, o, s.Stored, s.Enqueue)
	if errors.Is(err, cases.ErrTooMany) {
		return nil, api.ErrJobs
	}
	if err != nil {
		return nil, err
	}
	return api.Body(viewSimulation(made)), nil
}

func (s *service) simulations(ctx context.Context, in *struct {
	ID string `path:"id" doc:"The agent's identifier." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	api.Paging
}) (*api.Listed[wire.Simulation], error) {
	return api.Pages(in.Limit, func(s cases.Simulation) string { return s.ID }, viewSimulation)(
		s.Store.Simulations(ctx, api.AccountOf(ctx), in.ID, in.Page()))
}

func (s *service) simulation(ctx context.Context, in *simulationInput) (*api.Reply[wire.SimulationDetail], error) {
	account := api.AccountOf(ctx)
	found, err := s.Store.Simulation(ctx, account, in.ID)
	if err != nil {
		return nil, err
	}
	runs, err := s.Store.Runs(ctx, account, in.ID)
	if err != nil {
		return nil, err
	}
	out := wire.SimulationDetail{Simulation: viewSimulation(found), Cases: []wire.SimulatedCase{}}
	for i := range runs {
		one, err := viewRun(&runs[i])
		if err != nil {
			return nil, err
		}
		out.Cases = append(out.Cases, one)
	}
	return api.Body(out), nil
}

func viewRun(r *cases.Run) (wire.SimulatedCase, error) {
	out := wire.SimulatedCase{CaseID: r.CaseID, Name: r.Name, Runs: r.Runs, Failed: r.Failed, Results: []wire.SimulatedRun{}}
	if r.Results == nil {
		return out, nil
	}
	if ok := r.Failed == 0; r.Runs > 0 {
		out.OK = &ok
	}
	if err := json.Unmarshal(r.Results, &out.Results); err != nil {
		return out, fmt.Errorf("results of %s: %w", r.CaseID, err)
	}
	return out, nil
}

func (s *service) cancel(ctx context.Context, in *simulationInput) (*api.Reply[wire.Simulation], error) {
	account := api.AccountOf(ctx)
	if err := s.Store.Cancel(ctx, account, in.ID); err != nil {
		return nil, err
	}
	found, err := s.Store.Simulation(ctx, account, in.ID)
	if err != nil {
		return nil, err
	}
	return api.Body(viewSimulation(found)), nil
}
