package trial

import (
	"context"
	"encoding/json"
	"errors"

	"parley/cmd/parley/conversation"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/pipeline/simulate"
	"parley/store"
	"parley/store/cases"
)

// trial is a case of a simulation that is run.
type trial struct {
	*Work
	claimed *cases.Claimed
	agent   store.Agent
	run     *cases.Run
	most    int // bytes of results
}

// Result is a run as it is stored.
type Result struct {
	simulate.Result
	// Cut says that what was said and called is left out, for the results are too long.
	Cut bool `json:"cut,omitempty"`
}

// play runs a case, stores what it came to and charges for it. A reason ends the simulation;
// an error, and nothing is stored: trying again may help.
func (t *trial) play(ctx context.Context) (reason string, err error) {
	s, err := simulate.Parse(t.run.Script)
	if err != nil {
		return "The case " + t.run.Name + " cannot be read: " + err.Error(), nil
	}
	if t.claimed.Runs > 0 {
		s.Runs = t.claimed.Runs
	}
	var of func(engine string) session.Engine
	r := conversation.Rehearsal{Log: t.Log, Model: func(wanted *agent.Engines) (model inference.LLM, err error) {
		model, of = t.Model(ctx, t.claimed.Account, wanted)
		return model, nil
	}, Other: func(id string) (*store.Agent, error) { return t.Agent(ctx, t.claimed.Account, id) }}
	tried, err := r.Subject(&t.agent, s)
	if err != nil {
		return unavailable, nil
	}
	work, err := t.begin(ctx, t.order(s, of))
	if err != nil {
		return refusal(err), err
	}
	results, took, err := t.runs(ctx, work.Context(), s, tried)
	if err == nil {
		err = t.keep(ctx, work.ID(), results, took)
	}
	if err != nil {
		work.End(err)
		return "", err
	}
	for _, one := range took {
		work.Answered(one.Engine, one.Usage)
	}
	if reason = stopped(work.Context()); reason != "" {
		work.End(context.Cause(work.Context()))
		return reason, nil
	}
	work.End(nil)
	if errors.Is(context.Cause(ctx), errTooLong) {
		return tooLong, nil
	}
	return "", nil
}

// runs makes the runs of a case. Those that it could not make are not there: the balance is
// used up, the time is over or the simulation is canceled. An error: the node stops.
func (t *trial) runs(ctx, working context.Context, s *simulate.Script, subject simulate.Subject) (results []Result, took []simulate.Took, err error) {
	for n := 1; n <= s.Runs && working.Err() == nil; n++ {
		if goes, err := t.Cases.Goes(ctx, t.claimed); err != nil || !goes {
			if err != nil && working.Err() == nil {
				return nil, nil, err
			}
			break
		}
		r := simulate.Run(working, s, subject, n)
		r.Events = nil
		took = append(took, r.Took...)
		results = append(results, Result{Result: r})
	}
	if why := context.Cause(working); why != nil && stopped(working) == "" && !errors.Is(why, errTooLong) {
		return nil, nil, why
	}
	return results, took, nil
}

// keep stores what a case came to.
func (t *trial) keep(ctx context.Context, id string, results []Result, took []simulate.Took) error {
	o := cases.Outcome{Ordinal: t.run.Ordinal, Runs: len(results), Session: id}
	for i := range results {
		if !results[i].OK {
			o.Failed++
		}
	}
	for _, one := range took {
		o.InTokens += int64(one.Usage.In)
		o.OutTokens += int64(one.Usage.Out)
	}
	var err error
	if o.Results, err = fit(results, t.most); err != nil {
		return err
	}
	return t.save(ctx, func(ctx context.Context) error { return t.Cases.Save(ctx, t.claimed, o) })
}

// fit writes results in at most so many bytes: what was said is left out of runs that went
// well, then of all, then the last runs go.
func fit(results []Result, most int) (text json.RawMessage, err error) {
	results = append([]Result{}, results...)
	for step := 0; ; step++ {
		if text, err = json.Marshal(results); err != nil || len(text) <= most {
			return text, err
		}
		if step >= 2 {
			results = results[:len(results)*9/10]
			continue
		}
		for i := range results {
			if r := &results[i]; r.OK || step == 1 {
				r.Lines, r.Functions, r.Turns, r.Cut = []simulate.Line{}, []simulate.Called{}, []simulate.Timed{}, true
			}
		}
	}
}
