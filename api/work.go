package api

import (
	"context"
	"errors"
	"fmt"

	"parley/billing"
	"parley/media"
	"parley/store"
)

// Books charge for work that is no call: synthesis, recognition, noise removal.
type Books interface {
	// Begin lets a job start for the account that asks, or refuses with one of the table's
	// errors. All that is expected of it must stay above the overdraft floor. The work lasts
	// until End, and counts among what the account may do at once.
	Begin(ctx context.Context, p Principal, j Job) (Work, error)
}

// Job is work that an account asks for.
type Job struct {
	Kind     billing.Kind
	Expected int64 // code points, or milliseconds of audio; 0: not known
	// Engine is the one that the client wants, with a key of the account's where it has one; empty: the server's
	// engines do it, with the server's keys.
	Engine string
}

// Work is what is being charged. Its methods may be called from any goroutine.
type Work interface {
	// Context ends when the work must stop: the client has gone, the balance is
	// used up, the server ends. What engines use with it goes into the books.
	Context() context.Context
	// Used counts n more code points or milliseconds. What fails on our side is
	// free: count what the client has received.
	Used(n int64)
	// End closes the books. err is why the work ended; nil when it is done, a
	// context's error when the client has gone, isolate.Internal when our code panicked. Only
	// the first End counts, so that one may be deferred.
	End(err error)
}

// Stopped is why work was stopped, in words of the table: err is the cause of its
// context. What is no such cause stays what it is.
func Stopped(err error) error {
	ended, ok := errors.AsType[*media.Ended](err)
	switch {
	case !ok:
		return err
	case ended.Reason == media.BalanceExhausted && ended.Detail == media.Disputed:
		return fmt.Errorf("%w: %w", store.ErrDisputed, err)
	case ended.Detail == media.Suspended:
		return fmt.Errorf("%w: %w", store.ErrSuspended, err)
	case ended.Reason == media.BalanceExhausted && (ended.Detail == media.Spending || ended.Detail == media.TicketSpent):
		return fmt.Errorf("%w: %w", store.ErrSpending, err)
	case ended.Reason == media.BalanceExhausted:
		return fmt.Errorf("%w: %w", store.ErrInsufficientBalance, err)
	case ended.Reason == media.MaxDuration:
		return fmt.Errorf("%w: %w", ErrTimeLimit, err)
	}
	return fmt.Errorf("%w: %w", ErrDraining, err)
}
