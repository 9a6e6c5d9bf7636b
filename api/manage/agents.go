package manage

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"parley/api"
	"parley/store"
)

// agents serves an account's agents.
type agents struct {
	db     *store.DB
	define Definition
}

func mountAgents(a *api.API, m agents) {
	const tag, one = "Agents", "/v1/agents/{id}"
	const ifMatch = " With `If-Match: \"7\"` it is done only while the version is 7, and else answered with 412."
	api.Register(a, route(http.MethodGet, "/v1/agents", "list-agents", tag, "List the account's agents", "Newest first.", http.StatusBadRequest), m.list)
	create := checked(route(http.MethodPost, "/v1/agents", "create-agent", tag, "Create an agent",
		"Only `name` must be sent. `detail` names every field that is not valid, and what is allowed."))
	create.DefaultStatus = http.StatusCreated
	api.Register(a, create, m.create)
	api.Register(a, route(http.MethodGet, one, "get-agent", tag, "Read an agent", "`ETag` is its version.", notFound), m.get)
	api.Register(a, checked(route(http.MethodPatch, one, "update-agent", tag, "Change an agent",
		"Fields that are not sent, or null, stay as they are; `tools` and `settings` are replaced as a whole. Conversations in progress go on with "+
			"the agent as it was, and every change leaves it as a version. What changes nothing makes none."+ifMatch, notFound, stale)), m.update)
	api.Register(a, checked(route(http.MethodPut, one, "replace-agent", tag, "Replace an agent",
		"As if it were created anew: what is not sent has its default. With the body of a version it is restored; `id`, `version` and times in it are ignored."+
			ifMatch, notFound, stale)), m.replace)
	remove := route(http.MethodDelete, one, "delete-agent", tag, "Delete an agent",
		"Numbers that it answered are answered by nobody. Conversations in progress go on; history keeps the identifier."+ifMatch, notFound, stale)
	remove.DefaultStatus = http.StatusNoContent
	api.Register(a, remove, m.remove)
	mountVersions(a, m)
	mountDrafts(a, m)
}

type agentOutput struct {
	ETag string `header:"ETag" doc:"The version, for If-Match."`
	Body agentDefinition
}

func answer(a *store.Agent) *agentOutput { return &agentOutput{ETag: etag(a.Version), Body: define(a)} }

type agentInput struct {
	ID string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
}

type agentDeletion struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	IfMatch string `header:"If-Match" doc:"The version that is meant, in quotes." example:"\"7\""`
}

type agentList struct {
	Data []agentDefinition `json:"data" doc:"The agents, the newest first." nullable:"false"`
	More
}

type agentListOutput struct{ Body agentList }

func (m agents) list(ctx context.Context, in *pageInput) (*agentListOutput, error) {
	found, err := m.db.Agents(ctx, api.PrincipalOf(ctx).Account, in.page())
	if err != nil {
		return nil, Explained(err)
	}
	found, rest := cut(*in, found, func(a store.Agent) string { return a.ID })
	out := &agentListOutput{agentList{make([]agentDefinition, len(found)), rest}}
	for i := range found {
		out.Body.Data[i] = define(&found[i])
	}
	return out, nil
}

type newAgent struct {
	Name string `json:"name" doc:"For people, 200 bytes at most." minLength:"1" maxLength:"200" example:"Lola"`
	AgentFields
}

type newAgentInput struct{ Body document[newAgent] }

func (m agents) create(ctx context.Context, in *newAgentInput) (*agentOutput, error) {
	a := m.define.New()
	if err := m.define.Apply(&a, in.Body.RawMessage); err != nil {
		return nil, err
	}
	created, err := m.db.CreateAgent(ctx, api.PrincipalOf(ctx).Account, a, m.db.Now())
	if err != nil {
		return nil, Explained(err)
	}
	return answer(created), nil
}

// agent reads an agent of the account that asks.
func (m agents) agent(ctx context.Context, id string) (*store.Agent, error) {
	a, err := m.db.Agent(ctx, api.PrincipalOf(ctx).Account, id)
	return a, missing(Unknown(err))
}

// missing says that an agent is not there, whoever owns it.
func missing(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", api.ErrNoAgent, err)
	}
	return Explained(err)
}

func (m agents) get(ctx context.Context, in *agentInput) (*agentOutput, error) {
	a, err := m.agent(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return answer(a), nil
}

// attempts to change an agent that others change at the same time: as many of them
// as that may be ahead.
const attempts = 20

type agentChange struct {
	Name *string `json:"name,omitempty" doc:"For people, 200 bytes at most." minLength:"1" maxLength:"200" example:"Lola"`
	AgentFields
}

type agentChangeInput struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	IfMatch string `header:"If-Match" doc:"The version that is meant, in quotes." example:"\"7\""`
	Body    document[agentChange]
}

func (m agents) update(ctx context.Context, in *agentChangeInput) (*agentOutput, error) {
	return m.change(ctx, in.ID, in.IfMatch, func(a *store.Agent) error { return m.define.Apply(a, in.Body.RawMessage) })
}

type agentReplacementInput struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	IfMatch string `header:"If-Match" doc:"The version that is meant, in quotes." example:"\"7\""`
	Body    document[newAgent]
}

func (m agents) replace(ctx context.Context, in *agentReplacementInput) (*agentOutput, error) {
	return m.change(ctx, in.ID, in.IfMatch, func(a *store.Agent) error {
		whole := m.define.New()
		if err := m.define.Apply(&whole, in.Body.RawMessage); err != nil {
			return err
		}
		a.Name, a.Voice, a.Language, a.Prompt, a.FirstMessage = whole.Name, whole.Voice, whole.Language, whole.Prompt, whole.FirstMessage
		a.Tools, a.Settings = whole.Tools, whole.Settings
		return nil
	})
}

// change has f change an agent, again when somebody else was faster.
func (m agents) change(ctx context.Context, id, ifMatch string, f func(*store.Agent) error) (*agentOutput, error) {
	var err error
	for range attempts {
		var a *store.Agent
		if a, err = m.agent(ctx, id); err != nil {
			return nil, err
		}
		if !matches(ifMatch, a.Version) {
			return nil, store.ErrVersion
		}
		if err = f(a); err != nil {
			return nil, err
		}
		if a, err = m.db.UpdateAgent(ctx, api.PrincipalOf(ctx).Account, *a, m.db.Now()); err == nil {
			return answer(a), nil
		}
		if !errors.Is(err, store.ErrVersion) {
			break
		}
	}
	return nil, missing(err)
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
	return nil, missing(Unknown(m.db.DeleteAgent(ctx, api.PrincipalOf(ctx).Account, in.ID, version)))
}
