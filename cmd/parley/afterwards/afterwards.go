// Package afterwards works on calls that have ended: a language model analyzes and summarizes
// them (Analyze, Summarize), customer databases get a note of them (Note), and statistics
// count them.
//
// The transaction that ends a call makes this work due and queues a job, by Enqueue. A job
// claims what is due for the length of a lease, does it, and stores the result together with
// its charge. A round every few seconds finds what the jobs left, so work outlives the process
// that began it.
package afterwards

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/session"
	"parley/pipeline/tool"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/jobs"
	"parley/store/ledger"
)

// Work does the work. All fields are set.
type Work struct {
	Store  *store.DB
	Ledger *ledger.Ledger
	Due    *aftercall.Work
	Calls  *history.Store
	// Model is the language model that an agent of an account wants, without an agent the server's own; of is what the books have
	// to know of one of its engines.
	Model     func(ctx context.Context, account string, wanted *agent.Engines) (llm inference.LLM, of func(engine string) session.Engine)
	Databases *tool.Provider // the customer databases of accounts
	Log       *slog.Logger
}

// Handle adds the kinds of jobs. Call it before the queue opens.
func (w *Work) Handle(q *jobs.Queue) {
	jobs.Handle(q, jobs.Limits{Workers: summaryWorkers, Timeout: summaryTimeout}, w.summarize)
	jobs.Handle(q, jobs.Limits{Workers: analysisWorkers, Timeout: analysesRound + aftercall.AnalysisLease}, w.analyze)
	jobs.WhenDue(q, aftercall.AnalysisDue, analyses{})
	jobs.Handle(q, jobs.Limits{Workers: noteWorkers, Timeout: notesTime}, func(ctx context.Context, _ crmNotes) error { return w.NoteCalls(ctx) })
	jobs.WhenDue(q, aftercall.CRMNoteDue, crmNotes{})
	handleCounting(q, w.Calls)
}

// EnqueueAnalyses queues a round of analyses in a transaction.
func EnqueueAnalyses(ctx context.Context, tx pgx.Tx, q *jobs.Queue) error {
	return q.Insert(ctx, tx, analyses{})
}

// EnqueueSummary queues the summary of a call of a batch in the transaction that ends it.
func EnqueueSummary(ctx context.Context, tx pgx.Tx, q *jobs.Queue, account, call string) error {
	return q.Insert(ctx, tx, summaryArgs{account, call})
}

// mayCharge says whether what is expected of work on a call that has ended may be charged: the
// account can pay for it, which is held for the lease, and the spending limits of the call
// allow more.
func (w *Work) mayCharge(ctx context.Context, account, call string, expect billing.Usage, lease time.Duration) (bool, error) {
	err := w.Ledger.MaySpendAfter(ctx, account, call)
	if errors.Is(err, store.ErrSpending) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return w.Ledger.HoldAfterwards(ctx, account, call, expect, lease)
}
