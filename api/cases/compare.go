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

// Bounds of comparisons. Each call is conducted again in the request, one after the other; then the models are asked.
const (
	usualCalls   = 10
	mostCalls    = 20
	mostTurns    = 100              // that models are asked about
	comparing    = 15 * time.Second // then the other calls are skipped
	asking       = 45 * time.Second // then the other turns are left out
	atOnce       = 2                // on one node: calls in progress need the processor more
	asksAtOnce   = 4                // likewise, and the models
	compareEvery = 6 * time.Second  // of an account
	compareBurst = 10
)

// recordedModels is that the models give what they gave.
const recordedModels = "recorded"

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
	// Ask has the models of agents ready until ctx ends, on the books of an account. What it returns must be closed.
	Ask func(ctx context.Context, o Asking) (Asked, error)
}

// Asking is whose models are asked again, and who pays.
type Asking struct {
	Account string
	Key     string // that asks; empty: none
	Agent   string // whose limits of spending count
	Of      any
	Other   any // nil: the calls as they were
	Calls   int // how many
	Turns   int // that they are asked about at most
}

// Asked are models that answer the turns of recorded calls again. It belongs to one goroutine.
type Asked interface {
	// Answer answers those of a call, and says how many are left out. results are those of functions, by the
	// identifier of their call. A record that cannot be read has no turns.
	Answer(record []byte, results map[string]string) (answers []wire.ComparedAnswer, left int)
	// Close ends the books, and returns what the models have read and written, and why turns were left out, as wire.Comparison has it.
	Close() (in, out int64, stopped string)
}

// MountComparisons adds the route by which agents are compared with their recorded calls.
func MountComparisons(a *api.API, c Comparing) {
	m := &comparisons{c, api.NewBuckets(compareEvery, compareBurst), make(chan struct{}, atOnce), make(chan struct{}, asksAtOnce)}
	api.Register(a, ofAgents.Post("/v1/agents/{id}/compare", "compare-agent", "Compare an agent with its recorded calls",
		"Has the models of a version of an agent, or of one that is not stored, answer the turns of its latest recorded calls again, and shows turn by turn the recorded answer, the one that it would give and the functions "+
			"that it would call; with `against` also those of another version. Each turn is asked after what the caller and the agent had said up to it in the call. No function is run: the model gets the recorded result of one that it "+
			"calls with the same arguments, and its answer ends with any other. The calls are conducted again, too, with what their models, voices and functions gave: `turns` says where turn-taking would differ. "+
			"The tokens are charged like those of simulations; with `models` of `recorded` no model is asked, and it is free. 100 turns in 45 seconds are answered at most. Calls are kept for this while the agent's setting `record` is on, "+
			"as long as their recordings. An account may ask for ten comparisons at once and ten a minute.",
		http.StatusNotFound, http.StatusPaymentRequired).Within(maxSimulationBody), m.compare)
}

type comparisons struct {
	Comparing
	rate       *api.Buckets
	room, asks chan struct{}
}

// enter takes a place in a room; a full one refuses.
func enter(room chan struct{}) (leave func(), err error) {
	select {
	case room <- struct{}{}:
		return func() { <-room }, nil
	default:
		return nil, api.ErrBusy
	}
}

func (m *comparisons) compare(ctx context.Context, in *struct {
	ID   string `path:"id" doc:"The agent's identifier." maxLength:"100" example:"ag_06er5bt0v9k1o7m2q3s4t5u6v0"`
	Body wire.NewComparison
}) (*api.Reply[wire.Comparison], error) {
	p := api.PrincipalOf(ctx)
	of, other, err := m.subjects(ctx, p.Account, in.ID, &in.Body)
	if err != nil {
		return nil, err
	}
	if !m.rate.Take(p.Account) {
		return nil, api.ErrRateLimited
	}
	most := in.Body.Calls
	if most == 0 {
		most = usualCalls
	}
	calls, err := m.Calls.Replayable(ctx, p.Account, in.ID, min(most, mostCalls))
	if err != nil {
		return nil, err
	}
	out := wire.Comparison{Calls: []wire.ComparedCall{}}
	records, err := m.conduct(ctx, p.Account, calls, of, other, &out)
	if err == nil && in.Body.Models != recordedModels && len(out.Calls) > 0 {
		err = m.ask(ctx, Asking{Account: p.Account, Key: p.Key, Agent: in.ID, Of: of, Other: other, Calls: len(out.Calls), Turns: mostTurns}, records, &out)
	}
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return api.Body(out), nil
}

// conduct conducts calls again, and returns what was kept of each that is in out then.
func (m *comparisons) conduct(ctx context.Context, account string, calls []history.Replayable, of, other any, out *wire.Comparison) (records [][]byte, err error) {
	leave, err := enter(m.room)
	if err != nil {
		return nil, err
	}
	defer leave()
	limited, cancel := context.WithTimeout(ctx, comparing)
	defer cancel()
	for i := range calls {
		found := wire.ComparedCall{Outcome: "skipped", Turns: []wire.ComparedTurn{}}
		record, err := m.Calls.Record(ctx, account, calls[i].ID)
		if errors.Is(err, store.ErrNotFound) {
			continue // its recording was deleted a moment ago
		}
		if err == nil && limited.Err() == nil {
			found, err = m.Compare(record, of, other)
		}
		if err != nil {
			return nil, err
		}
		found.CallID, found.StartedAt, found.AgentVersion = calls[i].ID, calls[i].StartedAt, calls[i].AgentVersion
		found.Answers = []wire.ComparedAnswer{}
		out.Calls, records = append(out.Calls, found), append(records, record)
	}
	return records, nil
}

// ask has the models answer the turns of the calls in out again.
func (m *comparisons) ask(ctx context.Context, o Asking, records [][]byte, out *wire.Comparison) error {
	leave, err := enter(m.asks)
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	asked, err := m.Ask(ctx, o)
	if err != nil {
		return err
	}
	defer func() { out.InTokens, out.OutTokens, out.Stopped = asked.Close() }()
	for i := range out.Calls {
		call := &out.Calls[i]
		results, err := m.Calls.Results(context.WithoutCancel(ctx), o.Account, call.CallID)
		if err != nil {
			return err
		}
		left := 0
		call.Answers, left = asked.Answer(records[i], results)
		out.LeftOut += left
		for k := range call.Answers {
			if call.Answers[k].Differs && call.Outcome == "same" {
				call.Outcome = "differs"
			}
		}
	}
	return nil
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
