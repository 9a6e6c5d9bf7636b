// Code generated from the service's OpenAPI document. DO NOT EDIT.

package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"

	"parley/api/wire"
)

// UpdateAgent: Change an agent.
// Fields that are not sent, or null, stay as they are; `tools` and `settings` are replaced as a whole, `metadata` name
// by name. Conversations in progress go on with the agent as it was, and every change leaves it as a version. What
// changes nothing, or only `metadata`, makes none. With `If-Match: "7"` it is done only while the version is 7, and
// else answered with 412.
func (c *Client) UpdateAgent(ctx context.Context, id string, body wire.AgentChange) (*wire.AgentDefinition, error) {
	return ask[wire.AgentDefinition](ctx, c, http.MethodPatch, c.address("v1", "agents", id), body)
}

// GetCase: Read a test case.
// With its script.
func (c *Client) GetCase(ctx context.Context, id string, caseID string) (*wire.Case, error) {
	return ask[wire.Case](ctx, c, http.MethodGet, c.address("v1", "agents", id, "cases", caseID), nil)
}

// CompareAgent: Compare an agent with its recorded calls.
// Has the models of a version of an agent, or of one that is not stored, answer the turns of its latest recorded calls
// again, and shows turn by turn the recorded answer, the one that it would give and the functions that it would call;
// with `against` also those of another version. Each turn is asked after what the caller and the agent had said up to
// it in the call. No function is run: the model gets the recorded result of one that it calls with the same arguments,
// and its answer ends with any other. The calls are conducted again, too, with what their models, voices and functions
// gave: `turns` says where turn-taking would differ. The tokens are charged like those of simulations; with `models`
// of `recorded` no model is asked, and it is free. 100 turns in 45 seconds are answered at most. Calls are kept for
// this while the agent's setting `record` is on, as long as their recordings. An account may ask for ten comparisons
// at once and ten a minute.
func (c *Client) CompareAgent(ctx context.Context, id string, body wire.NewComparison) (*wire.Comparison, error) {
	return ask[wire.Comparison](ctx, c, http.MethodPost, c.address("v1", "agents", id, "compare"), body)
}

// ListSimulations: List the simulations of an agent.
// Newest first, without results.
func (c *Client) ListSimulations(ctx context.Context, id string) iter.Seq2[wire.Simulation, error] {
	return each[wire.Simulation](ctx, c, url.Values{}, "v1", "agents", id, "simulations")
}

// DiffAgentVersionsQuery is the query of DiffAgentVersions. Empty fields are not sent.
type DiffAgentVersionsQuery struct {
	// The version that it is compared with; without it the one before.
	Against string
}

func (q DiffAgentVersionsQuery) values() url.Values {
	return picked(map[string]string{"against": q.Against})
}

// DiffAgentVersions: Compare two versions of an agent.
// What differs in a version from the one before it, or from another, field by field. Of the first version everything
// that a new agent has not.
func (c *Client) DiffAgentVersions(ctx context.Context, id string, version string, q DiffAgentVersionsQuery) (*wire.AgentDiff, error) {
	return ask[wire.AgentDiff](ctx, c, http.MethodGet, c.query(q.values(), "v1", "agents", id, "versions", version, "diff"), nil)
}

// TestFunction: Test a function of an agent.
// Runs one function as a conversation would: from this server, with the account's secrets, to addresses that functions
// may reach, and for as long as it may take; and answers with what the model would read. The list is the `tools` of an
// agent, stored or not; a mistake in it is refused as `POST /v1/agents` refuses it. What the service does, it really
// does. Functions that conversations are charged for are not tested, nor are those of clients. An account may have ten
// tests at once and ten a minute.
func (c *Client) TestFunction(ctx context.Context, body FunctionTestInputBody) (*wire.FunctionTest, error) {
	return ask[wire.FunctionTest](ctx, c, http.MethodPost, c.address("v1", "functions", "test"), body)
}

// FunctionTestInputBody: An object of the service's HTTP API.
type FunctionTestInputBody struct {
	// What the model would call it with; absent: nothing.
	Arguments map[string]any `json:"arguments,omitempty"`
	// The function; of an MCP server with the name of the entry before it.
	Name  string          `json:"name"`
	Tools wire.AgentTools `json:"tools"`
}
