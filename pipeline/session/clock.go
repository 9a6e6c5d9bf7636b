package session

import "time"

// clock runs from the answer of a call, or from a session's complete configuration, until
// either side hangs up. Minutes are charged by it. It starts once and stops once.
type clock struct {
	started, stopped time.Time // by the clock of this process; zero: it has not
	// The same by the clock that all nodes have in common, for the books.
	startedAt, stoppedAt time.Time
	// free is how long of it the agent was away, whose time costs nothing then, and away since when it is; zero: it is there.
	free time.Duration
	away time.Time
}

// start starts it at a moment, by both clocks; false says that it had been started.
func (c *clock) start(at, shared time.Time) bool {
	if !c.started.IsZero() {
		return false
	}
	c.started, c.startedAt = at, shared
	return true
}

func (c *clock) stop(at, shared time.Time) {
	if c.stopped.IsZero() {
		c.stopped, c.stoppedAt = at, shared
	}
}

func (c *clock) running() bool { return !c.started.IsZero() && c.stopped.IsZero() }

// ran is how long it has run by now.
func (c *clock) ran(now time.Time) time.Duration {
	switch {
	case c.started.IsZero():
		return 0
	case !c.stopped.IsZero():
		now = c.stopped
	}
	return max(0, now.Sub(c.started))
}

// talked is how long of it the agent was there by now.
func (c *clock) talked(now time.Time) time.Duration {
	free := c.free
	if !c.away.IsZero() {
		free += now.Sub(c.away)
	}
	return max(0, c.ran(now)-free)
}

// back says that the agent is there again, and returns for how long in all it was away; 0: it was there.
func (c *clock) back(now time.Time) time.Duration {
	if c.away.IsZero() {
		return 0
	}
	c.free, c.away = c.free+now.Sub(c.away), time.Time{}
	return c.free
}
