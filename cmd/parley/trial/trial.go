// Package trial runs the simulations that accounts ask for: their agents are called by the
// simulated callers of their test cases, and what the models used is charged.
//
// A case is run whole, then its outcome is stored, and then it is charged, as a session of its
// own. A node that dies in between has charged nothing for the case, which is run again by
// another; so no case is charged for twice.
package trial

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/cmd/parley/conversation"
	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/pipeline/simulate"
	"parley/store"
	"parley/store/cases"
	"parley/store/jobs"
)

const (
	workers    = 1                // at once on one node: calls in progress need the model more
	longest    = 10 * time.Minute // of one simulation
	saveTime   = 10 * time.Second // also when the node stops
	maxClaims  = 20               // then a simulation is given up that no node survives
	roomEvery  = 2 * time.Second  // how often an account is asked whether it may do more at once
	perToken   = 4                // bytes, about
	perAnswer  = 150              // tokens that an answer is expected to have
	otherBytes = 4000             // of a request beside the prompt and the functions
)

// Why a simulation fails, for its owner to read.
const (
	noBalance   = "The account's balance, or a limit of spending, does not allow what its models are expected to use."
	usedUp      = "The account's balance, or a limit of spending, was used up."
	tooLong     = "It took longer than 10 minutes."
	neverEnds   = "Servers ended again and again while it ran."
	noAgent     = "The agent cannot be read: %v"
	notServed   = "The account may start nothing now: it is suspended, or a payment is disputed."
	unavailable = "The server could not run it."
)

// Work runs simulations. All fields are set.
type Work struct {
	Cases    *cases.Store
	Sessions func() *session.Manager
	// Model is the language model that an agent of an account wants; of is what the books have to know of one of its engines.
	Model func(ctx context.Context, account string, wanted *agent.Engines) (llm inference.LLM, of func(engine string) session.Engine)
	// Agent is an agent of an account, for hand-overs.
	Agent func(ctx context.Context, account, id string) (*store.Agent, error)
	Log   *slog.Logger
}

type args struct {
	Account, ID string
}

// Kind implements jobs.Args.
func (args) Kind() string { return "simulation" }

// Handle adds the kind of job. Call it before the queue opens.
func (w *Work) Handle(q *jobs.Queue) {
	jobs.Handle(q, jobs.Limits{Workers: workers, Timeout: longest + time.Minute}, func(ctx context.Context, a args) error { return w.Run(ctx, a.Account, a.ID) })
}

// Enqueue puts a simulation in line in the transaction that makes it.
func Enqueue(q *jobs.Queue) store.Enqueue {
	return func(ctx context.Context, tx pgx.Tx, account, id string) error {
		return q.Insert(ctx, tx, args{account, id})
	}
}

// Run works on a simulation, from where an earlier attempt has left it. An error says that
// trying again may help.
func (w *Work) Run(ctx context.Context, account, id string) error {
	c, err := w.Cases.Claim(ctx, account, id)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case c.Claim > maxClaims:
		return w.end(ctx, c, neverEnds)
	}
	var d agent.Document
	if err := json.Unmarshal(c.Agent, &d); err != nil {
		return w.end(ctx, c, fmt.Sprintf(noAgent, err))
	}
	runs, err := w.Cases.Runs(ctx, account, id)
	if err != nil {
		return err
	}
	limited, cancel := context.WithTimeoutCause(ctx, longest, errTooLong)
	defer cancel()
	a := conversation.AgentOf(d)
	for i := range runs {
		if runs[i].Results != nil {
			continue
		}
		t := &trial{Work: w, claimed: c, agent: a, run: &runs[i], most: cases.MaxResults / len(runs)}
		if reason, err := t.play(limited); reason != "" {
			return w.end(ctx, c, reason)
		} else if err != nil {
			if ctx.Err() == nil && limited.Err() != nil {
				return w.end(ctx, c, tooLong)
			}
			return err
		}
		if goes, err := w.Cases.Goes(ctx, c); err != nil || !goes {
			return err
		}
	}
	return w.save(ctx, func(ctx context.Context) error { return w.Cases.End(ctx, c, cases.Done, "") })
}

var errTooLong = errors.New("trial: the time is over")

// end ends a simulation that fails.
func (w *Work) end(ctx context.Context, c *cases.Claimed, reason string) error {
	return w.save(ctx, func(ctx context.Context) error { return w.Cases.End(ctx, c, cases.Failed, reason) })
}

// save stores something also while the node stops.
func (w *Work) save(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	return f(ctx)
}

// refusal is why work may not begin, for the owner to read; empty: trying again may help.
func refusal(err error) string {
	switch {
	case errors.Is(err, store.ErrInsufficientBalance), errors.Is(err, store.ErrSpending):
		return noBalance
	case errors.Is(err, store.ErrSuspended), errors.Is(err, store.ErrDisputed):
		return notServed
	}
	return ""
}

// stopped is why work was ended that had begun, for the owner to read; empty: it was not, or
// trying again may help.
func stopped(ctx context.Context) string {
	ended, ok := errors.AsType[*media.Ended](context.Cause(ctx))
	switch {
	case !ok:
		return ""
	case ended.Detail == media.Suspended || ended.Detail == media.Disputed:
		return notServed
	case ended.Reason == media.BalanceExhausted:
		return usedUp
	}
	return ""
}

// begin opens the books of a case. It waits while the account does as much at once as it may.
func (t *trial) begin(ctx context.Context, o session.Order) (*session.Work, error) {
	for {
		work, err := t.Sessions().Work(ctx, o)
		if !errors.Is(err, store.ErrConcurrency) {
			return work, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(roomEvery):
		}
	}
}

// expected are the tokens that a case is expected to use, in and out: each answer reads the
// prompt and the conversation again.
func expected(a *store.Agent, s *simulate.Script) [2]int64 {
	answers := int64(len(s.Caller) + 1 + len(s.Criteria))
	if s.Persona != "" {
		answers += 2 * int64(s.PersonaTurns)
	}
	in := int64(len(a.Prompt)+len(a.Tools)+otherBytes) / perToken
	runs := int64(s.Runs)
	return [2]int64{runs * answers * in, runs * answers * perAnswer}
}

// order asks for the books of a case.
func (t *trial) order(s *simulate.Script, of func(engine string) session.Engine) session.Order {
	return session.Order{Account: t.claimed.Account, Key: t.claimed.Key, Agent: t.claimed.AgentID, Kind: billing.Test, Tokens: expected(&t.agent, s),
		Engines: func(_ agent.Stage, name string) session.Engine { return of(name) }}
}
