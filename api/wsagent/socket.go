package wsagent

import (
	"errors"
	"sync/atomic"
	"time"

	sockets "parley/api/socket"
	"parley/media"
	"parley/media/isolate"
)

// Bounds of a socket.
const (
	maxMessage = 1 << 20 // bytes a message; a longer one is answered with 1009
	// queueSize is what may wait for a slow client: some seconds of messages. A
	// client that lets it fill up is disconnected, for text is never dropped.
	queueSize  = 512
	bufferPool = 64 // audio frames in flight: four times the default lead
	writeWait  = 5 * time.Second
)

// buffer is one 20 ms frame on its way out.
type buffer struct {
	data  [2 * int(RateOut) / 50]byte
	n     int
	epoch int64
	of    *socket
}

// Bytes implements socket.Late: audio that was flushed is not sent.
func (b *buffer) Bytes() []byte {
	if b.epoch != b.of.epoch.Load() {
		return nil
	}
	return b.data[:b.n]
}

// Written implements socket.Late.
func (b *buffer) Written() { b.of.free <- b }

// outlet is what a leg's messages go to: a socket.Socket.
type outlet interface {
	Offer(sockets.Late)
	OfferText([]byte)
	Drop(cause error)
	Close(code int, why string)
	Gone() <-chan struct{}
	Cause() error
}

// socket is the messages to one client, and the audio among them, in one order.
type socket struct {
	outlet
	free  chan *buffer
	epoch atomic.Int64 // audio of an older one is dropped
}

func newSocket(out outlet) *socket {
	s := &socket{outlet: out, free: make(chan *buffer, bufferPool)}
	for range bufferPool {
		s.free <- &buffer{of: s}
	}
	return s
}

var (
	errSlow   = &media.Ended{Reason: media.Failed, Detail: media.SlowClient}
	errTooBig = &media.Ended{Reason: media.Failed, Detail: "message_too_large"}
)

// fault is why the client was lost; nil for an ordinary end, and before it.
func (s *socket) fault() error {
	switch cause := s.Cause(); {
	case errors.Is(cause, sockets.ErrSlow):
		return errSlow
	case errors.Is(cause, sockets.ErrTooLong):
		return errTooBig
	case errors.Is(cause, isolate.Internal):
		return cause
	}
	return nil
}

// buffer is an empty frame to fill, or nil when the client is too slow.
func (s *socket) buffer() *buffer {
	select {
	case b := <-s.free:
		return b
	default:
		s.Drop(sockets.ErrSlow)
		return nil
	}
}

func (s *socket) sendAudio(b *buffer) {
	b.epoch = s.epoch.Load()
	s.Offer(b)
}

// flush drops the audio that is queued. A frame that is being written goes out
// before whatever is queued next.
func (s *socket) flush() { s.epoch.Add(1) }
