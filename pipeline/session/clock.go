package session

import "time"

// clock runs from the answer of a call, or from a session's complete configuration, until
// either side hangs up. Minutes are charged by it. It starts once and stops once.
type clock struct {
	started, stopped time.Time // by the clock of this process; zero: it has not
	// The same by the clock that all nodes have in common, for the books.
	startedAt, stoppedAt time.Time
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
