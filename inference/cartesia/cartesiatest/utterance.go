package cartesiatest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// utterance is one context. The reader gives it text, its own goroutine speaks.
type utterance struct {
	socket *socket
	first  *request
	record *Context
	wake   chan struct{} // there is more to do
	ctx    context.Context
	stop   context.CancelFunc // on cancel

	// These belong to the goroutine.
	voice   speakingtest.Voice
	sent    int // chunks
	flushes int

	mu     sync.Mutex
	text   string // all of it
	pieces []piece
	held   string    // until more text, the end, or heldUntil
	until  time.Time // for held
	dies   time.Time // zero: not yet
	state  state
}

// piece is text to be spoken in one go.
type piece struct {
	text  string
	flush bool // say when it is done
}

// state is how far a context is.
type state string

const (
	open      state = ""
	finishing state = "finishing" // no more text
	done      state = "done"
	cancelled state = "cancelled"
	expired   state = "expired"
	cut       state = "cut" // its connection ended
)

func newUtterance(k *socket, r *request) *utterance {
	c := &utterance{socket: k, first: r, record: k.server.log.Begin(r.Context), wake: make(chan struct{}, 1), voice: newVoice(r)}
	c.ctx, c.stop = context.WithCancel(k.wire.Context())
	return c
}

// refuses says why a message cannot go on in the context; "": it can.
func (c *utterance) refuses(r *request) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expireLocked()
	switch {
	case c.state == finishing:
		return fmt.Sprintf("context %s goes on after continue: false", r.Context)
	case c.state != open:
		return fmt.Sprintf("context %s goes on although it is %s", r.Context, c.state)
	case r.Transcript == nil:
		return "transcript is missing"
	}
	if names := r.changed(c.first); len(names) > 0 {
		return fmt.Sprintf("context %s: %s changed within it", r.Context, strings.Join(names, ", "))
	}
	return ""
}

// say takes the text of a message, and says whether it follows a sentence without a space.
func (c *utterance) say(r *request) (isGlued bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	isGlued = glued(c.text, *r.Transcript)
	c.text += *r.Transcript
	c.held += *r.Transcript
	delay := defaultBufferDelay
	if c.first.MaxBufferDelay != nil {
		delay = *c.first.MaxBufferDelay
	}
	now := len(c.held)
	if delay > 0 && r.Continue && !r.Flush {
		now = loopbacktest.Sentences(c.held)
	}
	if now > 0 || r.Flush {
		c.pieces = append(c.pieces, piece{c.held[:now], r.Flush})
		c.held, c.until = c.held[now:], time.Time{}
	}
	if c.held != "" && c.until.IsZero() {
		c.until = time.Now().Add(time.Duration(delay) * time.Millisecond)
	}
	if !r.Continue {
		c.state = finishing
	}
	c.socket.server.log.Note(func() { c.record.Text = c.text })
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return isGlued
}

func (c *utterance) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == open || c.state == finishing {
		c.state = cancelled
		c.stop()
	}
}

// expireLocked ends an open context that nothing was said in for too long.
func (c *utterance) expireLocked() {
	if c.state == open && c.held == "" && len(c.pieces) == 0 && !c.dies.IsZero() && !time.Now().Before(c.dies) {
		c.state = expired
	}
}

// run speaks until the context ends.
func (c *utterance) run() {
	defer c.stop()
	for {
		p, wait, ok := c.next()
		switch {
		case ok:
			c.speak(p)
		case wait < 0:
			c.over()
			return
		default:
			c.sleep(wait)
		}
	}
}

// sleep waits for more to do, 0: for as long as it takes.
func (c *utterance) sleep(wait time.Duration) {
	var due <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-c.wake:
	case <-due:
	case <-c.ctx.Done():
	}
}

// next is what to speak, or how long to wait for it; below 0: the context is over.
func (c *utterance) next() (p piece, wait time.Duration, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil && c.state != cancelled {
		c.state = cut
	}
	c.expireLocked()
	switch {
	case c.state == cancelled || c.state == expired || c.state == cut:
		return p, -1, false
	case len(c.pieces) > 0:
		p, c.pieces, c.dies = c.pieces[0], c.pieces[1:], time.Time{}
		return p, 0, true
	case c.state == finishing:
		c.state = done
		return p, -1, false
	case c.held != "":
		if wait = time.Until(c.until); wait > 0 {
			return p, wait, false
		}
		p.text, c.held, c.until, c.dies = c.held, "", time.Time{}, time.Time{}
		return p, 0, true
	case c.dies.IsZero():
		return p, 0, false
	}
	return p, max(1, time.Until(c.dies)), false
}

// over says that the context has ended, where the vendor does.
func (c *utterance) over() {
	s := c.socket.server
	c.mu.Lock()
	state := c.state
	c.mu.Unlock()
	s.log.End(c.record, string(state))
	s.Leave() // before the client hears of it
	c.socket.change(-1)
	e := s.script.Endings
	if state == done || state == cancelled && e.DoneAfterCancel || state == expired && e.DoneAfterExpiry {
		_ = c.socket.wire.Write(map[string]any{"type": "done", "done": true, "status_code": 200, "context_id": c.first.Context})
	}
}

// speak sends the audio of a piece and the times of its words.
func (c *utterance) speak(p piece) {
	s := c.socket.server
	late := s.script.LateChunks
	for _, chunk := range c.voice.Chunks(p.text) {
		delay := s.script.Delays.Chunk
		if c.sent == 0 {
			delay = s.script.Delays.FirstAudio
		}
		s.Wait(c.ctx, loopbacktest.Draw(delay))
		if c.ctx.Err() != nil {
			if late--; late < 0 {
				return
			}
		}
		if err := c.send(chunk); err != nil {
			if errors.Is(err, loopbacktest.ErrStalled) {
				<-c.ctx.Done() // it goes on to count as active
			}
			return
		}
	}
	c.mu.Lock()
	c.dies = time.Now().Add(s.script.ContextLife)
	c.mu.Unlock()
	if p.flush {
		_ = c.socket.wire.Write(map[string]any{"type": "flush_done", "flush_done": true, "done": false, "status_code": 206, "context_id": c.first.Context, "flush_id": c.flushes})
		c.flushes++
	}
}
