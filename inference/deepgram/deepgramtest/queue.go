package deepgramtest

import (
	"crypto/rand"
	"fmt"
	"sync"
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// queue sends messages in order, each not before it is due, while audio goes on to be heard.
// It grows with what the test makes it say.
type queue struct {
	socket *loopbacktest.Socket
	wake   chan struct{} // one more is waiting

	mu    sync.Mutex
	items []outgoing
}

// outgoing is a message, or with a code the end of the connection.
type outgoing struct {
	due     time.Time
	message any
	code    int
	before  func() // nil, or called when the message is about to be written
	sent    func() // nil, or called when it was
}

// newQueue begins to send until the connection ends.
func newQueue(s *Server, k *loopbacktest.Socket) *queue {
	q := &queue{socket: k, wake: make(chan struct{}, 1)}
	s.Go(func() { q.run(s) })
	return q
}

func (q *queue) add(o outgoing) {
	q.mu.Lock()
	q.items = append(q.items, o)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) run(s *Server) {
	for {
		o, ok := q.pop()
		if !ok {
			select {
			case <-q.wake:
				continue
			case <-q.socket.Context().Done():
				return
			}
		}
		if !s.Wait(q.socket.Context(), time.Until(o.due)) {
			return
		}
		if o.before != nil {
			o.before()
		}
		if o.code != 0 {
			q.socket.Close(o.code, o.message.(string))
		} else if err := q.socket.Write(o.message); err == nil && o.sent != nil {
			o.sent()
		}
	}
}

func (q *queue) pop() (o outgoing, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return o, false
	}
	o, q.items = q.items[0], q.items[1:]
	return o, true
}

// requestID is a new id in the vendor's form.
func requestID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
