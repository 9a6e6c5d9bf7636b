package carrier

import (
	"context"
	"time"
)

// Await looks an order up every so often while it is Pending and the context lives,
// and gives what it saw last. A look that fails is no news.
func Await(ctx context.Context, c Carrier, reference string, o Ordered, every time.Duration) Ordered {
	tick := time.Tick(every)
	for o.State == Pending {
		select {
		case <-ctx.Done():
			return o
		case <-tick:
		}
		if seen, err := c.Lookup(ctx, reference); err == nil {
			o = seen
		}
	}
	return o
}
