// Package fork sends the audio of a call on to a WebSocket while the call goes on, in the messages of Twilio's Media Streams
// (https://www.twilio.com/docs/voice/media-streams/websocket-messages), so that programs which take those take ours.
//
//	monitor.Listener ─▶ Run ─▶ connected, start, media, media, …, stop
//
// Each message with audio has 20 ms of one track in PCMU at 8 kHz: inbound is what the person on the line says, outbound what they
// hear. A receiver that is slow misses audio, and the call nothing.
package fork

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"parley/media"
	"parley/media/g711"
	"parley/media/isolate"
	"parley/media/monitor"
	"parley/media/resample"
)

const (
	// writeWait is how long the receiver may take for a message, closeWait for the closing handshake.
	writeWait = 5 * time.Second
	closeWait = time.Second
	// maxMessage bounds what the receiver may send, in bytes; nothing of it is needed.
	maxMessage = 4 << 10
)

// ErrGone is returned by Run when the receiver has closed the socket, or takes nothing any more.
var ErrGone = errors.New("fork: the receiver is gone")

// Run sends what l hears to conn until the call is over, ctx ends or the receiver is gone, and closes conn. It returns when the receiver
// has confirmed that, or has had a second to: a connection that is closed before might take the last message with it. It leaves the call to
// its caller: l goes on. nil: the receiver knows that the stream stops.
func Run(ctx context.Context, conn *websocket.Conn, l *monitor.Listener, s Start) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conn.SetReadLimit(maxMessage)
	read := make(chan struct{}) // closed when the reader has ended
	isolate.Go("media/fork/reader", cancel, func() { cancel(drain(conn)) }, func() { conn.Close() }, func() { close(read) })
	defer func() { <-read }()
	err := newStream(conn, l.Rate(), s).send(ctx, l)
	if err != nil {
		conn.Close()
		return err
	}
	// The reader ends when the receiver has answered.
	deadline := time.Now().Add(closeWait)
	_ = conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(websocket.CloseNormalClosure, ""), deadline)
	_ = conn.SetReadDeadline(deadline)
	return nil
}

// drain reads until the receiver is gone; pings are answered by it.
func drain(conn *websocket.Conn) error {
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			return fmt.Errorf("%w: %w", ErrGone, err)
		}
	}
}

// stream is what Run sends to one receiver.
type stream struct {
	conn   *websocket.Conn
	writer writer
	rate   media.Rate
	tracks []*track
}

// track is one side of a call on its way to a receiver.
type track struct {
	name    Track
	channel int                 // of what a Listener hears
	down    *resample.Resampler // to 8 kHz
	mono    []int16             // 20 ms at the rate of the listener
	chunks  int
}

func newStream(conn *websocket.Conn, rate media.Rate, s Start) *stream {
	out := &stream{conn: conn, rate: rate, writer: writer{start: s}}
	for channel, name := range Tracks() {
		if s.has(name) {
			out.tracks = append(out.tracks, &track{name: name, channel: channel, down: resample.New(rate, media.Rate8k), mono: make([]int16, rate.FrameSamples())})
		}
	}
	return out
}

// send sends everything, from the first message to the last.
func (s *stream) send(ctx context.Context, l *monitor.Listener) error {
	if err := s.write(s.writer.connected()); err != nil {
		return err
	}
	if err := s.write(s.writer.started()); err != nil {
		return err
	}
	frame := make([]int16, monitor.Channels*s.rate.FrameSamples())
	var code [160]byte
	var begin media.Time
	for first := true; ; first = false {
		switch err := l.Next(ctx, frame); {
		case errors.Is(err, ErrGone), errors.Is(err, isolate.Internal):
			return err
		case err != nil: // the call is over, or the stream is to end
			return s.write(s.writer.stopped())
		case first:
			begin = l.At()
		}
		for _, t := range s.tracks {
			if err := s.write(s.writer.media(t.name, t.next(), l.At()-begin, t.encode(code[:], frame, s.rate))); err != nil {
				return err
			}
		}
	}
}

// next numbers the messages of a track, from 1.
func (t *track) next() int {
	t.chunks++
	return t.chunks
}

// encode writes a track's part of a frame into code as PCMU.
func (t *track) encode(code []byte, frame []int16, rate media.Rate) []byte {
	for i := range t.mono {
		t.mono[i] = frame[monitor.Channels*i+t.channel]
	}
	low := t.down.Process(media.Frame{Samples: t.mono, Rate: rate})
	return code[:g711.PCMU.Encode(code, low.Samples)]
}

// write sends a message.
func (s *stream) write(message []byte) error {
	_ = s.conn.SetWriteDeadline(time.Now().Add(writeWait))
	if err := s.conn.WriteMessage(websocket.TextMessage, message); err != nil {
		return fmt.Errorf("%w: %w", ErrGone, err)
	}
	return nil
}
