package elevenlabstest

import (
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// utterance is one context. The reader gives it text, its queue speaks.
type utterance struct {
	*speakingtest.Speaker
	socket   *socket
	id       *string // nil: the default context
	schedule []float64
	life     *time.Timer // ends it when it got no message for too long

	mu     sync.Mutex
	voice  voice
	begun  bool   // it was given its first message
	held   string // until there is enough, or a flush
	chunks int    // that the schedule made
	state  state
}

// state is how far a context is.
type state string

const (
	open    state = ""
	closed  state = "closed"  // no more text
	expired state = "expired" // likewise
)

func newUtterance(k *socket, r *request) *utterance {
	s := k.server
	c := &utterance{Speaker: s.Speaker(r.id(), s.Queue(k.wire), s.script.Delays), socket: k, id: r.Context, schedule: r.schedule(), voice: newVoice(k, r)}
	c.mu.Lock() // the timer's goroutine looks at it
	defer c.mu.Unlock()
	c.life = time.AfterFunc(k.query.inactivity, func() { c.finish(expired) })
	return c
}

// now is the state of the context.
func (c *utterance) now() state {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// isNew says once that the context has no message yet.
func (c *utterance) isNew() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	begun := c.begun
	c.begun = true
	return !begun
}

// say takes the text of a message.
func (c *utterance) say(text string, flush bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.socket.server.Change(func() { c.Text += text })
	if c.state != open {
		return // it expired meanwhile
	}
	c.life.Reset(c.socket.query.inactivity)
	c.held += text
	n := c.readyLocked()
	if flush {
		n = len(c.held)
	}
	if strings.TrimSpace(c.held[:n]) != "" {
		for _, k := range c.voice.chunks(c.held[:n]) {
			c.Say(k.Chunk, c.message(k))
		}
	}
	c.held = c.held[n:]
}

// readyLocked is how many bytes of what is held are spoken without a flush.
func (c *utterance) readyLocked() int {
	if c.socket.query.auto {
		return loopbacktest.Sentences(c.held)
	}
	if float64(utf8.RuneCountInString(c.held)) < c.schedule[min(c.chunks, len(c.schedule)-1)] {
		return 0
	}
	c.chunks++
	return len(c.held)
}

// close ends the context. It says false to a second one.
func (c *utterance) close() bool { return c.finish(closed) != closed }

// finish ends an open context, and returns the state that it was in. What was not to be spoken yet never is.
func (c *utterance) finish(how state) (was state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state != open {
		return c.state
	}
	c.state = how
	c.life.Stop()
	s := c.socket.server
	if late := s.script.LateChunks; late != 0 && how == closed {
		c.Out.Cut(max(0, late))
	}
	c.Out.Add(loopbacktest.Outgoing{Delay: s.script.Final, Message: func() any {
		c.end(string(how)) // before the client hears of it
		m := s.script.Spelling.message(c.id, true)
		m["audio"], m["alignment"], m["normalizedAlignment"] = nil, nil, nil
		return m
	}})
	c.Out.Add(loopbacktest.Outgoing{Last: true, Before: c.socket.left})
	return open
}

// cut ends the context with its connection.
func (c *utterance) cut() {
	c.life.Stop()
	c.end("cut")
}

// end notes how the context ended, which does not count any more; its isFinal is sent after that.
func (c *utterance) end(how string) {
	if c.Over(how) {
		c.socket.mu.Lock()
		defer c.socket.mu.Unlock()
		c.socket.active--
	}
}
