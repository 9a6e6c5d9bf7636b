package afterwards

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/store"
)

const (
	summaryWorkers = 2 // at once on one node: calls in progress need the model more
	summaryTimeout = time.Minute
	// summaryFor is how long after a call's end a summary is tried for.
	summaryFor = 30 * time.Minute
	// maxSummary bounds a summary, in code points.
	maxSummary = 2000
)

// summaryArgs name a call of a batch that has ended.
type summaryArgs struct {
	Account string `json:"account"`
	Call    string `json:"call"`
}

// Kind implements jobs.Args.
func (summaryArgs) Kind() string { return "summary" }

// summarize makes one summary; when it fails the job is tried again. A call without a summary
// is no failure of its row.
func (w *Work) summarize(ctx context.Context, args summaryArgs) error {
	c, err := w.Calls.Call(ctx, args.Account, args.Call)
	if errors.Is(err, store.ErrNotFound) {
		return nil // its history was deleted
	}
	if err != nil {
		return err
	}
	if len(c.Transcript) == 0 || c.EndedAt == nil {
		return nil
	}
	if w.Store.Now().Sub(*c.EndedAt) > summaryFor {
		w.Log.Warn("a call of a batch has no summary: the model does not answer", "session", c.ID)
		return nil
	}
	var language string
	var wanted *agent.Engines
	if c.Agent != nil {
		if a, err := w.Store.Agent(ctx, args.Account, *c.Agent); err == nil {
			settings, _ := agent.ParseSettings(a.Settings) // what cannot be read is the server's
			language, wanted = a.Language, settings.Engines
		}
	}
	var q question
	q.llm, q.of = w.Model(ctx, args.Account, wanted)
	request := inference.SummaryRequest(SummaryLines(c.Transcript), language)
	var expect billing.Usage
	expectAnswers(&expect, request, 1)
	if paid, err := w.mayCharge(ctx, args.Account, args.Call, expect, summaryTimeout); err != nil || !paid {
		return err // the account does not pay for it
	}
	text, err := q.ask(ctx, request)
	if err == nil && text == "" {
		err = errNoSummary
	}
	if err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	_, err = w.Due.SaveSummary(ctx, args.Account, args.Call, clippedTo(text, maxSummary), q.took[0])
	return err
}
