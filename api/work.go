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
	// Begin lets work of the kind start for the account that asks, or refuses with
	// one of the table's errors. When it is known how much the work will use,
	// expected says so, in code points or milliseconds of audio, and all of it must
	// stay above the overdraft floor; 0 when that is not known. The work lasts until End, and
	// counts among what the account may do at once.
	Begin(ctx context.Context, p Principal, kind billing.Kind, expected int64) (Work, error)
}

// Work is what is being charged. Its methods may be called from any goroutine.
type Work interface {
	// Context ends when the work must stop: the client has gone, the balance is
	// used up, the server ends.
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
