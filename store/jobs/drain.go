package jobs

import (
	"context"
	"errors"
	"time"

	"parley/store"
)

// Drain claims what is due and does it, one after another, until claim returns
// store.ErrNotFound or a round is over. What do returns ends the round early.
func Drain[T any](ctx context.Context, round time.Duration, claim func(context.Context) (T, error), do func(context.Context, T) error) error {
	for begun := time.Now(); time.Since(begun) < round; {
		due, err := claim(ctx)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = do(ctx, due)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
