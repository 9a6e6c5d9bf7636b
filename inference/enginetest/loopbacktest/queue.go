package loopbacktest

import (
	"slices"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// Queue sends messages in order, each not before it is due, while its owner goes on to hear.
// It grows with what the test makes it say. When one cannot be sent, nothing after it is.
type Queue struct {
	socket *Socket

	mu      sync.Mutex
	items   []*queued
	changed chan struct{} // closed when another item is the first
}

// Outgoing is a message, or with a code the end of the connection.
type Outgoing struct {
	Due     time.Time            // by the clock; zero: at once
	Delay   func() time.Duration // instead of Due: by the clock, from when it is the first; nil: none
	Message any                  // a func() any makes it when it is about to be written; nil is not sent
	Binary  []byte               // instead of Message
	Also    []any                // messages that follow it at once
	Audio   any                  // what it is audio of, for Insert and Cut; nil: it is none
	Code    int
	Reason  string // of the end
	Before  func() // nil, or called when the message is about to be written
	Sent    func() // nil, or called as it is; it must not write to the socket
	Last    bool   // nothing follows: the queue ends before the connection does
}

// queued is a message in line. Its due belongs to the goroutine that sends.
type queued struct {
	Outgoing
	due time.Time // by the clock; zero: it was not the first yet
}

// Queue begins to send over k until the connection ends.
func (s *Server) Queue(k *Socket) *Queue {
	q := &Queue{socket: k, changed: make(chan struct{})}
	s.Go(q.run)
	return q
}

// Add queues a message.
func (q *Queue) Add(o Outgoing) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.insertLocked(len(q.items), o)
}

// Insert queues a message before all audio of something, or last when there is none.
func (q *Queue) Insert(o Outgoing, before any) {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.items, func(other *queued) bool { return other.Audio == before })
	if i < 0 {
		i = len(q.items)
	}
	q.insertLocked(i, o)
}

func (q *Queue) insertLocked(i int, o Outgoing) {
	if q.items = slices.Insert(q.items, i, &queued{Outgoing: o}); i == 0 {
		q.signalLocked()
	}
}

// Cut takes out what was not sent, but for so many messages of audio and those before them,
// which have no delay any more.
func (q *Queue) Cut(late int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var kept []*queued
	heard := false // there is audio among them
	for _, o := range q.items {
		if o.Audio != nil {
			if late--; late < 0 {
				break
			}
			heard = true
		} else if late == 0 && heard {
			break
		}
		now := &queued{Outgoing: o.Outgoing}
		now.Due, now.Delay = time.Time{}, nil
		kept = append(kept, now)
	}
	q.items = kept
	q.signalLocked()
}

func (q *Queue) signalLocked() {
	close(q.changed)
	q.changed = make(chan struct{})
}

func (q *Queue) run() {
	ctx := q.socket.Context()
	for ctx.Err() == nil {
		o, changed := q.first()
		switch {
		case o == nil:
			select {
			case <-changed:
			case <-ctx.Done():
			}
		case !q.wait(o, changed) || !q.take(o):
		case q.send(o) != nil:
			<-ctx.Done() // when it only stalls, what it is about goes on
		case o.Last:
			return
		}
	}
}

// first is what is sent next, nil: nothing. changed is closed when that is something else.
func (q *Queue) first() (o *queued, changed <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) > 0 {
		o = q.items[0]
	}
	return o, q.changed
}

// wait waits until the first message is due, and says whether it stayed that.
func (q *Queue) wait(o *queued, changed <-chan struct{}) bool {
	if o.due.IsZero() {
		if o.due = o.Due; o.Delay != nil {
			o.due = time.Now().Add(o.Delay())
		}
	}
	d := time.Until(o.due)
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-changed:
	case <-q.socket.Context().Done():
	}
	return false
}

// take takes the first item out, if it is still that.
func (q *Queue) take(o *queued) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 || q.items[0] != o {
		return false
	}
	q.items = q.items[1:]
	return true
}

func (q *Queue) send(o *queued) error {
	if o.Before != nil {
		o.Before()
	}
	message := o.Message
	if f, ok := message.(func() any); ok {
		message = f()
	}
	var err error
	switch {
	case o.Code != 0:
		q.socket.Close(o.Code, o.Reason)
	case o.Binary != nil:
		err = q.socket.writeThen(websocket.BinaryMessage, o.Binary, o.Sent)
	case message != nil:
		err = q.socket.writeThen(websocket.TextMessage, message, o.Sent)
	}
	for _, m := range o.Also {
		if err == nil {
			err = q.socket.Write(m)
		}
	}
	return err
}
