package manage

import (
	"context"
	"encoding/json"
	"net/http"

	"parley/api"
	"parley/api/wire"
	"parley/store"
)

// agents serves an account's agents.
type agents struct {
	db     *store.DB
	define Definition
}

// agentRoutes describes the routes of agents. Each answers for an agent of another account as
// for one that does not exist.
var agentRoutes = api.Group{Tag: "Agents", Access: api.Management, OwnPagesOnly: true, MaxBody: maxBody, Missing: api.ErrNoAgent}

func mountAgents(a *api.API, m agents) {
	if err := describe(a.Document().Components.Schemas, m.define.Schema); err != nil {
		panic(err) // the schema is the program's own
	}
	const one = "/v1/agents/{id}"
	const ifMatch = " With `If-Match: \"7\"` it is done only while the version is 7, and else answered with 412."
	api.Register(a, agentRoutes.Get("/v1/agents", "list-agents", "List the account's agents", "Newest first."), m.list)
	api.Register(a, agentRoutes.Post("/v1/agents", "create-agent", "Create an agent",
		"Only `name` must be sent. `detail` names every field that is not valid, and what is allowed.").OwnChecks().Created().Repeatable(), m.create)
	api.Register(a, agentRoutes.Get(one, "get-agent", "Read an agent", "`ETag` is its version.", http.StatusNotFound), m.get)
	api.Register(a, agentRoutes.Patch(one, "update-agent", "Change an agent",
		"Fields that are not sent, or null, stay as they are; `tools` and `settings` are replaced as a whole, `metadata` name by name. Conversations in progress "+
			"go on with the agent as it was, and every change leaves it as a version. What changes nothing, or only `metadata`, makes none."+ifMatch, http.StatusNotFound, http.StatusPreconditionFailed).OwnChecks(), m.update)
	api.Register(a, agentRoutes.Put(one, "replace-agent", "Replace an agent",
		"As if it were created anew: what is not sent has its default, but for `metadata`, which stay. With the body of a version it is restored; `id`, `version` and times in it are ignored."+
			ifMatch, http.StatusNotFound, http.StatusPreconditionFailed).OwnChecks(), m.replace)
	api.Register(a, agentRoutes.Delete(one, "delete-agent", "Delete an agent",
		"Numbers that it answered are answered by nobody. Conversations in progress go on; history keeps the identifier."+ifMatch, http.StatusNotFound, http.StatusPreconditionFailed), m.remove)
	mountVersions(a, m)
	mountDrafts(a, m)
}

type agentOutput struct {
	ETag string `header:"ETag" doc:"The version, for If-Match."`
	Body wire.AgentDefinition
}

// answer shows an agent, unless err says why there is none.
func answer(a *store.Agent, err error) (*agentOutput, error) {
	if err != nil {
		return nil, err
	}
	return &agentOutput{ETag: etag(a.Version), Body: Define(a)}, nil
}

type agentInput struct {
	ID string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

type agentDeletion struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	IfMatch string `header:"If-Match" doc:"The version that is meant, in quotes." example:"\"7\""`
}

type agentsInput struct {
	// Metadata is a name and a value, or several, as metadata[team]=sales.
	Metadata wire.Metadata `query:"metadata,deepObject,explode" doc:"Only agents with this metadata, such as metadata[team]=sales; of several names all."`
	api.Paging
}

func (m agents) list(ctx context.Context, in *agentsInput) (*api.Listed[wire.AgentDefinition], error) {
	if wrong := in.Metadata.Check(); wrong != "" {
		return nil, api.Bad("%s", wrong)
	}
	return api.Pages(in.Limit, func(a store.Agent) string { return a.ID }, Define)(
		m.db.AgentsWith(ctx, api.AccountOf(ctx), in.Metadata, in.Page()))
}

type newAgentInput struct{ Body document[wire.NewAgent] }

func (m agents) create(ctx context.Context, in *newAgentInput) (*agentOutput, error) {
	a := m.define.New()
	if err := m.define.Apply(&a, in.Body.RawMessage); err != nil {
		return nil, err
	}
	return answer(m.db.CreateAgent(ctx, api.AccountOf(ctx), a))
}

// agent reads an agent of the account that asks.
func (m agents) agent(ctx context.Context, id string) (*store.Agent, error) {
	return m.db.Agent(ctx, api.AccountOf(ctx), id)
}

func (m agents) get(ctx context.Context, in *agentInput) (*agentOutput, error) {
	return answer(m.agent(ctx, in.ID))
}

type agentChangeInput struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	IfMatch string `header:"If-Match" doc:"The version that is meant, in quotes." example:"\"7\""`
	Body    document[wire.AgentChange]
}

func (m agents) update(ctx context.Context, in *agentChangeInput) (*agentOutput, error) {
	return m.change(ctx, in.ID, in.IfMatch, func(a *store.Agent) error { return m.define.Apply(a, in.Body.RawMessage) })
}

type agentReplacementInput struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	IfMatch string `header:"If-Match" doc:"The version that is meant, in quotes." example:"\"7\""`
	Body    document[wire.NewAgent]
}

func (m agents) replace(ctx context.Context, in *agentReplacementInput) (*agentOutput, error) {
	return m.change(ctx, in.ID, in.IfMatch, func(a *store.Agent) error {
		whole := m.define.New()
		if err := m.define.Apply(&whole, in.Body.RawMessage); err != nil {
			return err
		}
		a.Become(&whole)
		return nil
	})
}

// change has f change an agent that has the version that is meant.
func (m agents) change(ctx context.Context, id, ifMatch string, f func(*store.Agent) error) (*agentOutput, error) {
	return answer(m.db.ChangeAgent(ctx, api.AccountOf(ctx), id, func(a *store.Agent) error {
		if !matches(ifMatch, a.Version) {
			return store.ErrVersion
		}
		return f(a)
	}))
}

func (m agents) remove(ctx context.Context, in *agentDeletion) (*struct{}, error) {
	version := int64(0) // any
	if in.IfMatch != "" {
		a, err := m.agent(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		if !matches(in.IfMatch, a.Version) {
			return nil, store.ErrVersion
		}
		version = a.Version
	}
	return nil, m.db.DeleteAgent(ctx, api.AccountOf(ctx), in.ID, version)
}

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

func (m agents) versions(ctx context.Context, in *versionsInput) (*api.Listed[wire.AgentDefinition], error) {
	before, err := in.Sequence()
	if err != nil {
		return nil, err
	}
	if _, err := m.agent(ctx, in.ID); err != nil {
		return nil, err
	}
	return api.Pages(in.Limit, func(a store.Agent) string { return api.Seq(a.Version) }, Define)(m.db.AgentVersions(ctx, api.AccountOf(ctx), in.ID, before, in.Limit+1))
}

func (m agents) version(ctx context.Context, in *struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Version int64  `path:"version" doc:"The version." minimum:"1" example:"7"`
}) (*agentOutput, error) {
	return answer(m.db.AgentVersion(ctx, api.AccountOf(ctx), in.ID, in.Version))
}

type schemaOutput struct {
	Body map[string]any
}

func (m agents) schema(context.Context, *struct{}) (*schemaOutput, error) {
	out := &schemaOutput{}
	return out, json.Unmarshal(m.define.Schema, &out.Body)
}
