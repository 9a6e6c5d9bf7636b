package pipeline

import (
	"context"
	"errors"
	"sync"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/turn"
)

// Call is one conversation. New, then Prepare, then Run; the other exported
// methods may be called from any goroutine while Run runs, and block only while
// the mailbox is full.
type Call struct {
	cfg  Config
	box  chan message
	life context.Context
	kill context.CancelCauseFunc
	work sync.WaitGroup // every goroutine of the call but the conductor

	// The rest belongs to the conductor.
	agent    Agent
	leg      media.Leg
	format   media.Format
	state    turn.State
	acts     []turn.Action
	pending  []turn.Event
	stepping bool
	ear      ear
	levels   levels
	shown    string         // the caller's words as last shown
	owed     map[int]*reply // completions whose usage is not reported
	mouth    mouth
	history  history
	lines    *lineCache
	tools    toolbox
	reply    *reply // the latest; nil before the first
	replies  int    // completions begun
	number   int    // public generation
	idle     bool   // the observer was last told that the agent listens
	wallAt   time.Time
	clockAt  media.Time
	start    time.Time
	active   time.Time // when somebody last spoke
	ended    *media.Ended
}

// messageKind says what a message brings.
type messageKind uint8

const (
	msgResult     messageKind = iota + 1 // result of the recogniser
	msgSentence                          // text: a sentence of a reply begins
	msgAudio                             // chunk of the sentence seg
	msgSpoken                            // the sentence seg is complete
	msgTool                              // call of a reply
	msgWritten                           // the model is done: usage, err
	msgDone                              // all audio is made: err
	msgToolResult                        // id, text from the client
	msgTyped                             // text
	msgInterrupt                         //
	msgStop                              // stop
	msgUpdate                            // update
)

// message is what the conductor's mailbox carries.
type message struct {
	kind   messageKind
	gen    int // reply it belongs to
	seg    int
	text   string
	id     string
	result inference.Result
	chunk  inference.Chunk
	call   inference.ToolCall
	usage  inference.Usage
	err    error
	at     time.Time // when the engine gave it
	stop   turn.Event
	update func(*Agent)
}

// errOver is why posting to a call that has ended fails.
var errOver = errors.New("pipeline: the call is over")

// post delivers m unless ctx ends first.
func (c *Call) post(ctx context.Context, m message) bool {
	select {
	case c.box <- m:
		return true
	case <-ctx.Done():
		return false
	}
}

// spawn starts a goroutine of the call.
func (c *Call) spawn(f func()) {
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		f()
	}()
}

// settle waits for every goroutine of the call and drops what they still post,
// but for usage: what was consumed is counted.
func (c *Call) settle() {
	c.ear.close()
	done := make(chan struct{})
	go func() {
		c.work.Wait()
		close(done)
	}()
	for {
		select {
		case m := <-c.box:
			if m.kind == msgWritten {
				c.written(m)
			}
		case <-done:
			for {
				select {
				case m := <-c.box:
					if m.kind == msgWritten {
						c.written(m)
					}
				default:
					return
				}
			}
		}
	}
}

// Run conducts the call on leg until it ends and returns why it did. The leg's
// Run is part of it. Every goroutine of the call has ended when it returns.
func (c *Call) Run(leg media.Leg) media.Ended {
	c.leg, c.format = leg, leg.Format()
	c.ear.begin(c.format.In)
	c.mouth.begin(c.format.Out)
	gone := make(chan error, 1)
	go func() { gone <- leg.Run(c.life) }()
	if results := c.ear.results(); results != nil {
		c.spawn(func() { c.forward(results) })
	}
	c.start = time.Now()
	c.wallAt, c.active = c.start, c.start
	c.step(turn.Event{Kind: turn.Ready})
	legErr, legGone := c.conduct(gone)
	c.kill(c.ended)
	if !legGone {
		legErr = <-gone
	}
	c.finish(legErr, legGone)
	return *c.ended
}

// conduct is the loop: everything that can happen to a call happens here.
func (c *Call) conduct(gone <-chan error) (legErr error, legGone bool) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c.ended == nil {
		timer.Reset(time.Until(c.leg.Next()))
		select {
		case <-timer.C:
		case m := <-c.box:
			c.take(m)
		case e := <-c.leg.Events():
			c.legEvent(e)
		case err := <-gone:
			if c.life.Err() != nil {
				c.ended = endedBy(context.Cause(c.life))
			}
			return err, true
		case <-c.life.Done():
			c.ended = endedBy(context.Cause(c.life))
			return nil, false
		}
		c.empty()
		now := time.Now()
		c.hear(now)
		c.speak(now)
		c.limits(now)
	}
	return nil, false
}

// empty takes what else is in the mailbox, so that audio and the events before
// it meet the next frame together.
func (c *Call) empty() {
	for range mailboxSize {
		select {
		case m := <-c.box:
			c.take(m)
		default:
			return
		}
	}
}

// finish closes the books of a call whose leg has ended.
func (c *Call) finish(legErr error, legGone bool) {
	if c.ended == nil {
		c.ended = &media.Ended{Reason: media.UserHangup}
		if legErr != nil {
			c.ended = endedBy(legErr)
		}
	}
	c.kill(c.ended)
	if r := c.reply; r != nil && r.live {
		c.mouth.advance(c.leg.Played(time.Now()))
		if r.audible {
			c.conclude(true)
		} else {
			c.discard()
		}
	}
	c.cancelTools()
	c.settle()
	c.emit(Event{Kind: End, Ended: *c.ended})
}

// endedBy turns the cause of an end into the words for it.
func endedBy(cause error) *media.Ended {
	var e *media.Ended
	if errors.As(cause, &e) {
		return e
	}
	if errors.Is(cause, context.Canceled) || errors.Is(cause, context.DeadlineExceeded) {
		return &media.Ended{Reason: media.APIHangup}
	}
	return &media.Ended{Reason: media.Failed, Detail: "leg"}
}

// forward hands the recogniser's results to the conductor.
func (c *Call) forward(results <-chan inference.Result) {
	for r := range results {
		if !c.post(c.life, message{kind: msgResult, result: r}) {
			return
		}
	}
}

// clock is the call's media time: the end of what was heard, and between two
// frames as much as has passed since, at most one frame.
func (c *Call) clock() media.Time {
	since := min(media.FromDuration(time.Since(c.wallAt)), media.FrameTime)
	c.clockAt = max(c.clockAt, c.ear.heard+since)
	return c.clockAt
}

func (c *Call) emit(e Event) {
	switch e.Kind {
	case Listening:
		if c.idle {
			return
		}
		c.idle = true
	case Thinking, Speaking:
		c.idle = false
	}
	e.At = c.clock()
	c.cfg.Observe(e)
}

// Type is a turn the caller typed.
func (c *Call) Type(text string) { c.post(c.life, message{kind: msgTyped, text: text}) }

// Interrupt stops the agent, as a button does.
func (c *Call) Interrupt() { c.post(c.life, message{kind: msgInterrupt}) }

// ToolResult answers the function call id. Unknown and repeated ids are ignored.
func (c *Call) ToolResult(id, result string) {
	c.post(c.life, message{kind: msgToolResult, id: id, text: result})
}

// Update changes the agent from its next reply on. It runs on the conductor and
// must not block; the language of the recogniser does not change.
func (c *Call) Update(change func(*Agent)) { c.post(c.life, message{kind: msgUpdate, update: change}) }

// Stop ends the call: with goodbye the agent finishes its sentence and says its
// last words first, which takes 8 s at most.
func (c *Call) Stop(reason media.EndReason, detail string, goodbye bool) {
	e := turn.Event{Kind: turn.Stop, Reason: reason, Detail: detail}
	if goodbye {
		e.Line = turn.Goodbye
	}
	c.post(c.life, message{kind: msgStop, stop: e})
}
