package jobs

import (
	"context"
	"errors"
	"sync"
)

// round is a job of WhenDue.
type round struct {
	due  string
	args Args
}

// rounds are the jobs of Every and of WhenDue that run on this node. As rows in the line each would be written, found, locked and
// ended, and most find nothing to do.
type rounds struct {
	mu   sync.Mutex
	over context.Context // nil: none begins yet
	run  map[string]func(context.Context, Args)
	many map[string]bool // kinds of which several may run at once
	busy map[string]bool
	all  sync.WaitGroup
}

func newRounds() *rounds {
	return &rounds{run: map[string]func(context.Context, Args){}, many: map[string]bool{}, busy: map[string]bool{}}
}

// does has jobs of a kind run by f, of which several may run at once if many is set.
func (r *rounds) does(kind string, many bool, f func(context.Context, Args)) {
	r.run[kind], r.many[kind] = f, many
}

// open lets rounds begin until ctx ends.
func (r *rounds) open(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = ctx
}

// begin begins a job, unless one of its kind runs here. It returns whether another worker, here or elsewhere, may do it instead.
func (r *rounds) begin(args Args) (leave bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind, ctx := args.Kind(), r.over
	switch {
	case ctx == nil || ctx.Err() != nil:
		return false
	case r.busy[kind]:
		return r.many[kind]
	}
	r.busy[kind] = true
	r.all.Go(func() {
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.busy[kind] = false
		}()
		r.run[kind](ctx, args)
	})
	return false
}

// wait waits for those that run, until ctx ends; their own has ended.
func (r *rounds) wait(ctx context.Context) error {
	r.mu.Lock()
	r.over = nil // none begins any more
	r.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		r.all.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// round runs a job of Every or of WhenDue.
func (w *worker[A]) round(over context.Context, args Args) {
	ctx, cancel := context.WithTimeout(over, w.limits.Timeout)
	defer cancel()
	if err := w.guarded(ctx, args.(A), w.f); err != nil && over.Err() == nil && !errors.Is(err, ErrNotHere) {
		w.q.log.Warn("a job failed and comes again", "kind", args.Kind(), "err", err)
	}
}
