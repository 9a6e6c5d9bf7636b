package cartesiatest

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// utterance is one context. The reader gives it text, its queue speaks.
type utterance struct {
	*speakingtest.Speaker
	socket *socket
	first  *request
	hold   *time.Timer // speaks what was held for too long
	life   *time.Timer // ends it when it was silent for too long

	mu      sync.Mutex
	voice   speakingtest.Voice
	text    string // all of it
	held    string // until more text, the end, or hold
	pieces  int    // that are not spoken yet
	flushes int    // that were queued
	state   state
}

// state is how far a context is.
type state string

const (
	open      state = ""
	finishing state = "finishing" // no more text
	done      state = "done"
	cancelled state = "cancelled"
	expired   state = "expired"
)

func newUtterance(k *socket, r *request) *utterance {
	s := k.server
	c := &utterance{Speaker: s.Speaker(r.Context, s.Queue(k.wire), s.script.Delays), socket: k, first: r, voice: newVoice(r)}
	c.hold, c.life = time.AfterFunc(time.Hour, c.speakHeld), time.AfterFunc(time.Hour, c.expire)
	c.hold.Stop()
	c.life.Stop()
	return c
}

// refuses says why a message cannot go on in the context; "": it can.
func (c *utterance) refuses(r *request) string {
	c.mu.Lock()
	defer c.mu.Unlock()
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
	isHeld := c.held != ""
	c.text += *r.Transcript
	c.held += *r.Transcript
	c.socket.server.Change(func() { c.Text = c.text })
	if c.state != open {
		return isGlued // it expired meanwhile
	}
	delay := defaultBufferDelay
	if c.first.MaxBufferDelay != nil {
		delay = *c.first.MaxBufferDelay
	}
	now := len(c.held)
	if delay > 0 && r.Continue && !r.Flush {
		now = loopbacktest.Sentences(c.held)
	}
	if now > 0 || r.Flush {
		c.speakLocked(now, r.Flush)
		isHeld = false
	}
	if c.held != "" && !isHeld {
		c.hold.Reset(time.Duration(delay) * time.Millisecond)
	}
	if !r.Continue {
		c.endLocked(finishing)
	}
	return isGlued
}

// speakHeld speaks all that is held.
func (c *utterance) speakHeld() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == open && c.held != "" {
		c.speakLocked(len(c.held), false)
	}
}

// speakLocked queues the audio of so many bytes of what is held, and what says that all was said.
func (c *utterance) speakLocked(n int, flush bool) {
	text := c.held[:n]
	c.held = c.held[n:]
	c.hold.Stop()
	c.life.Stop()
	c.pieces++
	for _, k := range c.voice.Chunks(text) {
		c.Say(k, c.chunk(k), c.times(k)...)
	}
	id := c.flushes
	if flush {
		c.flushes++
	}
	c.Out.Add(loopbacktest.Outgoing{Message: func() any {
		c.spoken()
		if !flush {
			return nil
		}
		return map[string]any{"type": "flush_done", "flush_done": true, "done": false, "status_code": 206, "context_id": c.ID, "flush_id": id}
	}})
}

// spoken notes that a piece was said: with the last one the context begins to be silent.
func (c *utterance) spoken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pieces--; c.pieces == 0 && c.state == open {
		c.life.Reset(c.socket.server.script.ContextLife)
	}
}

// expire ends an open context that nothing was said in for too long.
func (c *utterance) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == open && c.held == "" && c.pieces == 0 {
		c.endLocked(expired)
	}
}

func (c *utterance) cancel() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == open || c.state == finishing {
		c.Out.Cut(c.socket.server.script.LateChunks)
		c.endLocked(cancelled)
	}
}

// endLocked ends the context after what is queued.
func (c *utterance) endLocked(how state) {
	c.state = how
	c.hold.Stop()
	c.life.Stop()
	c.Out.Add(loopbacktest.Outgoing{Last: true, Message: c.over})
}

// over is what says that the context has ended, where the vendor does.
func (c *utterance) over() any {
	c.mu.Lock()
	if c.state == finishing {
		c.state = done
	}
	state := c.state
	c.mu.Unlock()
	c.end(string(state)) // before the client hears of it
	e := c.socket.server.script.Endings
	if state == cancelled && !e.DoneAfterCancel || state == expired && !e.DoneAfterExpiry {
		return nil
	}
	return map[string]any{"type": "done", "done": true, "status_code": 200, "context_id": c.ID}
}

// cut ends the context with its connection.
func (c *utterance) cut() {
	c.hold.Stop()
	c.life.Stop()
	c.end("cut")
}

// end notes how the context ended.
func (c *utterance) end(how string) {
	if c.Over(how) {
		c.socket.change(-1)
	}
}
