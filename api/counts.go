package api

import (
	"net/http"
	"sync/atomic"
)

// Counts are what a wrapped handler has to do and what went wrong, see
// Options.Counts. The zero value is ready; its methods may be called from any
// goroutine.
type Counts struct {
	active atomic.Int64
	failed atomic.Uint64
}

// Active is how many requests, open sockets and streams among them, are being
// answered now.
func (c *Counts) Active() int64 { return c.active.Load() }

// Failed is how many requests were answered with a status of 500 or more.
func (c *Counts) Failed() uint64 { return c.failed.Load() }

// left counts a request that is over.
func (c *Counts) left(status int) {
	if status >= http.StatusInternalServerError {
		c.failed.Add(1)
	}
	c.active.Add(-1)
}
