package aftercall

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/store"
	"parley/store/ledger"
)

// Completion is an answer of a model about a call that is over.
type Completion struct {
	store.Generation
	Cached int64         // of InTokens, those that the vendor had kept
	Model  string        // empty: the vendor's usual one
	Costs  billing.Costs // what its vendor charges the operator
}

// paid are the components that a completion's tokens are charged as.
func (c *Completion) paid() (in, out billing.Component) {
	if c.Own {
		return billing.OwnIn, billing.OwnOut
	}
	return billing.SummaryIn, billing.SummaryOut
}

// uses are what is stored of what the completion used, at a session's prices.
func (c *Completion) uses(tariff *billing.Tariff) (list []store.EngineUse) {
	in, out := c.paid()
	paid := map[billing.Unit]billing.Component{billing.TokensIn: in, billing.TokensInCached: in, billing.TokensOut: out}
	cached := min(max(0, c.Cached), c.InTokens)
	for _, of := range []struct {
		unit billing.Unit
		n    int64
	}{{billing.TokensIn, c.InTokens - cached}, {billing.TokensInCached, cached}, {billing.TokensOut, c.OutTokens}} {
		if of.n > 0 {
			u := store.EngineUse{Stage: "llm", Engine: c.Engine, Model: c.Model, Own: c.Own, Unit: of.unit, Quantity: of.n, Source: c.Source}
			u.Settle(c.Costs, tariff, paid)
			list = append(list, u)
		}
	}
	return list
}

// summarize notes a completion that a call's summary took, and counts its tokens.
func summarize(b *pgx.Batch, e *ledger.Ended, call string, c Completion, tariff *billing.Tariff) {
	c.InTokens, c.OutTokens = max(0, c.InTokens), max(0, c.OutTokens)
	in, out := c.paid()
	e.Usage[in] += c.InTokens
	e.Usage[out] += c.OutTokens
	b.Queue(`insert into call_generations (session_id, ordinal, gen, turn, kind, outcome, in_tokens, out_tokens, source, engine, own)
		select session_id, (select greatest(coalesce(max(ordinal) + 1, 0), $8) from call_generations where session_id = $1), 0, 0, 'summary', $2, $3, $4, $5, nullif($6, ''), $7
		from calls where session_id = $1`, call, c.Outcome, c.InTokens, c.OutTokens, c.Source, c.Engine, c.Own, store.AfterCall)
	store.SaveUses(b, call, c.uses(tariff))
}

// summarizeAll is summarize for all that one try took, which holds nothing any more.
func summarizeAll(ctx context.Context, e *ledger.Ended, call string, took ...Completion) error {
	tariff, err := e.Tariff(ctx)
	if err != nil {
		return err
	}
	b := &pgx.Batch{}
	e.EndHold(b)
	for _, c := range took {
		summarize(b, e, call, c, &tariff)
	}
	return store.Send(ctx, e, b)
}

// SaveSummary keeps the summary of a row's call, which has ended, and charges what it took to
// the call, by its rate card. A call that has one, was not answered or is no row's is left
// as it is: then false.
func (w *Work) SaveSummary(ctx context.Context, account, id, text string, took Completion) (saved bool, err error) {
	return w.ledger.Afterwards(ctx, "save summary", account, id, func(e *ledger.Ended) (bool, []store.Event, error) {
		if !e.Answered() {
			return false, nil, nil
		}
		saved, err := e.SummarizeRow(ctx, id, text)
		if err != nil || !saved {
			return false, nil, err
		}
		err = summarizeAll(ctx, e, id, took)
		return true, []store.Event{{Account: account, Kind: store.CallSummarized, About: id}}, err
	})
}

// SummaryOf returns the summary of a call of the account; empty: it has none.
func (w *Work) SummaryOf(ctx context.Context, account, session string) (text string, err error) {
	text, err = store.Value[string](ctx, w.db, "read summary",
		"select coalesce(summary, '') from campaign_rows where account_id = $1 and session_id = $2", account, session)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return text, err
}
