package pipeline

import (
	"context"
	"sync/atomic"
	"time"

	"parley/inference"
	"parley/media/isolate"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// settleMost bounds the wait for engines and functions at the end of a call.
const settleMost = 5 * time.Second

// crew are the goroutines of a call but the conductor's, and the mailbox through which they
// reach it. It may be used from several goroutines.
type crew struct {
	box    chan *message   // what goes through it is large, and mostly there is nothing
	stops  chan turn.Event // holds one: ends asked for by Stop
	life   context.Context // of the call
	kill   context.CancelCauseFunc
	n      atomic.Int64
	idle   chan struct{} // holds one: none was left, maybe of some that began since
	closed bool          // none begins: what they would do is given
}

func newCrew() crew {
	return crew{box: make(chan *message, mailboxSize), stops: make(chan turn.Event, 1), idle: make(chan struct{}, 1)}
}

// Enter implements reply.Crew.
func (w *crew) Enter() bool {
	if !w.closed {
		w.n.Add(1)
	}
	return !w.closed
}

// Leave implements reply.Crew.
func (w *crew) Leave() {
	if w.n.Add(-1) == 0 {
		select {
		case w.idle <- struct{}{}:
		default:
		}
	}
}

// Fail implements reply.Crew.
func (w *crew) Fail(err error) { w.kill(err) }

// Post implements reply.Crew.
func (w *crew) Post(ctx context.Context, p reply.Part) bool {
	return w.post(ctx, message{kind: msgPart + messageKind(p.Kind), part: p})
}

// post delivers m unless ctx ends first. A message that comes after that is never delivered:
// a select would choose, and the conversation with it.
func (w *crew) post(ctx context.Context, m message) bool {
	if ctx.Err() != nil {
		return false
	}
	select {
	case w.box <- &m:
		return true
	case <-ctx.Done():
		return false
	}
}

// spawn starts a goroutine of the call. A panic in it ends the call.
// after is called when f has ended, in whatever way.
func (w *crew) spawn(site string, f func(), after ...func()) {
	if w.Enter() {
		isolate.Go(site, w.kill, f, append(after, w.Leave)...)
	}
}

// release closes the recogniser of a call that is over: a panic ends nothing any more.
func (w *crew) release(asr inference.Recognition) {
	if w.Enter() {
		isolate.Go("pipeline/release", nil, asr.Close, w.Leave)
	}
}

// settle waits for every goroutine of the call and drops what they still post, but
// for usage: what was consumed is counted. Engines and functions that have not returned
// after settleMost are left behind and counted: the call ends with what is known.
func (c *Call) settle() {
	if asr := c.caller.Detach(); asr != nil {
		c.crew.release(asr)
	}
	patience := time.NewTimer(settleMost)
	defer patience.Stop()
	for {
		gone := c.crew.n.Load() == 0 // before the last look at the mailbox
		c.empty(journal.Late, c.takeLate)
		if gone && c.crew.n.Load() == 0 {
			return
		}
		select {
		case m := <-c.crew.box:
			c.receive(*m, journal.Late, c.takeLate)
		case <-c.crew.idle:
		case <-patience.C:
			n := int(c.crew.n.Load())
			isolate.Leak(n)
			c.cfg.Log.Error("engines or functions did not return at the end of a call", "goroutines", n)
			return
		}
	}
}
