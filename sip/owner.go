package sip

import (
	"context"
	"sync"
	"time"

	"parley/sip/dialog"
)

// mailbox is how much may wait for a call's goroutine. A far end has one or two
// requests under way; beyond the bound the request's own goroutine waits.
const mailbox = 8

// owner is the goroutine of a call as others see it: they reach what belongs to it by do.
type owner struct {
	box      chan task
	life     context.Context // ends when the goroutine has ended, with dialog.ErrOver
	finish   context.CancelCauseFunc
	killed   chan struct{} // closed by shutdown
	killOnce sync.Once
	order    *dialog.Order // of the far end's requests
	ends     []func()      // run when the goroutine has ended, the last one first; its own
}

func newOwner(t1 time.Duration) *owner {
	o := &owner{box: make(chan task, mailbox), killed: make(chan struct{}), order: dialog.NewOrder(t1)}
	o.life, o.finish = context.WithCancelCause(context.Background())
	return o
}

// task is work for a call's goroutine; done is called when it has ended.
type task struct{ run, done func() }

// do runs f on the call's goroutine and waits for it; false: the call is over
// and f did not run.
func (o *owner) do(f func()) bool {
	done := make(chan struct{})
	select {
	case o.box <- task{f, func() { close(done) }}:
	case <-o.life.Done():
		return false
	}
	select {
	case <-done:
		return true
	case <-o.life.Done():
	}
	select {
	case <-done: // f itself ended the call
		return true
	default:
		return false
	}
}

// shutdown makes the call hang up, from any goroutine.
func (o *owner) shutdown() { o.killOnce.Do(func() { close(o.killed) }) }

// departure is the end of the far end, which every goroutine of a call may wait for.
type departure struct {
	gone  context.Context         // ends when the far end is gone, or has failed with the cause
	leave context.CancelCauseFunc // ends it, with nil when the far end hung up
}

func newDeparture() departure {
	gone, leave := context.WithCancelCause(context.Background())
	return departure{gone, leave}
}

// outcome waits for the end of an exchange, from any goroutine: what comes on done, over when
// the far end is gone before, or canceled, of the cause of ctx.
func (d *departure) outcome(ctx context.Context, done <-chan error, over error, canceled func(error) error) error {
	select {
	case err := <-done:
		return err
	case <-d.gone.Done():
		select {
		case err := <-done: // that came first
			return err
		default:
			return over
		}
	case <-ctx.Done():
		return canceled(context.Cause(ctx))
	}
}

// undone is the error of what could not be done because the call is decided: a panic or a
// failure that ended it, or err.
func (d *departure) undone(err error) error {
	if cause := context.Cause(d.gone); cause != nil && cause != context.Canceled {
		return cause
	}
	return err
}
