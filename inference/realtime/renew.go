package realtime

import (
	"context"
	"errors"
	"slices"
	"time"

	"parley/inference"
)

const (
	// renewTries is how often another session is asked for in place of one that ends soon.
	renewTries = 3
	// renewWait is how long after the first; each later one waits twice as long.
	renewWait = time.Second
	// maxVain is how many sessions in a row may fail that have neither heard nor said anything.
	maxVain = 3
)

// errVain is why none is opened any more.
var errVain = errors.New("three sessions in a row have failed")

// renew replaces the session of r, which ends soon, by one that goes on from it, or begins with the conversation so far. It does
// so between turns, when both sides are silent: nothing of the old session is needed any more. Where that moment does not come, or
// no other session can be had, the old one ends as the engine wants.
func (c *Call) renew(r *recognition) {
	for tries, wait := 0, renewWait; c.awaitQuiet(r); {
		config := c.now()
		config.After = *r.session.Load()
		next, err := c.engine.Open(r.ctx, config)
		if err != nil {
			if tries++; tries == renewTries || inference.FaultOf(err) == inference.ErrRefused || !pause(r.ctx, wait) {
				return
			}
			wait *= 2
			continue
		}
		c.mu.Lock()
		over := c.session != config.After || r.ctx.Err() != nil
		replaced := !over && c.quietLocked()
		if replaced {
			c.replies, c.speaking = nil, nil
			c.useLocked(r, next)
		}
		c.mu.Unlock()
		if replaced {
			config.After.Close()
			return
		}
		if next.Close(); over {
			return
		}
	}
}

// pause waits for d; false: ctx has ended first.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
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
		if !pause(r.ctx, playing) {
			return false
		}
	}
}

// quietLocked says that both sides are silent.
func (c *Call) quietLocked() bool { return c.betweenLocked() && time.Until(c.quiet) <= 0 }

// betweenLocked says that no turn of the caller's is open or waits for its reply, no reply for its voice, and no function for
// its result.
func (c *Call) betweenLocked() bool {
	return !c.hearing && !c.heard && c.requests == 0 && len(c.asked) == 0 &&
		!slices.ContainsFunc(c.replies, func(p *reply) bool { return !p.over || len(p.audio) > 0 || p.calls })
}
