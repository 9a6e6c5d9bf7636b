package realtime

import (
	"slices"
	"time"
)

// renew replaces the session of r, which ends soon, by one that begins with the conversation so far. It does so between
// turns, when both sides are silent: nothing of the old session is needed any more. Where that moment does not come, or no
// other session can be had, the old one ends as the engine wants.
func (c *Call) renew(r *recognition) {
	for c.awaitQuiet(r) {
		next, err := c.engine.Open(r.ctx, c.now())
		if err != nil {
			return
		}
		c.mu.Lock()
		old := *r.session.Load()
		replaced := c.quietLocked() && r.ctx.Err() == nil && c.session == old
		if replaced {
			c.replies, c.speaking = nil, nil
			c.useLocked(r, next)
		}
		c.mu.Unlock()
		if replaced {
			old.Close()
			return
		}
		next.Close()
	}
}

// awaitQuiet waits until both sides are silent; false: the stream has ended.
func (c *Call) awaitQuiet(r *recognition) bool {
	for {
		var playing time.Duration
		if c.await(r.ctx, func() bool {
			playing = time.Until(c.quiet)
			return c.betweenLocked()
		}) != nil {
			return false
		}
		if playing <= 0 {
			return true
		}
		t := time.NewTimer(playing)
		select {
		case <-t.C:
		case <-r.ctx.Done():
			t.Stop()
			return false
		}
	}
}

// quietLocked says that both sides are silent.
func (c *Call) quietLocked() bool { return c.betweenLocked() && time.Until(c.quiet) <= 0 }

// betweenLocked says that no turn of the caller's is open or waits for its reply, and no reply for its voice.
func (c *Call) betweenLocked() bool {
	return !c.hearing && !c.heard && c.requests == 0 && len(c.asked) == 0 &&
		!slices.ContainsFunc(c.replies, func(p *reply) bool { return !p.over || len(p.audio) > 0 })
}
