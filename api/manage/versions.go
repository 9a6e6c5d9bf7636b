package manage

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"parley/api"
	"parley/store"
)

// schemaAddress is where the schema of agents is.
const schemaAddress = "/v1/agents/schema"

func mountVersions(a *api.API, m agents) {
	const tag, list = "Agents", "/v1/agents/{id}/versions"
	api.Register(a, route(http.MethodGet, list, "list-agent-versions", tag, "List an agent's versions",
		"The agent as each change left it, the newest first; `updated_at` is when it became so.", http.StatusBadRequest, notFound), m.versions)
	api.Register(a, route(http.MethodGet, list+"/{version}", "get-agent-version", tag, "Read a version of an agent",
		"Send it to `PUT /v1/agents/{id}`, with `If-Match`, to restore it.", notFound), m.version)
	api.Register(a, route(http.MethodGet, schemaAddress, "get-agent-schema", tag, "Read the schema of agents",
		"JSON Schema 2020-12 of the documents that are sent here, for editors and for checks before sending."), m.schema)
}

type versionsInput struct {
	ID     string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Limit  int    `query:"limit" doc:"How many at most." minimum:"1" maximum:"100" default:"20"`
	Cursor string `query:"cursor" doc:"next_cursor of the page before; without it the list begins with the newest." maxLength:"100"`
}

func (m agents) versions(ctx context.Context, in *versionsInput) (*agentListOutput, error) {
	before := int64(0)
	if in.Cursor != "" {
		n, err := strconv.ParseInt(in.Cursor, 10, 64)
		if err != nil || n < 1 {
			return nil, bad("cursor: must be next_cursor of the page before")
		}
		before = n
	}
	if _, err := m.agent(ctx, in.ID); err != nil {
		return nil, err
	}
	found, err := m.db.AgentVersions(ctx, api.PrincipalOf(ctx).Account, in.ID, before, in.Limit+1)
	if err != nil {
		return nil, Explained(err)
	}
	found, rest := cut(pageInput{Limit: in.Limit}, found, func(a store.Agent) string { return strconv.FormatInt(a.Version, 10) })
	out := &agentListOutput{agentList{make([]agentDefinition, len(found)), rest}}
	for i := range found {
		out.Body.Data[i] = define(&found[i])
	}
	return out, nil
}

func (m agents) version(ctx context.Context, in *struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Version int64  `path:"version" doc:"The version." minimum:"1" example:"7"`
}) (*agentOutput, error) {
	a, err := m.db.AgentVersion(ctx, api.PrincipalOf(ctx).Account, in.ID, in.Version)
	if err != nil {
		return nil, missing(Unknown(err))
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
