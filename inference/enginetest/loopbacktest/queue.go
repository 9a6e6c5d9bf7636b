package loopbacktest

import (
	"sync"
	"time"
)

// Queue sends messages in order, each not before it is due, while its owner goes on to hear.
// It grows with what the test makes it say.
type Queue struct {
	socket *Socket
	wake   chan struct{} // one more is waiting

	mu    sync.Mutex
	items []Outgoing
}

// Outgoing is a message, or with a code the end of the connection.
type Outgoing struct {
	Due     time.Time // by the clock; zero: at once
	Message any
	Code    int
	Reason  string // of the end
	Before  func() // nil, or called when the message is about to be written
	Sent    func() // nil, or called when it was
}

// Queue begins to send over k until the connection ends.
func (s *Server) Queue(k *Socket) *Queue {
	q := &Queue{socket: k, wake: make(chan struct{}, 1)}
	s.Go(func() { q.run(s) })
	return q
}

// Add queues a message.
func (q *Queue) Add(o Outgoing) {
	q.mu.Lock()
	q.items = append(q.items, o)
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *Queue) run(s *Server) {
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
		if !s.Wait(q.socket.Context(), time.Until(o.Due)) {
			return
		}
		if o.Before != nil {
			o.Before()
		}
		if o.Code != 0 {
			q.socket.Close(o.Code, o.Reason)
		} else if err := q.socket.Write(o.Message); err == nil && o.Sent != nil {
			o.Sent()
		}
	}
}

func (q *Queue) pop() (o Outgoing, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return o, false
	}
	o, q.items = q.items[0], q.items[1:]
	return o, true
}
