package node

import (
	"context"
	"time"

	"parley/store/jobs"
	"parley/store/ledger"
)

// creditEvery is how often credit is ended that has expired, and creditTime bounds a round.
const (
	creditEvery = time.Minute
	creditTime  = 5 * time.Minute
)

// expireCredit asks for a round.
type expireCredit struct{}

// Kind implements jobs.Args.
func (expireCredit) Kind() string { return "credit_expiry" }

// handleCredit adds the kind of job that ends expired credit.
func (n *Node) handleCredit() {
	jobs.Handle(n.jobs, jobs.Limits{Workers: 1, Timeout: creditTime}, func(ctx context.Context, _ expireCredit) error {
		_, err := ledger.New(n.db).ExpireLots(ctx, n.db.Now())
		return err
	})
	jobs.Every(n.jobs, creditEvery, expireCredit{})
}
