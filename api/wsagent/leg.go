package wsagent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	sockets "parley/api/socket"
	"parley/api/talk"
	"parley/media"
	"parley/media/ring"
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
	// quietAfter is how long nothing may arrive before silence is filled in, which keeps
	// hearing silenceLag behind the wall clock: a muted client sends nothing at all.
	quietAfter = 140 * time.Millisecond
	silenceLag = 120 * time.Millisecond
	// lagMax is how far hearing may lag it while something arrives.
	lagMax = 180 * time.Millisecond
	// aheadMax is how far hearing may run ahead of it, as it does after a network
	// that stood still, whose gap was filled, delivers all at once. What is more
	// moves the clock on, or silence would be noticed late for ever after. It also
	// lets a client send in chunks of half a second without gaps between them.
	aheadMax = 500 * time.Millisecond
)

// Leg is the audio of one agent socket: media.Leg for the conductor, and the
// messages that go with it in one order. Audio that was flushed is not sent any
// more, not even when it was queued already.
type Leg struct {
	*talk.Client
	sock *socket
	in   inbox

	// Of the conductor alone.
	pacer   media.Pacer
	frame   [int(RateIn) / 50]int16
	start   time.Time // when the media time of hearing was 0
	heard   media.Time
	filled  uint64 // frames of silence
	arrived int64  // the arrival that the pacer has seen
	written media.Time
	end     time.Time // when the client will have played what was written
	played  media.Time
	replyAt media.Time // position of the reply in progress
	events  chan media.LegEvent
}

func newLeg(sock *socket) *Leg {
	l := &Leg{Client: talk.NewClient(sock.OfferText), sock: sock, events: make(chan media.LegEvent, media.EventQueue)}
	l.in.init(time.Now().UnixNano())
	return l
}

// begin starts the clock with the conductor's first look at the leg: what came
// while the engines were opened waits in the buffer, and silence before it is
// nobody's.
func (l *Leg) begin(now time.Time) {
	if l.start.IsZero() {
		l.start, l.end = now, now
		l.pacer = media.NewPacer(now.Add(media.FrameDuration))
	}
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
	return l.sock.fault()
}

// Transport implements talk.Leg.
func (*Leg) Transport() string { return "web" }

// Format implements media.Leg.
func (l *Leg) Format() media.Format {
	return media.Format{In: RateIn, Out: RateOut, Lead: DefaultLead}
}

// Next implements media.Leg. Its phase follows the client's packets.
func (l *Leg) Next() time.Time {
	l.begin(time.Now())
	if at := l.in.arrived.Load(); at != l.arrived {
		l.arrived = at
		l.pacer.Observe(time.Unix(0, at))
	}
	return l.pacer.Next()
}

// Read implements media.Leg.
func (l *Leg) Read(now time.Time) (media.Frame, bool) {
	l.begin(now)
	lag := now.Sub(l.start) - l.heard.Duration()
	if have := l.in.len(); have < len(l.frame) {
		if lag < silenceLag || now.UnixNano()-l.in.arrived.Load() < int64(quietAfter) {
			return media.Frame{}, false
		}
		clear(l.frame[:]) // part of a frame that is there waits for the rest
		l.filled++
	} else {
		if ahead := -lag; ahead > aheadMax {
			l.start = l.start.Add(aheadMax - ahead)
		} else if late := lag - RateIn.Duration(have).Duration(); late > lagMax {
			// Of a client that sends slower than real time its clock counts, or the lag
			// would pass for silence within its speech.
			l.start = l.start.Add(late - lagMax)
		}
		l.in.read(l.frame[:])
	}
	f := media.Frame{Samples: l.frame[:], Rate: RateIn, At: l.heard}
	l.heard += media.FrameTime
	return f, true
}

// Due implements media.Leg.
func (l *Leg) Due(now time.Time) int {
	l.begin(now)
	l.pacer.Due(now)
	return max(0, int((DefaultLead-max(0, l.end.Sub(now)))/media.FrameDuration))
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
	b.n = len(media.AppendPCM(b.data[:0], f.Samples))
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

// Status tells what the agent does; generation 0 is left out.
func (l *Leg) Status(status string, generation int) {
	if status == "speaking" {
		l.replyAt = l.written
		l.Replies()
	}
	l.Client.Status(status, generation)
}

// Played implements media.Leg: by the client's own word if it gives it, else by
// the time since it was sent.
func (l *Leg) Played(now time.Time) media.Time {
	position := l.position(now, playoutLag)
	// A client cannot have played what was sent just now, and one that has
	// stopped reporting must not hold up the conversation.
	if said, ok := l.Client.Played(); ok && now.Sub(l.end) < time.Second {
		position = min(l.position(now, 0), l.replyAt+media.Time(said)*media.Millisecond)
	}
	l.played = min(l.written, max(l.played, position))
	return l.played
}

// position is how much a client has played that plays everything lag after it was
// sent.
func (l *Leg) position(now time.Time, lag time.Duration) media.Time {
	left := media.FromDuration(max(0, l.end.Add(lag).Sub(now)))
	return max(0, l.written-left)
}

// Events implements media.Leg: a socket has no keys.
func (l *Leg) Events() <-chan media.LegEvent { return l.events }

// inboxSize is the client audio that may wait for the conductor: two seconds at
// 16 kHz, rounded up to a power of two. A network that stands still for so long
// costs no words.
const inboxSize = 1 << 15

// creditRate is how fast a client may send in the long run, in samples a
// nanosecond: real time, by a clock that is 0.2 % fast. It may be inboxSize ahead.
const creditRate = float64(media.Rate16k) * 1.002 / float64(time.Second)

// inbox passes samples from the socket's reader to the conductor without a lock.
//
// A message that does not fit, or that comes when the client has sent faster than
// real time for too long, is dropped whole and counted: a client that sends its
// microphone twice sends the second copy in messages of its own, and half of a
// message would be noise.
type inbox struct {
	samples *ring.Ring[int16]
	arrived atomic.Int64 // when the last ones came, Unix nanoseconds
	dropped atomic.Uint64

	// Of the writer.
	odd     int // a byte that waits for its other half; -1: none
	credit  float64
	updated int64
}

func (b *inbox) init(now int64) {
	b.samples = ring.New[int16](inboxSize)
	b.odd, b.credit, b.updated = -1, inboxSize, now
}

// write appends little-endian samples; an odd byte waits for the next call. now is
// in Unix nanoseconds.
func (b *inbox) write(p []byte, now int64) {
	if len(p) == 0 {
		return
	}
	b.arrived.Store(now)
	b.credit = min(inboxSize, b.credit+float64(max(0, now-b.updated))*creditRate)
	b.updated = now
	first, waiting := byte(b.odd), b.odd >= 0
	n := len(p)
	if waiting {
		n++
	}
	b.odd = -1
	if n%2 == 1 {
		b.odd = int(p[len(p)-1])
		p = p[:len(p)-1]
	}
	n /= 2
	if float64(n) > b.credit || n > b.samples.Free() {
		b.dropped.Add(uint64(n))
		return
	}
	b.credit -= float64(n)
	i := 0
	if waiting && n > 0 {
		*b.samples.Slot(i) = int16(uint16(first) | uint16(p[0])<<8)
		p = p[1:]
		i++
	}
	for ; len(p) >= 2; p = p[2:] {
		*b.samples.Slot(i) = int16(uint16(p[0]) | uint16(p[1])<<8)
		i++
	}
	b.samples.Put(i)
}

func (b *inbox) len() int { return b.samples.Len() }

// read takes len(dst) samples, which must be there.
func (b *inbox) read(dst []int16) {
	for i := range dst {
		dst[i] = *b.samples.Peek(i)
	}
	b.samples.Drop(len(dst))
}
