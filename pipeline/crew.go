package pipeline

import (
	"sync"
	"time"

	"parley/inference"
	"parley/media/isolate"
)

// settleMost bounds the wait for engines and functions at the end of a call.
const settleMost = 5 * time.Second

// crew counts the goroutines of a call but the conductor's. It may be used from several
// goroutines.
type crew struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n is 0; nil: nobody waits for that
}

func (w *crew) enter() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n++
}

func (w *crew) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.n--; w.n == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
}

// count is how many there are now.
func (w *crew) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.n
}

// gone is closed when there are none, for the first time from now on.
func (w *crew) gone() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	idle := w.idle
	if idle == nil {
		idle = make(chan struct{})
		if w.n == 0 {
			close(idle)
		} else {
			w.idle = idle
		}
	}
	return idle
}

// spawn starts a goroutine of the call; a rerun has none. A panic in it ends the call.
// after is called when f has ended, in whatever way.
func (c *Call) spawn(site string, f func(), after ...func()) {
	if c.rerun == nil {
		c.work.enter()
		isolate.Go(site, c.kill, f, append(after, c.work.leave)...)
	}
}

// release closes a recogniser that nobody listens to, of a call that is over: a panic ends
// nothing any more.
func (c *Call) release(asr inference.Recognition) {
	if c.rerun == nil {
		c.work.enter()
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
		select {
		case m := <-c.box:
			c.receive(m, Buried, c.bury)
			continue
		case <-c.work.gone():
		case <-patience.C:
			n := c.work.count()
			isolate.Leak(n)
			c.cfg.Log.Error("engines or functions did not return at the end of a call", "goroutines", n)
			return
		}
		for empty := false; !empty; {
			select {
			case m := <-c.box:
				c.receive(m, Buried, c.bury)
			default:
				empty = true
			}
		}
		if c.work.count() == 0 {
			return
		}
	}
}
