package cases

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"parley/api"
	"parley/api/wire"
	"parley/store"
	"parley/store/history"
)

// Bounds of comparisons. Each call is conducted again in the request, one after the other.
const (
	usualCalls   = 10
	mostCalls    = 20
	comparing    = 15 * time.Second // then the other calls are skipped
	atOnce       = 2                // on one node: calls in progress need the processor more
	compareEvery = 6 * time.Second  // of an account
	compareBurst = 10
)

// Comparing is what the route of comparisons needs. All are set.
type Comparing struct {
	Agents *store.DB
	Calls  *history.Store
	// Draft and Stored make agents, as those of Options.
	Draft  func(document json.RawMessage) (any, error)
	Stored func(*store.Agent) any
	// Compare says what differs in a recorded call, from the call as it was or, unless other is nil, as it goes
	// with that agent.
	Compare func(record []byte, of, other any) (wire.ComparedCall, error)
}

// MountComparisons adds the route by which agents are compared with their recorded calls.
func MountComparisons(a *api.API, c Comparing) {
	m := &comparisons{c, api.NewBuckets(compareEvery, compareBurst), make(chan struct{}, atOnce)}
	api.Register(a, ofAgents.Post("/v1/agents/{id}/compare", "compare-agent", "Compare an agent with its recorded calls",
		"Conducts the latest recorded calls of an agent again with the settings of a version, or of an agent that is not stored, and says turn by turn what would differ from the calls as "+
			"they were, or from another version. Callers, models, voices and functions give what they gave, so it costs nothing and nothing is really called; what a new prompt, voice or function "+
			"changes does not show: test cases show that. Calls are kept for this while the agent's setting `record` is on, as long as their recordings. It takes 15 seconds at most; an account may ask for ten at once and ten a minute.",
		http.StatusNotFound).Within(maxSimulationBody), m.compare)
}

type comparisons struct {
	Comparing
	rate *api.Buckets
	room chan struct{}
}

func (m *comparisons) compare(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"The agent's identifier." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.NewComparison
}) (*api.Reply[wire.Comparison], error) {
	account := api.AccountOf(ctx)
	of, other, err := m.subjects(ctx, account, in.ID, &in.Body)
	if err != nil {
		return nil, err
	}
	if !m.rate.Take(account) {
		return nil, api.ErrRateLimited
	}
	select {
	case m.room <- struct{}{}:
		defer func() { <-m.room }()
	default:
		return nil, api.ErrBusy
	}
	most := in.Body.Calls
	if most == 0 {
		most = usualCalls
	}
	calls, err := m.Calls.Replayable(ctx, account, in.ID, min(most, mostCalls))
	if err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeout(ctx, comparing)
	defer cancel()
	out := wire.Comparison{Calls: []wire.ComparedCall{}}
	for i := range calls {
		found := wire.ComparedCall{Outcome: "skipped", Turns: []wire.ComparedTurn{}}
		if limited.Err() == nil {
			record, err := m.Calls.Record(ctx, account, calls[i].ID)
			if errors.Is(err, store.ErrNotFound) {
				continue // its recording was deleted a moment ago
			}
			if err != nil {
				return nil, err
			}
			if found, err = m.Compare(record, of, other); err != nil {
				return nil, err
			}
		}
		found.CallID, found.StartedAt, found.AgentVersion = calls[i].ID, calls[i].StartedAt, calls[i].AgentVersion
		out.Calls = append(out.Calls, found)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return api.Body(out), nil
}

// subjects are the agent that is compared, and the one that it is compared with; nil: the calls as they were.
func (m *comparisons) subjects(ctx context.Context, account, id string, asked *wire.NewComparison) (of, other any, err error) {
	if asked.Definition != nil && asked.Version != 0 {
		return nil, nil, api.Bad("version: not beside definition")
	}
	stored, err := m.Agents.Agent(ctx, account, id)
	if err != nil {
		return nil, nil, err
	}
	version := func(n int64) (any, error) {
		a, err := m.Agents.AgentVersion(ctx, account, id, n)
		if err != nil {
			return nil, err
		}
		return m.Stored(a), nil
	}
	switch of = m.Stored(stored); {
	case asked.Definition != nil:
		of, err = m.Draft(asked.Definition.RawMessage)
	case asked.Version != 0:
		of, err = version(asked.Version)
	}
	if err == nil && asked.Against != 0 {
		other, err = version(asked.Against)
	}
	return of, other, err
}
