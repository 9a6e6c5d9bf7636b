package webrtc

import (
	"context"
	"errors"
	"time"

	"parley/api/socket"
	"parley/api/talk"
	"parley/media"
	"parley/media/isolate"
	line "parley/media/webrtc"
)

// Leg is a session as a conversation has it: sound, and the messages that go with it.
type Leg struct {
	*line.Leg
	*talk.Client
	started time.Time
}

func newLeg(l *line.Leg) *Leg { return &Leg{Leg: l, Client: talk.NewClient(l.Send)} }

// Transport implements talk.Leg.
func (*Leg) Transport() string { return "webrtc" }

// Started is when the client's connection stood, from which the session is charged.
func (l *Leg) Started() time.Time { return l.started }

// Played implements media.Leg: the server keeps the time here, so what clients say of it
// is not needed.
func (l *Leg) Played(now time.Time) media.Time { return l.Leg.Played(now) }

// Run implements media.Leg. The cause of ctx decides the last message to the client.
func (l *Leg) Run(ctx context.Context) error {
	inner, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	stop := context.AfterFunc(ctx, func() {
		isolate.Do("api/webrtc/goodbye", nil, func() { l.goodbye(context.Cause(ctx)) }, func() { cancel(context.Cause(ctx)) })
	})
	defer stop()
	return l.Leg.Run(inner)
}

// goodbye is the last message of a session that ends for cause.
func (l *Leg) goodbye(cause error) {
	code, why := socket.GoingAway, "the server is stopping"
	if ended, ok := errors.AsType[*media.Ended](cause); ok {
		code, why = l.Goodbye(ended)
	}
	l.Closed(code, why)
}

// finish ends a session whose conversation did not, or could not begin.
func (l *Leg) finish() {
	select {
	case <-l.Gone():
		_ = l.Close()
	default:
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(&media.Ended{Reason: media.Failed})
		_ = l.Run(ctx)
	}
}
