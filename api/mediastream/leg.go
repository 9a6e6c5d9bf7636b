package mediastream

import (
	"context"
	"encoding/base64"
	"strconv"
	"sync/atomic"
	"time"

	sockets "parley/api/socket"
	"parley/media"
	"parley/media/ahead"
	"parley/media/g711"
)

// Bounds of a socket.
const (
	maxMessage = 64 << 10 // bytes a message; a longer one is answered with 1009
	// queueSize is what may wait for a slow carrier: some seconds of messages. One that lets it fill up is disconnected.
	queueSize  = 512
	bufferPool = 64   // frames and marks in flight: three times the lead
	bufferSize = 1024 // bytes of a message with 20 ms of audio
	writeWait  = 5 * time.Second
	// maxSound is how many codes a message may hold: 400 ms. Carriers send 20 ms.
	maxSound = 3200
	// maxName bounds the identifier of a stream, in bytes.
	maxName = 200
)

// markEvery is how far apart marks are: the carrier says that all before one was played.
const markEvery = 5 * media.FrameDuration

// Details of streams that end in failure.
const (
	detailForeign  media.EndDetail = "foreign_stream" // it is another call's than it was opened for
	detailFormat   media.EndDetail = "no_codec"       // its audio is of another kind
	detailOverflow media.EndDetail = "event_overflow" // more keys came than are read
)

func failed(detail media.EndDetail) error { return &media.Ended{Reason: media.Failed, Detail: detail} }

// Leg is the audio of a call: media.Leg for the conductor. What the carrier sends before its stream begins is not heard.
type Leg struct {
	*ahead.Audio
	sock    *sockets.Frames
	dialect dialect
	call    string // whose stream it must be, as the carrier names it
	onward  *onward
	events  chan media.LegEvent
	began   chan struct{} // closed when the stream has begun
	since   time.Time     // when that was; set before began is closed

	// Of the reader, and fixed once the stream has begun.
	stream  string // its identifier, which messages carry
	codec   g711.Codec
	codes   [maxSound]byte
	samples [maxSound]int16

	// marked is the latest mark that was played, with its epoch; 0: none was yet. markedAt is when that was, in Unix nanoseconds.
	marked   atomic.Uint64
	markedAt atomic.Int64

	// Of the conductor alone.
	epoch    uint16     // how often it was flushed
	base     media.Time // played when it was flushed last
	unmarked time.Duration
}

func newLeg(sock sockets.Outlet, d dialect, call string, next *onward) *Leg {
	return &Leg{Audio: ahead.New(d.rate(), d.rate()), sock: sockets.NewFrames(sock, bufferPool, bufferSize), dialect: d, call: call, onward: next,
		events: make(chan media.LegEvent, media.EventQueue), began: make(chan struct{})}
}

// Answered is when the stream began.
func (l *Leg) Answered() time.Time { return l.since }

// Run implements media.Leg: it lasts as long as the socket, and until it is known where a call goes that is transferred.
func (l *Leg) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		l.sock.Close(sockets.Normal, "")
	case <-l.sock.Gone():
		l.onward.wait()
	}
	return l.sock.Fault()
}

// Write implements media.Leg.
func (l *Leg) Write(f media.Frame) {
	l.Wrote(time.Now())
	b := l.sock.Empty()
	if b == nil {
		return // the socket is ending: its queue was full
	}
	b.Data, b.Text = l.dialect.sound(b.Data, l.stream, f.Samples)
	l.sock.Send(b)
	if l.unmarked += media.FrameDuration; l.unmarked < markEvery {
		return
	}
	l.unmarked = 0
	if b = l.sock.Empty(); b != nil {
		b.Data, b.Text = l.dialect.mark(b.Data, l.stream, uint64(l.epoch)<<positionBits|uint64(l.Written())), true
		l.sock.Send(b)
	}
}

// positionBits are those of a mark's number that hold a media.Time: more than a year.
const positionBits = 48

// Flush implements media.Leg.
func (l *Leg) Flush(now time.Time) media.Time {
	dropped := l.Flushed(now, l.Played(now))
	l.base, l.unmarked = l.Written(), 0
	l.epoch++ // a carrier that drops audio may answer its marks all the same
	l.sock.Flush()
	if b := l.sock.Empty(); b != nil {
		b.Data, b.Text = l.dialect.clear(b.Data, l.stream), true
		l.sock.Send(b)
	}
	return dropped
}

// Played implements media.Leg: what the carrier has said, and between two marks as much as could be played since.
func (l *Leg) Played(now time.Time) media.Time {
	position := l.Position(now, ahead.PlayoutLag)
	mark := l.marked.Load()
	// A carrier that has stopped answering marks must not hold up the conversation.
	if mark == 0 || l.Over(now) > time.Second {
		return l.Audio.Played(position)
	}
	said, since := l.base, time.Duration(markEvery)
	if uint16(mark>>positionBits) == l.epoch {
		said = max(said, media.Time(mark&(1<<positionBits-1)))
		since = max(0, min(since, now.Sub(time.Unix(0, l.markedAt.Load()))))
	}
	return l.Audio.Played(min(l.Position(now, 0), said+media.FromDuration(since)))
}

// Events implements media.Leg.
func (l *Leg) Events() <-chan media.LegEvent { return l.events }

// text takes a text message. It runs on the reader.
func (l *Leg) text(b []byte) {
	m := l.dialect.read(b)
	if !l.has() {
		if m.kind == streamBegins {
			l.begin(&m)
		}
		return
	}
	switch m.kind {
	case sound:
		l.hear(m.sound)
	case key:
		l.press(m.text)
	case markPlayed:
		if n, err := strconv.ParseUint(string(m.text), 10, 64); err == nil && n > 0 {
			l.markedAt.Store(time.Now().UnixNano())
			l.marked.Store(n)
		}
	case streamEnds:
		l.sock.Drop(context.Canceled)
	}
}

// binary takes a binary message. It runs on the reader.
func (l *Leg) binary(b []byte) {
	if l.has() {
		l.Receive(b, time.Now())
	}
}

// has says whether the stream has begun. The reader asks.
func (l *Leg) has() bool { return !l.since.IsZero() }

// begin begins the stream, if it is the one that was asked for.
func (l *Leg) begin(m *message) {
	codec, ok := l.dialect.format(string(m.text))
	switch {
	case string(m.call) != l.call:
		l.sock.Drop(failed(detailForeign))
		return
	case !ok || len(m.stream) > maxName:
		l.sock.Drop(failed(detailFormat))
		return
	}
	l.stream, l.codec, l.since = string(m.stream), codec, time.Now()
	close(l.began)
}

// hear takes codes in base64; what is longer than maxSound, or is not base64, is left out.
func (l *Leg) hear(coded []byte) {
	if base64.StdEncoding.DecodedLen(len(coded)) > len(l.codes) {
		return
	}
	n, err := base64.StdEncoding.Decode(l.codes[:], coded)
	if err != nil {
		return
	}
	n = l.codec.Decode(l.samples[:], l.codes[:n])
	l.ReceiveSamples(l.samples[:n], time.Now())
}

// press takes a key.
func (l *Leg) press(digit []byte) {
	if len(digit) != 1 || !isKey(digit[0]) {
		return
	}
	select {
	case l.events <- media.LegEvent{Kind: media.LegDigit, Digit: digit[0]}:
	default:
		l.sock.Drop(failed(detailOverflow))
	}
}

func isKey(c byte) bool {
	return c >= '0' && c <= '9' || c == '*' || c == '#' || c >= 'A' && c <= 'D'
}
