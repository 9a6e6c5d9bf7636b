package deepgramtest

import (
	"sync/atomic"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// playout sends what a voice has to say, in order, while the socket's reader goes on.
type playout struct {
	*loopbacktest.Queue
	server *Server
	length atomic.Int64 // of audio that was sent, or is being sent, in ns
}

// newPlayout begins to send until the connection ends.
func newPlayout(s *Server, k *loopbacktest.Socket) *playout {
	return &playout{Queue: s.Queue(k), server: s}
}

// tell queues a message, or what makes one when it is about to be sent.
func (p *playout) tell(message any) { p.Add(loopbacktest.Outgoing{Message: message}) }

// say queues audio of a speech.
func (p *playout) say(sp *Speech, c speakingtest.Chunk, delay func() time.Duration) {
	p.Add(loopbacktest.Outgoing{Delay: delay, Binary: c.Audio, Audio: sp,
		Before: func() { p.length.Add(int64(c.Length)) }, // before the client can answer it
		Sent:   func() { p.server.Sent(sp, c) }})
}

// sent is how much audio was sent.
func (p *playout) sent() time.Duration { return time.Duration(p.length.Load()) }
