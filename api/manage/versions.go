package manage

import (
	"context"
	"encoding/json"
	"net/http"

	"parley/api"
	"parley/store"
)

// schemaAddress is where the schema of agents is.
const schemaAddress = "/v1/agents/schema"

func mountVersions(a *api.API, m agents) {
	const list = "/v1/agents/{id}/versions"
	api.Register(a, agentRoutes.Get(list, "list-agent-versions", "List an agent's versions",
		"The agent as each change left it, the newest first; `updated_at` is when it became so.", http.StatusNotFound), m.versions)
	api.Register(a, agentRoutes.Get(list+"/{version}", "get-agent-version", "Read a version of an agent",
		"Send it to `PUT /v1/agents/{id}`, with `If-Match`, to restore it.", http.StatusNotFound), m.version)
	api.Register(a, agentRoutes.Get(schemaAddress, "get-agent-schema", "Read the schema of agents",
		"JSON Schema 2020-12 of the documents that are sent here, for editors and for checks before sending."), m.schema)
}

type versionsInput struct {
	ID string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	api.Paging
}

func (m agents) versions(ctx context.Context, in *versionsInput) (*api.Listed[agentDefinition], error) {
	before, err := in.Sequence()
	if err != nil {
		return nil, err
	}
	if _, err := m.agent(ctx, in.ID); err != nil {
		return nil, err
	}
	found, err := m.db.AgentVersions(ctx, api.AccountOf(ctx), in.ID, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, found, func(a store.Agent) string { return api.Seq(a.Version) }, define), nil
}

func (m agents) version(ctx context.Context, in *struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Version int64  `path:"version" doc:"The version." minimum:"1" example:"7"`
}) (*agentOutput, error) {
	a, err := m.db.AgentVersion(ctx, api.AccountOf(ctx), in.ID, in.Version)
	if err != nil {
		return nil, err
	}
	return answer(a), nil
}

type schemaOutput struct {
	Body map[string]any
}

func (m agents) schema(context.Context, *struct{}) (*schemaOutput, error) {
	out := &schemaOutput{}
	return out, json.Unmarshal(m.define.Schema, &out.Body)
}
