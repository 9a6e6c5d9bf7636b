package wsagent

import (
	"context"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"

	"parley/media"
)

// What the socket carries and how far ahead of real time.
const (
	RateIn  = media.Rate16k
	RateOut = media.Rate44k

	// DefaultLead is how far audio runs ahead of real time.
	DefaultLead = 300 * time.Millisecond
	// playoutLag is how long after sending a client is taken to play, when it does
	// not tell.
	playoutLag = 60 * time.Millisecond
	// silenceAfter is how far hearing may lag the wall clock before silence is
	// filled in: a muted client sends nothing at all.
	silenceAfter = 180 * time.Millisecond
	// aheadMax is how far hearing may run ahead of the wall clock: a client that
	// sends faster than real time is heard at most so early, and what exceeds the
	// input buffer is dropped.
	aheadMax = 500 * time.Millisecond
)

// Leg is the audio of one agent socket: media.Leg for the conductor, and the
// messages that go with it in one order. Audio that was flushed is not sent any
// more, not even when it was queued already.
type Leg struct {
	sock  *socket
	in    ring
	start time.Time
	pacer media.Pacer

	// Of the conductor alone.
	frame   [320]int16
	heard   media.Time
	arrived int64 // the arrival that the pacer has seen
	written media.Time
	end     time.Time // when the client will have played what was written
	played  media.Time
	events  chan media.LegEvent
	replyAt media.Time // position of the reply in progress

	lead     time.Duration
	features atomic.Int32
	visemes  atomic.Bool // the client wants them
	report   atomic.Int64 // ms of the current reply played, as the client says; -1: not yet
	muted    uint64
}

// Features a client may announce.
const (
	featureDuck = 1 << iota
	featurePlayed
)

func newLeg(sock *socket, start time.Time) *Leg {
	l := &Leg{sock: sock, start: start, pacer: media.NewPacer(start.Add(media.FrameDuration)), lead: DefaultLead,
		events: make(chan media.LegEvent, media.EventQueue)}
	l.report.Store(-1)
	return l
}

// Run implements media.Leg: it lasts as long as the socket. The cause of ctx
// decides the close code.
func (l *Leg) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		var why *media.Ended
		if errors.As(context.Cause(ctx), &why) {
			l.sock.close(closeCode(why))
		} else {
			l.sock.close(codeGoingAway, "the server is stopping")
		}
	case <-l.sock.gone:
	}
	return l.sock.reason()
}

// Format implements media.Leg.
func (l *Leg) Format() media.Format {
	return media.Format{In: RateIn, Out: RateOut, Lead: l.lead}
}

// Next implements media.Leg. Its phase follows the client's packets.
func (l *Leg) Next() time.Time {
	if at := l.in.arrived.Load(); at != l.arrived {
		l.arrived = at
		l.pacer.Observe(time.Unix(0, at))
	}
	return l.pacer.Next()
}

// Read implements media.Leg.
func (l *Leg) Read(now time.Time) (media.Frame, bool) {
	wall := media.FromDuration(now.Sub(l.start))
	if l.heard > wall+media.FromDuration(aheadMax) {
		return media.Frame{}, false
	}
	n := len(l.frame)
	if have := l.in.len(); have < n {
		if wall-l.heard < media.FromDuration(silenceAfter) {
			return media.Frame{}, false
		}
		clear(l.frame[have:])
		n = have
		l.muted++
	}
	l.in.read(l.frame[:n])
	f := media.Frame{Samples: l.frame[:], Rate: RateIn, At: l.heard}
	l.heard += media.FrameTime
	return f, true
}

// Due implements media.Leg.
func (l *Leg) Due(now time.Time) int {
	l.pacer.Due(now)
	ahead := max(0, l.end.Sub(now))
	return max(0, int((l.lead-ahead+media.FrameDuration-1)/media.FrameDuration))
}

// Write implements media.Leg.
func (l *Leg) Write(f media.Frame) {
	now := time.Now()
	if l.end.Before(now) {
		l.end = now
	}
	l.end = l.end.Add(media.FrameDuration)
	l.written += media.FrameTime
	b := l.sock.buffer()
	if b == nil {
		return // the socket is ending: its queue was full
	}
	b.n = 2 * len(f.Samples)
	for i, v := range f.Samples {
		binary.LittleEndian.PutUint16(b.data[2*i:], uint16(v))
	}
	l.sock.sendAudio(b)
}

// Flush implements media.Leg. What the client has not played by now it drops when
// it reads the status that follows.
func (l *Leg) Flush(now time.Time) media.Time {
	played := l.Played(now)
	d := l.written - played
	l.written = played
	l.end = now
	l.sock.flush()
	return d
}

// Played implements media.Leg: by the client's own word if it gives it, else by
// the time since it was sent.
func (l *Leg) Played(now time.Time) media.Time {
	position := l.written
	if late := l.end.Add(playoutLag).Sub(now); late > 0 {
		position -= min(l.written, media.FromDuration(late))
	}
	if l.features.Load()&featurePlayed != 0 {
		// A client that has stopped reporting must not hold up the conversation.
		if said := l.report.Load(); said >= 0 && now.Sub(l.end) < time.Second {
			position = min(l.written, l.replyAt+media.Time(said)*media.Millisecond)
		}
	}
	l.played = max(l.played, position)
	return min(l.played, l.written)
}

// Events implements media.Leg: a socket has no keys.
func (l *Leg) Events() <-chan media.LegEvent { return l.events }

// Duck implements media.Ducker for clients that lower the voice themselves.
func (l *Leg) Duck(on bool) bool {
	if l.features.Load()&featureDuck == 0 {
		return false
	}
	l.sock.send(message{Type: "duck", Data: on})
	return true
}

// closeCode maps the end of a conversation to a close code and a sentence.
func closeCode(e *media.Ended) (int, string) {
	switch e.Reason {
	case media.AgentHangup, media.UserHangup, media.Completed:
		return codeNormal, "the conversation has ended"
	case media.BalanceExhausted:
		return codePolicy, "the balance is exhausted"
	case media.MaxDuration:
		return codePolicy, "the conversation has reached its longest duration"
	case media.APIHangup:
		if e.Detail == "drain" {
			return codeGoingAway, "the server is stopping"
		}
		return codeNormal, "the conversation was ended"
	}
	return codeServerError, "the conversation has failed"
}
