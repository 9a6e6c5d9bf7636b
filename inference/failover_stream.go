package inference

import (
	"context"
	"errors"
	"iter"
	"time"
)

// stream gives the sequence of the first engine that comes up with content.
func stream[T any](ctx context.Context, h *health, order func() []int, open func(context.Context, int) iter.Seq2[T, error], content func(T) bool) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var worst error
		for _, i := range order() {
			a := attempt[T]{health: h, engine: i, content: content, yield: yield}
			if a.run(ctx, open) {
				return
			}
			worst = graver(worst, a.err)
		}
		var zero T
		yield(zero, worst)
	}
}

// signed has sign say of each value whose it is.
func signed[T any](from iter.Seq2[T, error], sign func(*T)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for v, err := range from {
			sign(&v)
			if !yield(v, err) {
				return
			}
		}
	}
}

// attempt is one engine's try at a request.
type attempt[T any] struct {
	*health
	engine  int
	content func(T) bool
	yield   func(T, error) bool

	begun bool // content was handed on: no other engine can take over
	held  *T   // the latest value before content (running usage is cumulative)
	err   error
}

// run reports whether the request is settled; if not, err says why the engine
// gave nothing and the next one may try.
func (a *attempt[T]) run(parent context.Context, open func(context.Context, int) iter.Seq2[T, error]) (settled bool) {
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)
	inTime := func() bool { return true }
	if a.First > 0 {
		timer := time.AfterFunc(a.First, func() { cancel(ErrStalled) })
		defer timer.Stop()
		inTime = timer.Stop
	}
	for v, err := range open(ctx, a.engine) {
		switch {
		case err != nil:
			return a.fail(parent, ctx, err)
		case !a.begun && !a.content(v):
			a.held = &v
			continue
		case !a.begun && !inTime():
			return a.fail(parent, ctx, a.stalled(a.engine))
		}
		a.begun = true
		if !a.release() || !a.yield(v, nil) {
			a.blame(parent)
			return true
		}
	}
	if parent.Err() != nil {
		a.blame(parent)
		return true
	}
	if !a.begun && ctx.Err() != nil { // it ended without a word when First ran out
		return a.fail(parent, ctx, a.stalled(a.engine))
	}
	a.well(a.engine)
	a.release()
	return true
}

// release hands on what was held back; false means the consumer has left.
func (a *attempt[T]) release() bool {
	if a.held == nil {
		return true
	}
	v := *a.held
	a.held = nil
	return a.yield(v, nil)
}

// fail settles the request with err when the consumer gave up or has content
// already, else leaves it to the next engine.
func (a *attempt[T]) fail(parent, ctx context.Context, err error) (settled bool) {
	var zero T
	if parent.Err() != nil {
		a.blame(parent)
		if a.release() {
			a.yield(zero, err)
		}
		return true
	}
	if ctx.Err() != nil { // only First cancels it alone
		err = a.stalled(a.engine)
	}
	a.failed(a.engine, err)
	if a.err = err; a.begun {
		a.yield(zero, err)
	}
	return a.begun
}

// blame counts a consumer's cancellation against the engine when silence was the
// reason for it.
func (a *attempt[T]) blame(parent context.Context) {
	if errors.Is(context.Cause(parent), ErrStalled) {
		a.failed(a.engine, a.stalled(a.engine))
	}
}
