// Package crew is the goroutines of a call but the conductor's, and the mailbox through which they reach it.
package crew

import (
	"context"
	"sync/atomic"
	"time"

	"parley/media/isolate"
)

// Crew is those of one call, whose messages are of type M. It may be used from several goroutines.
type Crew[M any] struct {
	Box  chan *M         // what goes through it is large, and mostly there is nothing
	Life context.Context // of the call
	Kill context.CancelCauseFunc
	// Closed: none begins. What they would do is given.
	Closed bool

	n    atomic.Int64
	idle chan struct{} // holds one: none was left, maybe of some that began since
}

// New returns a crew of nobody, whose mailbox has room for so many messages.
func New[M any](room int) Crew[M] {
	return Crew[M]{Box: make(chan *M, room), idle: make(chan struct{}, 1)}
}

// Enter counts one more; false: none begins. Leave must follow a true.
func (w *Crew[M]) Enter() bool {
	if !w.Closed {
		w.n.Add(1)
	}
	return !w.Closed
}

// Leave counts one less.
func (w *Crew[M]) Leave() {
	if w.n.Add(-1) == 0 {
		select {
		case w.idle <- struct{}{}:
		default:
		}
	}
}

// Fail ends the call.
func (w *Crew[M]) Fail(err error) { w.Kill(err) }

// Send delivers m unless ctx ends first. A message that comes after that is never delivered:
// a select would choose, and the conversation with it.
func (w *Crew[M]) Send(ctx context.Context, m M) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case w.Box <- &m:
		return true
	case <-ctx.Done():
		return false
	}
}

// Spawn starts a goroutine of the call. A panic in it ends the call. after is called when f has ended, in whatever way.
func (w *Crew[M]) Spawn(site string, f func(), after ...func()) {
	if w.Enter() {
		isolate.Go(site, w.Kill, f, append(after, w.Leave)...)
	}
}

// Release starts a goroutine of a call that is over: a panic in it ends nothing any more.
func (w *Crew[M]) Release(site string, f func()) {
	if w.Enter() {
		isolate.Go(site, nil, f, w.Leave)
	}
}

// Settle waits for all of them and has take what they still send; empty takes all that is there. It returns how many have not
// returned after patience.
func (w *Crew[M]) Settle(patience time.Duration, empty func(), take func(M)) (left int) {
	over := time.NewTimer(patience)
	defer over.Stop()
	for {
		gone := w.n.Load() == 0 // before the last look at the mailbox
		empty()
		if gone && w.n.Load() == 0 {
			return 0
		}
		select {
		case m := <-w.Box:
			take(*m)
		case <-w.idle:
		case <-over.C:
			return int(w.n.Load())
		}
	}
}
