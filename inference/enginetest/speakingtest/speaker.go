package speakingtest

import (
	"time"

	"parley/inference/enginetest/loopbacktest"
)

// Fake is the part of a fake that is the same for every voice: a server, and what became known of its contexts.
type Fake struct {
	*loopbacktest.Server
	Log
}

// Delays are drawn each time, by the clock. Nil: none.
type Delays struct {
	FirstAudio func() time.Duration // a context's first audio after its text was given to be spoken
	Chunk      func() time.Duration // each later chunk
}

// Sent notes a chunk of a context that was sent, in the books too.
func (s *Fake) Sent(c *Context, k Chunk) {
	s.Note(func(b *loopbacktest.Books) {
		b.AudioBytes += int64(len(k.Audio))
		b.Audio += k.Length
	})
	s.Change(func() { c.Audio += k.Length })
}

// Over notes how a context ended, which is not busy any more, and says whether it had not.
func (s *Fake) Over(c *Context, how string) bool {
	isOver := s.End(c, how)
	if isOver {
		s.Leave()
	}
	return isOver
}

// Speaker speaks one context. It is called from one goroutine at a time.
type Speaker struct {
	*Context
	Out *loopbacktest.Queue

	server *Fake
	delays Delays
	begun  bool // its first audio was queued
}

// Speaker begins a context, which speaks through out.
func (s *Fake) Speaker(id string, out *loopbacktest.Queue, d Delays) *Speaker {
	return &Speaker{Context: s.Begin(id), Out: out, server: s, delays: d}
}

// Say queues a chunk as the engine's message of it, and the messages that follow that at once.
func (p *Speaker) Say(k Chunk, message any, also ...any) {
	delay := p.delays.Chunk
	if !p.begun {
		delay, p.begun = p.delays.FirstAudio, true
	}
	p.Out.Add(loopbacktest.Outgoing{Delay: delay, Audio: p, Message: message, Also: also, Sent: func() { p.server.Sent(p.Context, k) }})
}

// Over is the server's, of this context.
func (p *Speaker) Over(how string) bool { return p.server.Over(p.Context, how) }
