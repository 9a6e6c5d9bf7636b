package pipeline

import (
	"context"
	"sync/atomic"
	"time"

	"parley/inference"
	"parley/media/isolate"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
)

// settleMost bounds the wait for engines and functions at the end of a call.
const settleMost = 5 * time.Second

// crew counts the goroutines of a call but the conductor's. It may be used from several
// goroutines.
type crew struct {
	n      atomic.Int64
	idle   chan struct{} // holds one: none was left, maybe of some that began since
	closed bool          // none begins: what they would do is given
}

// enter counts one that begins, unless none does.
func (w *crew) enter() bool {
	if !w.closed {
		w.n.Add(1)
	}
	return !w.closed
}

func (w *crew) leave() {
	if w.n.Add(-1) == 0 {
		select {
		case w.idle <- struct{}{}:
		default:
		}
	}
}

// engineSide is the call as the engines of its replies see it: a reply.Crew.
type engineSide struct{ c *Call }

func (e engineSide) Enter() bool { return e.c.work.enter() }

func (e engineSide) Leave() { e.c.work.leave() }

func (e engineSide) Fail(err error) { e.c.kill(err) }

func (e engineSide) Post(ctx context.Context, p reply.Part) bool {
	return e.c.post(ctx, message{kind: msgPart + messageKind(p.Kind), part: p})
}

// spawn starts a goroutine of the call. A panic in it ends the call.
// after is called when f has ended, in whatever way.
func (c *Call) spawn(site string, f func(), after ...func()) {
	if c.work.enter() {
		isolate.Go(site, c.kill, f, append(after, c.work.leave)...)
	}
}

// release closes a recogniser that nobody listens to, of a call that is over: a panic ends
// nothing any more.
func (c *Call) release(asr inference.Recognition) {
	if c.work.enter() {
		isolate.Go("pipeline/release", nil, asr.Close, c.work.leave)
	}
}

// settle waits for every goroutine of the call and drops what they still post, but
// for usage: what was consumed is counted. Engines and functions that have not returned
// after settleMost are left behind and counted: the call ends with what is known.
func (c *Call) settle() {
	if asr := c.caller.Detach(); asr != nil {
		c.release(asr)
	}
	patience := time.NewTimer(settleMost)
	defer patience.Stop()
	for {
		gone := c.work.n.Load() == 0 // before the last look at the mailbox
		c.empty(journal.Late, c.takeLate)
		if gone && c.work.n.Load() == 0 {
			return
		}
		select {
		case m := <-c.box:
			c.receive(m, journal.Late, c.takeLate)
		case <-c.work.idle:
		case <-patience.C:
			n := int(c.work.n.Load())
			isolate.Leak(n)
			c.cfg.Log.Error("engines or functions did not return at the end of a call", "goroutines", n)
			return
		}
	}
}
