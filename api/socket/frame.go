package socket

import (
	"errors"
	"sync/atomic"

	"parley/media"
)

// Outlet is what Frames go to: a Socket.
type Outlet interface {
	Offer(Late)
	OfferText([]byte)
	Drop(cause error)
	Close(code int, why string)
	Replace(code int, why string)
	Gone() <-chan struct{}
	Cause() error
	Lost() bool
}

// Frames are the audio of a conversation on its way to a client, among other messages and in one order with them. What was flushed
// is not sent any more, not even when it was queued already. Empty, Send and Flush belong to one goroutine.
type Frames struct {
	Outlet
	free  chan *Frame
	epoch atomic.Int64 // audio of an older one is dropped
}

// Frame is a message that a flush takes back: 20 ms of audio, or what goes with it.
type Frame struct {
	Data  []byte // of the capacity that NewFrames was given
	Text  bool   // it is a text message
	epoch int64
	of    *Frames
}

// NewFrames returns count frames of size bytes, which is what may be under way.
func NewFrames(out Outlet, count, size int) *Frames {
	s := &Frames{Outlet: out, free: make(chan *Frame, count)}
	for range count {
		s.free <- &Frame{Data: make([]byte, 0, size), of: s}
	}
	return s
}

// Empty is a frame to fill; nil: all are under way, and the client is disconnected because it is too slow.
func (s *Frames) Empty() *Frame {
	select {
	case b := <-s.free:
		b.Data, b.Text = b.Data[:0], false
		return b
	default:
		s.Drop(ErrSlow)
		return nil
	}
}

// Send queues a frame, which is not the caller's any more.
func (s *Frames) Send(b *Frame) {
	b.epoch = s.epoch.Load()
	s.Offer(b)
}

// Flush drops the frames that are queued. One that is being written goes out before whatever is queued next.
func (s *Frames) Flush() { s.epoch.Add(1) }

// Bytes implements Late: what was flushed is not sent.
func (b *Frame) Bytes() (data []byte, text bool) {
	if b.epoch != b.of.epoch.Load() {
		return nil, false
	}
	return b.Data, b.Text
}

// Written implements Late.
func (b *Frame) Written() { b.of.free <- b }

var (
	errSlow   = &media.Ended{Reason: media.Failed, Detail: media.SlowClient}
	errTooBig = &media.Ended{Reason: media.Failed, Detail: "message_too_large"}
)

// Fault is why the client of a conversation was lost, as its leg says it: a *media.Ended, also one for which the socket was dropped.
// nil: it has ended in the ordinary way, or not at all.
func (s *Frames) Fault() error {
	cause := s.Cause()
	ended, said := errors.AsType[*media.Ended](cause)
	switch {
	case errors.Is(cause, ErrSlow):
		return errSlow
	case errors.Is(cause, ErrTooLong):
		return errTooBig
	case said:
		return ended
	}
	return nil
}
