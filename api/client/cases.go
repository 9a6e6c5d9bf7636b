package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// Cases lists the test cases of an agent, newest first: an agent has no more than are listed.
func (c *Client) Cases(ctx context.Context, agent string) ([]wire.Case, error) {
	list, err := ask[struct{ Data []wire.Case }](ctx, c, http.MethodGet, c.query(url.Values{"limit": {"100"}}, "v1", "agents", agent, "cases"), nil)
	if err != nil {
		return nil, err
	}
	return list.Data, nil
}

// PutCase adds a test case to an agent, or with an identifier replaces the one that has it.
func (c *Client) PutCase(ctx context.Context, agent, id, name string, script json.RawMessage) (*wire.Case, error) {
	draft := wire.CaseDraft{Name: name, Script: wire.CaseScript{RawMessage: script}}
	if id == "" {
		return ask[wire.Case](ctx, c, http.MethodPost, c.address("v1", "agents", agent, "cases"), draft)
	}
	return ask[wire.Case](ctx, c, http.MethodPut, c.address("v1", "agents", agent, "cases", id), draft)
}

// DeleteCase removes a test case of an agent.
func (c *Client) DeleteCase(ctx context.Context, agent, id string) error {
	resp, err := c.send(ctx, http.MethodDelete, c.address("v1", "agents", agent, "cases", id), nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Simulate asks for a simulation of test cases of an agent.
func (c *Client) Simulate(ctx context.Context, agent string, s wire.NewSimulation) (*wire.Simulation, error) {
	return ask[wire.Simulation](ctx, c, http.MethodPost, c.address("v1", "agents", agent, "simulations"), s)
}

// Simulation reads a simulation with what its cases came to, as far as it is.
func (c *Client) Simulation(ctx context.Context, id string) (*wire.SimulationDetail, error) {
	return ask[wire.SimulationDetail](ctx, c, http.MethodGet, c.address("v1", "simulations", id), nil)
}

// CancelSimulation cancels a simulation; one that has ended stays as it is.
func (c *Client) CancelSimulation(ctx context.Context, id string) error {
	_, err := ask[wire.Simulation](ctx, c, http.MethodPost, c.address("v1", "simulations", id, "cancel"), nil)
	return err
}
