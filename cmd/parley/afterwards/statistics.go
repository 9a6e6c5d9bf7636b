package afterwards

import (
	"context"
	"time"

	"parley/store/history"
	"parley/store/jobs"
)

// countTime bounds a round: some hundred thousand calls, where those of before there were statistics are counted.
const countTime = 5 * time.Minute

type countCalls struct{}

// Kind implements jobs.Args.
func (countCalls) Kind() string { return "call_statistics" }

// handleCounting adds the kind of job that counts calls that have ended.
func handleCounting(q *jobs.Queue, calls *history.Store) {
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: countTime}, func(ctx context.Context, _ countCalls) error {
		for {
			if n, err := calls.CountCalls(ctx); err != nil || n < history.CountBatch {
				return err
			}
		}
	})
	jobs.WhenDue(q, history.CallsToCount, countCalls{})
}
