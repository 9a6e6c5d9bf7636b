package manage

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"parley/api"
	"parley/api/wire"
	"parley/store"
)

// Mistaken is a refusal that tells its mistakes apart.
type Mistaken struct {
	Refusal  error // one of the error table, for answers with one sentence
	Mistakes []wire.Mistake
}

func (m *Mistaken) Error() string { return m.Refusal.Error() }

// Unwrap is for the error table.
func (m *Mistaken) Unwrap() error { return m.Refusal }

// Draft is the agent that a document would make, whole, and all that is wrong with it,
// in the order of the schema. Nothing is stored. An error is the server's fault.
func (d Definition) Draft(document json.RawMessage) (store.Agent, []wire.Mistake, error) {
	a := d.New()
	err := d.Apply(&a, document)
	if wrong, ok := errors.AsType[*Mistaken](err); ok {
		return a, wrong.Mistakes, nil
	}
	if p := api.ProblemOf(err); err != nil && p.Status == http.StatusBadRequest {
		return a, []wire.Mistake{{Path: "body", Problem: p.Detail}}, nil
	}
	return a, nil, err
}

func mountDrafts(a *api.API, m agents) {
	api.Register(a, agentRoutes.Post("/v1/agents/validate", "validate-agent", "Check an agent without saving it",
		"Says everything that is wrong with a document, field by field, as `POST /v1/agents` would refuse it, and stores nothing: for editors that check while one types. "+
			"With `agent_id` it says, too, what of that agent would change if the document replaced it.", http.StatusNotFound).OwnChecks(), m.validate)
	api.Register(a, agentRoutes.Get("/v1/agents/{id}/versions/{version}/diff", "diff-agent-versions", "Compare two versions of an agent",
		"What differs in a version from the one before it, or from another, field by field. Of the first version everything that a new agent has not.", http.StatusNotFound), m.diff)
}

type draftInput struct {
	Agent string `query:"agent_id" doc:"The agent of the account that the document would replace." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body  document[wire.NewAgent]
}

func (m agents) validate(ctx context.Context, in *draftInput) (*api.Reply[wire.AgentCheck], error) {
	draft, wrong, err := m.define.Draft(in.Body.RawMessage)
	if err != nil {
		return nil, err
	}
	check := wire.AgentCheck{Valid: len(wrong) == 0, Mistakes: append([]wire.Mistake{}, wrong...)}
	if in.Agent != "" {
		is, err := m.agent(ctx, in.Agent)
		if err != nil {
			return nil, err
		}
		if check.Valid {
			if check.Changes, err = Changes(is, &draft); err != nil {
				return nil, err
			}
		}
	}
	return api.Body(check), nil
}

// Changes are the fields in which b differs from a: objects and lists are gone into, and
// texts are whole.
func Changes(a, b *store.Agent) ([]wire.Change, error) {
	before, err := fieldsOf(a)
	if err != nil {
		return nil, err
	}
	after, err := fieldsOf(b)
	if err != nil {
		return nil, err
	}
	out := []wire.Change{}
	for _, name := range []string{"name", "voice", "language", "prompt", "first_message", "tools", "settings"} {
		out = differ(out, name, before[name], after[name])
	}
	return out, nil
}

func fieldsOf(a *store.Agent) (map[string]any, error) {
	out := map[string]any{"name": a.Name, "voice": a.Voice, "language": a.Language, "prompt": a.Prompt, "first_message": a.FirstMessage}
	for name, raw := range map[string]json.RawMessage{"tools": a.Tools, "settings": a.Settings} {
		if len(raw) == 0 {
			continue
		}
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil {
			return nil, fmt.Errorf("%s of %s: %w", name, a.ID, err)
		}
		out[name] = v
	}
	return out, nil
}

// differ adds to out where two values are not the same.
func differ(out []wire.Change, path string, a, b any) []wire.Change {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok && b != nil {
			break
		}
		names := maps.Clone(x)
		maps.Copy(names, y)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			out = differ(out, path+"."+name, x[name], y[name])
		}
		return out
	case []any:
		y, ok := b.([]any)
		if !ok && b != nil {
			break
		}
		return differLists(out, path, x, y)
	case nil:
		switch y := b.(type) {
		case map[string]any:
			return differ(out, path, map[string]any{}, y)
		case []any:
			return differLists(out, path, nil, y)
		}
	}
	if a == b {
		return out
	}
	return append(out, wire.Change{Path: path, Before: a, After: b})
}

func differLists(out []wire.Change, path string, a, b []any) []wire.Change {
	for i := range max(len(a), len(b)) {
		at := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case i >= len(a):
			out = append(out, wire.Change{Path: at, Before: nil, After: b[i]})
		case i >= len(b):
			out = append(out, wire.Change{Path: at, Before: a[i], After: nil})
		default:
			out = differ(out, at, a[i], b[i])
		}
	}
	return out
}

type diffInput struct {
	ID      string `path:"id" doc:"The agent's identifier." example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Version int64  `path:"version" doc:"The version." minimum:"1" example:"7"`
	Against int64  `query:"against" doc:"The version that it is compared with; without it the one before." minimum:"1" example:"3"`
}

func (m agents) diff(ctx context.Context, in *diffInput) (*api.Reply[wire.AgentDiff], error) {
	account, from, to := api.AccountOf(ctx), in.Against, in.Version
	after, err := m.db.AgentVersion(ctx, account, in.ID, to)
	if err != nil {
		return nil, err
	}
	fresh := m.define.New()
	before := &fresh
	if from == 0 {
		from = to - 1
	}
	if from > 0 {
		if before, err = m.db.AgentVersion(ctx, account, in.ID, from); err != nil {
			return nil, err
		}
	}
	changes, err := Changes(before, after)
	return api.Body(wire.AgentDiff{From: from, To: to, Changes: changes}), err
}
