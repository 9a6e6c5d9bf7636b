package wstts

import (
	"sync"
	"time"

	"parley/api/tts"
)

// request is a job that a client has asked for.
type request struct {
	tts.Request
	refused error // what is wrong with it
	at      time.Time
	// behind counts the requests that came while the queue was full and this one
	// was the last of it.
	behind int
}

// queue is the jobs that wait. When it is full a request is refused, which the
// client is told in its turn: there is nothing to tell jobs apart but their order.
type queue struct {
	ready chan struct{} // capacity 1: there may be something to take

	mu   sync.Mutex
	list []*request
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

// put adds a request.
func (q *queue) put(r *request) {
	q.mu.Lock()
	if n := len(q.list); n == queueSize {
		q.list[n-1].behind++
	} else {
		q.list = append(q.list, r)
	}
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default: // the worker knows already
	}
}

// take removes the next request; nil when there is none.
func (q *queue) take() *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		q.list = nil
		return nil
	}
	r := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	if len(q.list) > 0 {
		q.wake()
	}
	return r
}

// overflow is how many requests were refused behind one that was taken.
func (q *queue) overflow(r *request) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return r.behind
}
