package money

import (
	"context"
	"time"

	"parley/store/jobs"
	"parley/store/ledger"
)

// creditTime bounds a round.
const creditTime = 5 * time.Minute

// ExpireCredit asks for a round.
type ExpireCredit struct{}

// Kind implements jobs.Args.
func (ExpireCredit) Kind() string { return "credit_expiry" }

// HandleCredit adds the kind of job that ends expired credit.
func HandleCredit(q *jobs.Queue, l *ledger.Ledger) {
	jobs.Handle(q, jobs.Limits{Workers: 1, Timeout: creditTime}, func(ctx context.Context, _ ExpireCredit) error {
		_, err := l.ExpireLots(ctx)
		return err
	})
	jobs.WhenDue(q, ledger.CreditExpired, ExpireCredit{})
}
