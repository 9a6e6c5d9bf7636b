package api

import (
	"context"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
)

// Counts are what a wrapped handler has to do and what went wrong, see
// Options.Counts. The zero value is ready; its methods may be called from any
// goroutine.
type Counts struct {
	active atomic.Int64
	failed atomic.Uint64

	mu      sync.Mutex
	refused map[string]uint64 // by code; the error table bounds it
}

// Active is how many requests, open sockets and streams among them, are being
// answered now.
func (c *Counts) Active() int64 { return c.active.Load() }

// Failed is how many requests were answered with a status of 500 or more.
func (c *Counts) Failed() uint64 { return c.failed.Load() }

// Refused is how often something was asked for and not done, by the public code of
// the reason: requests, sockets, and what Refuse was called with.
func (c *Counts) Refused() map[string]uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.refused)
}

// Refuse counts what was refused without a request that is answered, such as a call
// that an agent wanted to make.
func (c *Counts) Refuse(err error) { c.refuse(ProblemOf(err).Code) }

func (c *Counts) refuse(code string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.refused == nil {
		c.refused = map[string]uint64{}
	}
	c.refused[code]++
}

// left counts a request that is over.
func (c *Counts) left(status int) {
	if status >= http.StatusInternalServerError {
		c.failed.Add(1)
	}
	c.active.Add(-1)
}

// Refused counts that the request in ctx was refused, where WriteError does not write
// the answer: on a socket, which has been upgraded already. Without a request, as in
// tests, it does nothing.
func Refused(ctx context.Context, err error) {
	if v, ok := ctx.Value(guardKey{}).(*passage); ok {
		v.refuse(ProblemOf(err).Code)
	}
}

// refuse counts why a request was refused.
func (v *passage) refuse(code string) {
	v.told.Store(true)
	v.code.CompareAndSwap(nil, &code)
	v.counts.refuse(code)
}

// unexplained counts an answer that says no and came from elsewhere than the table:
// the library that reads requests refuses some by itself, in words of ours.
func (v *passage) unexplained(status int) {
	if status < http.StatusBadRequest || v.told.Load() {
		return
	}
	err := ErrBadRequest
	switch {
	case status == http.StatusRequestEntityTooLarge:
		err = ErrTooLarge
	case status == http.StatusUnsupportedMediaType:
		err = ErrMediaType
	case status == http.StatusRequestTimeout:
		err = context.DeadlineExceeded
	case status >= http.StatusInternalServerError:
		err = errPanicked
	}
	v.refuse(ProblemOf(err).Code)
}
