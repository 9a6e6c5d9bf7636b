package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/inference"
	"parley/store"
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
// Call it before the queue opens, and the function it returns afterwards.
func (n *Node) handleSummaries() (watch func()) {
	jobs.Handle(n.jobs, jobs.Limits{Workers: summaryWorkers, Timeout: summaryTimeout}, n.summarize)
	return func() {
		n.db.OnRowAnswered(func(ctx context.Context, tx pgx.Tx, account, call string) error {
			return n.jobs.Insert(ctx, tx, summaryArgs{account, call})
		})
	}
}

// summarize makes one summary. It fails to be tried again; a call without a summary is
// no failure of its row.
func (n *Node) summarize(ctx context.Context, args summaryArgs) error {
	c, err := n.db.Call(ctx, args.Account, args.Call)
	if errors.Is(err, store.ErrNotFound) {
		return nil // its history was deleted
	}
	if err != nil {
		return err
	}
	if len(c.Transcript) == 0 || c.EndedAt == nil {
		return nil
	}
	if time.Since(*c.EndedAt) > summaryFor {
		n.log.Warn("a call of a batch has no summary: the model does not answer", "session", c.ID)
		return nil
	}
	a, err := n.db.Account(ctx, args.Account)
	if err != nil {
		return err
	}
	if a.Suspended || a.OpenDisputes > 0 || a.Pots.Spendable(true)-a.Pots.Held <= 0 {
		return nil // nobody would pay for it
	}
	language := ""
	if c.Agent != nil {
		if agent, err := n.db.Agent(ctx, args.Account, *c.Agent); err == nil {
			language = agent.Language
		}
	}
	s, err := n.askForSummary(ctx, c.Transcript, language)
	if err != nil {
		return err
	}
	_, err = n.db.SaveSummary(ctx, args.Account, args.Call, s, time.Now())
	return err
}

// errNoSummary is what a model said when it said nothing.
var errNoSummary = errors.New("the model wrote no summary")

func (n *Node) askForSummary(ctx context.Context, transcript []store.TranscriptLine, language string) (s store.Summary, err error) {
	lines := make([]inference.SummaryLine, len(transcript))
	for i, l := range transcript {
		lines[i] = inference.SummaryLine{Agent: l.Role == "agent", Text: l.Text}
	}
	var text strings.Builder
	var used inference.Usage
	for d, err := range n.engines.LLM.Complete(ctx, inference.SummaryRequest(lines, language)) {
		if err != nil {
			return s, fmt.Errorf("summary: %w", err)
		}
		text.WriteString(d.Text)
		if d.Usage != nil {
			used = *d.Usage
		}
	}
	s = store.Summary{Text: strings.TrimSpace(strings.ToValidUTF8(text.String(), "")), In: int64(used.In), Out: int64(used.Out), CountedBy: string(used.Source)}
	if r := []rune(s.Text); len(r) > maxSummary {
		s.Text = string(r[:maxSummary])
	}
	if s.Text == "" {
		return s, errNoSummary
	}
	if s.CountedBy == "" {
		s.CountedBy = string(inference.UsageCounted)
	}
	return s, nil
}
