package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/store"
	"parley/store/history"
	"parley/store/jobs"
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

// handleSummaries has calls of batches summarized. The job is queued by the
// transaction that ends the call; what a model wrote is kept and charged in one, once.
// Call it before the queue opens.
func (n *Node) handleSummaries() {
	jobs.Handle(n.jobs, jobs.Limits{Workers: summaryWorkers, Timeout: summaryTimeout}, n.summarize)
}

// summarize makes one summary. It fails to be tried again; a call without a summary is
// no failure of its row.
func (n *Node) summarize(ctx context.Context, args summaryArgs) error {
	c, err := history.New(n.db).Call(ctx, args.Account, args.Call)
	if errors.Is(err, store.ErrNotFound) {
		return nil // its history was deleted
	}
	if err != nil {
		return err
	}
	if len(c.Transcript) == 0 || c.EndedAt == nil {
		return nil
	}
	if n.db.Now().Sub(*c.EndedAt) > summaryFor {
		n.log.Warn("a call of a batch has no summary: the model does not answer", "session", c.ID)
		return nil
	}
	language, llm := "", n.engines.LLM
	if c.Agent != nil {
		if a, err := n.db.Agent(ctx, args.Account, *c.Agent); err == nil {
			settings, _ := agent.ParseSettings(a.Settings) // what cannot be read is the server's
			language, llm = a.Language, n.engines.chosen(settings.Engines).llm
		}
	}
	request := inference.SummaryRequest(summaryLines(c.Transcript), language)
	var expect billing.Usage
	expectAnswers(&expect, request, 1)
	if paid, err := n.mayCharge(ctx, args.Account, args.Call, expect, summaryTimeout); err != nil || !paid {
		return err // nobody would pay for it
	}
	text, g, err := completed(ctx, llm, request)
	if err == nil && text == "" {
		err = errNoSummary
	}
	if err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	_, err = n.db.SaveSummary(ctx, args.Account, args.Call, store.Summary{Text: clippedTo(text, maxSummary),
		In: g.InTokens, Out: g.OutTokens, CountedBy: g.Source, Engine: g.Engine}, n.db.Now())
	return err
}

// errNoSummary is what a model said when it said nothing.
var errNoSummary = errors.New("the model wrote no summary")
