package wsagent

import (
	"context"
	"errors"
	"time"

	sockets "parley/api/socket"
	"parley/api/talk"
	"parley/media"
	"parley/media/ahead"
)

// What the socket carries.
const (
	RateIn  = media.Rate16k
	RateOut = media.Rate44k
)

// Leg is the audio of one agent socket: media.Leg for the conductor, and the
// messages that go with it in one order.
type Leg struct {
	*talk.Client
	*ahead.Audio
	sock *sockets.Frames

	replyAt media.Time // position of the reply in progress; of the conductor alone
	events  chan media.LegEvent
}

func newLeg(sock *sockets.Frames) *Leg {
	return &Leg{Client: talk.NewClient(sock.OfferText), Audio: ahead.New(RateIn, RateOut), sock: sock, events: make(chan media.LegEvent, media.EventQueue)}
}

// Run implements media.Leg: it lasts as long as the socket. The cause of ctx
// decides the close code.
func (l *Leg) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		var why *media.Ended
		if errors.As(context.Cause(ctx), &why) {
			l.sock.Close(l.Goodbye(why))
		} else {
			l.sock.Close(sockets.GoingAway, "the server is stopping")
		}
	case <-l.sock.Gone():
	}
	return l.sock.Fault()
}

// Transport implements talk.Leg.
func (*Leg) Transport() string { return "web" }

// Write implements media.Leg.
func (l *Leg) Write(f media.Frame) {
	l.Wrote(time.Now())
	b := l.sock.Empty()
	if b == nil {
		return // the socket is ending: its queue was full
	}
	b.Data = media.AppendPCM(b.Data, f.Samples)
	l.sock.Send(b)
}

// Flush implements media.Leg. What the client has not played by now it drops when
// it reads the status that follows.
func (l *Leg) Flush(now time.Time) media.Time {
	d := l.Flushed(now, l.Played(now))
	l.sock.Flush()
	return d
}

// Status tells what the agent does; generation 0 is left out.
func (l *Leg) Status(status string, generation int) {
	if status == "speaking" {
		l.replyAt = l.Written()
		l.Replies()
	}
	l.Client.Status(status, generation)
}

// Played implements media.Leg: by the client's own word if it gives it, else by
// the time since it was sent.
func (l *Leg) Played(now time.Time) media.Time {
	position := l.Position(now, ahead.PlayoutLag)
	// A client cannot have played what was sent just now, and one that has
	// stopped reporting must not hold up the conversation.
	if said, ok := l.Client.Played(); ok && l.Over(now) < time.Second {
		position = min(l.Position(now, 0), l.replyAt+media.Time(said)*media.Millisecond)
	}
	return l.Audio.Played(position)
}

// Events implements media.Leg: a socket has no keys.
func (l *Leg) Events() <-chan media.LegEvent { return l.events }
