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

// Leg is the audio of one conversation over agent sockets: media.Leg for the conductor, and the
// messages that go with it in one order.
type Leg struct {
	*talk.Client
	*ahead.Audio
	line *line

	// Of the conductor alone.
	replyAt media.Time // position of the reply in progress
	returns int32      // of the client's, those that were noticed
}

func newLeg(sock *sockets.Frames) *Leg {
	line := newLine(sock)
	return &Leg{Client: talk.NewClient(line.put), Audio: ahead.New(RateIn, RateOut), line: line}
}

// Run implements media.Leg: it lasts as long as the client has a socket, or may come back. The cause of ctx
// decides the close code.
func (l *Leg) Run(ctx context.Context) error {
	defer l.line.finish(true)
	for {
		sock := l.line.sock.Load()
		select {
		case <-ctx.Done():
			l.line.finish(true)
			sock = l.line.sock.Load()
			var why *media.Ended
			if errors.As(context.Cause(ctx), &why) {
				sock.Close(l.Goodbye(why))
			} else {
				sock.Close(sockets.GoingAway, "the server is stopping")
			}
			return sock.Fault()
		case <-l.line.changed:
		case <-sock.Gone():
			switch {
			case l.line.lose(sock):
				if !l.line.await(ctx) {
					return l.line.fault()
				}
			case l.line.sock.Load() == sock:
				return sock.Fault()
			}
		}
	}
}

// Transport implements talk.Leg.
func (*Leg) Transport() string { return "web" }

// Due implements media.Leg. Nothing is while the client is away, nor before the conductor knows that it was.
func (l *Leg) Due(now time.Time) int {
	n := l.Audio.Due(now)
	if l.line.away.Load() || len(l.line.events) > 0 {
		return 0
	}
	if returns := l.line.returns.Load(); returns != l.returns {
		l.returns = returns
		l.reply()
	}
	return n
}

// Write implements media.Leg.
func (l *Leg) Write(f media.Frame) {
	l.Wrote(time.Now())
	sock := l.line.sock.Load()
	b := sock.Empty()
	if b == nil {
		return // the socket is ending: its queue was full
	}
	b.Data = media.AppendPCM(b.Data, f.Samples)
	sock.Send(b)
}

// Flush implements media.Leg. What the client has not played by now it drops when
// it reads the status that follows.
func (l *Leg) Flush(now time.Time) media.Time {
	d := l.Flushed(now, l.Played(now))
	l.line.sock.Load().Flush()
	return d
}

// Status tells what the agent does; generation 0 is left out.
func (l *Leg) Status(status string, generation int) {
	l.line.does(status, generation)
	switch status {
	case "prompt_set":
		l.line.begin(l.Client)
	case "speaking":
		l.reply()
	}
	l.Client.Status(status, generation)
}

// reply has the client count what it plays from here on.
func (l *Leg) reply() {
	l.replyAt = l.Written()
	l.Replies()
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

// Events implements media.Leg: a socket has no keys, but the client may be away for a while.
func (l *Leg) Events() <-chan media.LegEvent { return l.line.events }
