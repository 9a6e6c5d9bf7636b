package bus

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go"

	"parley/store"
)

const (
	// queueSize is how many messages wait for one subscriber. A node's whole
	// account of calls says goodbye in a few hundred; beyond this the subscriber
	// does not run at all.
	queueSize = 1024
	// queueBytes bounds the same in bytes: most messages are tiny.
	queueBytes = 8 << 20
	// RequestTimeout is how long the answer to a command may take.
	RequestTimeout = 2 * time.Second
)

// Publish sends a message to the subscribers of the moment; none is no error, and
// there is none when it is lost on its way. ErrAway: there is no connection. It
// may block for as long as a network that has just died is not known to be dead,
// so what must not wait publishes from a goroutine of its own.
func (b *Bus) Publish(s Subject, payload []byte) error {
	if len(payload) > MaxPayload {
		return ErrSize
	}
	return failure(b.conn.Publish(s.name, payload))
}

// Request sends a command to a life of a node and returns its answer: ErrNobody at
// once when it is gone, ErrTimeout after RequestTimeout, the cause of ctx when that
// ends earlier.
func (b *Bus) Request(ctx context.Context, n store.Node, command []byte) (answer []byte, err error) {
	s, err := Commands(n)
	if err != nil {
		return nil, err
	}
	if len(command) > MaxPayload {
		return nil, ErrSize
	}
	wait, cancel := context.WithTimeoutCause(ctx, RequestTimeout, ErrTimeout)
	defer cancel()
	m, err := b.conn.RequestWithContext(wait, s.name, command)
	switch {
	case err == nil:
		return m.Data, nil
	case wait.Err() != nil:
		return nil, context.Cause(wait)
	}
	return nil, failure(err)
}

// Message is one that arrived.
type Message struct {
	// About is the identifier in its subject: of the call, node or account.
	About   string
	Payload []byte // the receiver's own
	msg     *nats.Msg
}

// Answer answers a command; a message that wants no answer refuses with ErrNobody.
func (m Message) Answer(payload []byte) error {
	switch {
	case m.msg.Reply == "":
		return ErrNobody
	case len(payload) > MaxPayload:
		return ErrSize
	}
	return failure(m.msg.Respond(payload))
}

// Subscription is a queue of messages for one subscriber.
type Subscription struct{ sub *nats.Subscription }

// Subscribe queues messages about a subject from now on, or from when there is a
// connection again. Up to 1,024 wait, 8 MiB in all; what comes then is lost, and
// the subscriber with it: see Next. Close it.
func (b *Bus) Subscribe(ctx context.Context, s Subject) (*Subscription, error) {
	sub, err := b.conn.SubscribeSync(s.name)
	if err != nil {
		return nil, failure(err)
	}
	if err := sub.SetPendingLimits(queueSize, queueBytes); err != nil {
		return nil, failure(err)
	}
	if b.conn.IsConnected() {
		ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
		defer cancel()
		_ = b.conn.FlushWithContext(ctx) // a connection that broke asks for it again when it is back
	}
	return &Subscription{sub}, nil
}

// Next waits for the next message. ErrSlow: messages were lost, and the
// subscription is closed, for a subscriber must not take what it has for all there
// was; it subscribes again and looks at the database. ErrClosed: the bus or the
// subscription is. When ctx ends, its cause.
func (s *Subscription) Next(ctx context.Context) (Message, error) {
	m, err := s.sub.NextMsgWithContext(ctx)
	switch {
	case err == nil:
		return Message{About: about(m.Subject), Payload: m.Data, msg: m}, nil
	case ctx.Err() != nil:
		return Message{}, context.Cause(ctx)
	case errors.Is(err, nats.ErrSlowConsumer):
		s.Close()
		return Message{}, ErrSlow
	}
	return Message{}, failure(err)
}

// Close ends the subscription; more than once is allowed.
func (s *Subscription) Close() { _ = s.sub.Unsubscribe() } // all its errors say that it is closed
