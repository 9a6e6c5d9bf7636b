package elevenlabstest

import (
	"context"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
)

// utterance is one context. The reader gives it text, its own goroutine speaks.
type utterance struct {
	socket   *socket
	id       *string // nil: the default context
	record   *Context
	schedule []float64
	wake     chan struct{} // there is more to do
	ctx      context.Context
	stop     context.CancelFunc // when a close leaves no more than LateChunks to be sent
	voice    voice              // of the goroutine
	late     int                // chunks that may be sent after stop; of the goroutine

	mu     sync.Mutex
	begun  bool     // it was given its first message
	pieces []string // to be spoken in one go each
	held   string   // until there is enough, or a flush
	chunks int      // that the schedule made
	dies   time.Time
	state  state
}

// state is how far a context is.
type state string

const (
	open    state = ""
	closed  state = "closed"  // no more text
	expired state = "expired" // likewise
	cut     state = "cut"     // its connection ended
)

func newUtterance(k *socket, r *request) *utterance {
	c := &utterance{socket: k, id: r.Context, record: k.server.log.Begin(r.id()), schedule: r.schedule(), wake: make(chan struct{}, 1),
		voice: newVoice(k, r), late: max(0, k.server.script.LateChunks)}
	c.dies = time.Now().Add(k.query.inactivity)
	c.ctx, c.stop = context.WithCancel(k.wire.Context())
	return c
}

// now is the state of the context.
func (c *utterance) now() state {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked()
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
	c.dies = time.Now().Add(c.socket.query.inactivity)
	c.held += text
	n := c.readyLocked()
	if flush {
		n = len(c.held)
	}
	if strings.TrimSpace(c.held[:n]) != "" {
		c.pieces = append(c.pieces, c.held[:n])
	}
	c.held = c.held[n:]
	c.socket.server.log.Note(func() { c.record.Text += text })
	c.wakeUp()
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

func (c *utterance) wakeUp() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// close ends the context. What was not to be spoken yet never is. It says false to a second one.
func (c *utterance) close() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked()
	if c.state != open {
		return c.state != closed
	}
	c.state, c.held = closed, ""
	if late := c.socket.server.script.LateChunks; late != 0 {
		c.stop()
		if late < 0 {
			c.pieces = nil
		}
	}
	c.wakeUp()
	return true
}

// expireLocked ends an open context that got no message for too long.
func (c *utterance) expireLocked() {
	if c.state == open && !time.Now().Before(c.dies) {
		c.state, c.held = expired, ""
	}
}

// run speaks until the context ends.
func (c *utterance) run() {
	defer c.stop()
	for {
		text, wait, ok := c.next()
		switch {
		case ok:
			c.speak(text)
		case wait <= 0:
			c.over()
			return
		default:
			c.sleep(wait)
		}
	}
}

// sleep waits for more to do, for so long at most.
func (c *utterance) sleep(wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-c.wake:
	case <-timer.C:
	case <-c.socket.wire.Context().Done():
	}
}

// next is what to speak, or how long to wait for it; 0: the context is over.
func (c *utterance) next() (text string, wait time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.socket.wire.Context().Err() != nil {
		c.state = cut
		return "", 0, false
	}
	c.expireLocked()
	switch {
	case len(c.pieces) > 0:
		text, c.pieces = c.pieces[0], c.pieces[1:]
		return text, 0, true
	case c.state != open:
		return "", 0, false
	}
	return "", max(1, time.Until(c.dies)), false
}

// over says that the context has ended.
func (c *utterance) over() {
	s, wire := c.socket.server, c.socket.wire
	s.Wait(wire.Context(), loopbacktest.Draw(s.script.Delays.Final))
	c.mu.Lock()
	if wire.Context().Err() != nil {
		c.state = cut
	}
	state := c.state
	c.mu.Unlock()
	s.log.End(c.record, string(state))
	c.socket.leave() // before the client hears of it
	if state != cut {
		m := s.script.Spelling.message(c.id, true)
		m["audio"], m["alignment"], m["normalizedAlignment"] = nil, nil, nil
		_ = wire.Write(m)
	}
	c.socket.left()
}

// speak sends the audio of a text with its alignments.
func (c *utterance) speak(text string) {
	s, wire := c.socket.server, c.socket.wire
	for _, chunk := range c.voice.chunks(text) {
		delay := s.script.Delays.Chunk
		if c.voice.sent == 0 {
			delay = s.script.Delays.FirstAudio
		}
		s.Wait(c.ctx, loopbacktest.Draw(delay))
		if c.ctx.Err() != nil {
			if c.late == 0 {
				return
			}
			c.late--
		}
		if err := c.send(chunk); err != nil {
			<-wire.Context().Done() // when it only stalls, it goes on to count as active
			return
		}
	}
}
