// Package realtime presents an engine that hears and speaks by itself as the three engines of one call: recogniser,
// language model and voice. The conductor then keeps the floor, the meter, the recording, the functions and the
// history as with three engines, and knows nothing of the difference.
//
//	hear.go   the recogniser: the caller's audio to the session, what it heard as results
//	think.go  the model: a request is answered by the reply that the engine gives to the turn, or is asked for
//	speak.go  the voice: the audio of that reply, cut at the sentences that the conductor asks for
//	reply.go  a reply of the engine's, as it comes
//
// The engine answers each turn that it hears, at once. A turn that the conductor drops (a backchannel, a noise) leaves
// a reply that nobody takes: it is interrupted, and cut out of the engine's history, when the next turn is heard. So
// engines are their own speculation; the conductor's is switched off beside them.
package realtime

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"parley/inference"
)

// errSession is the fault of a session that ends without a reason.
var errSession = errors.New("the session ended")

// Call is a realtime engine in one call. Its session lasts as long as the stream that its recogniser has open, and
// begins with the conversation so far. Safe for use from several goroutines.
type Call struct {
	engine inference.Realtime

	mu       sync.Mutex
	config   inference.RealtimeConfig
	session  inference.Session // nil: none is open
	changed  chan struct{}     // closed at each change
	heard    bool              // the caller has spoken since the latest request
	given    map[string]bool   // results of functions that the engine has, by call
	asked    []*reply          // replies that were asked for and have not begun
	replies  []*reply          // those that have begun and were not spoken to their end, oldest first
	speaking *utterance        // the latest that has audio
	pace     pace
}

// New returns engine for a call that begins with c.
func New(engine inference.Realtime, c inference.RealtimeConfig) *Call {
	return &Call{engine: engine, config: c, changed: make(chan struct{}), given: map[string]bool{}, pace: startPace}
}

// open begins the session of r.
func (c *Call) open(r *recognition) error {
	c.mu.Lock()
	config := c.config
	c.mu.Unlock()
	s, err := c.engine.Open(r.ctx, config)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	r.session, c.session = s, s
	c.signalLocked()
	return nil
}

// pump takes the events of r's session until it ends.
func (c *Call) pump(r *recognition) {
	for e := range r.session.Events() {
		if e.Err != nil {
			r.failed = e.Err
			return
		}
		c.mu.Lock()
		c.takeLocked(r, e)
		c.signalLocked()
		c.mu.Unlock()
	}
}

// ended fails what waits for r's session, which has ended.
func (c *Call) ended(r *recognition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.session == r.session {
		c.session = nil
		for _, p := range slices.Concat(c.replies, c.asked) {
			p.fail(r.failed)
		}
		c.replies, c.asked = nil, nil
	}
	r.queue = append(r.queue, inference.Result{Err: r.failed})
	c.signalLocked()
}

// takeLocked takes an event of the session.
func (c *Call) takeLocked(r *recognition, e inference.RealtimeEvent) {
	switch e.Kind {
	case inference.RealtimeSpeechStart:
		r.queue = append(r.queue, inference.Result{Event: inference.EventSpeechStart, Utterance: r.finished + 1, Confidence: -1})
	case inference.RealtimeHeard:
		c.heard = true
		c.dropLocked(func(p *reply) bool { return !p.taken })
		r.heardLocked(e.Text)
	case inference.RealtimeReply:
		p := &reply{}
		if len(c.asked) > 0 {
			p, c.asked = c.asked[0], c.asked[1:]
		}
		p.item = e.Item
		c.replies = append(c.replies, p)
	default:
		if p := c.replyLocked(e.Item); p != nil && p.add(e) {
			c.pace.learn(p)
		}
	}
}

// replyLocked is the reply of an item; nil: it was dropped.
func (c *Call) replyLocked(item string) *reply {
	for _, p := range c.replies {
		if p.item == item {
			return p
		}
	}
	return nil
}

// dropLocked drops the replies of which drop says so: the engine stops making them, and forgets them.
func (c *Call) dropLocked(drop func(*reply) bool) {
	kept := c.replies[:0]
	for _, p := range c.replies {
		if !drop(p) {
			kept = append(kept, p)
			continue
		}
		c.interruptLocked(p, 0)
	}
	clear(c.replies[len(kept):])
	c.replies = kept
}

// interruptLocked ends a reply of which the caller has heard so much.
func (c *Call) interruptLocked(p *reply, heard time.Duration) {
	if c.session == nil || p.item == "" {
		return
	}
	c.stopLocked(p)
	if c.engine.Info().Caps.Truncate && heard < p.length {
		c.session.Truncate(p.item, heard)
	}
}

// stopLocked has the engine make no more of a reply.
func (c *Call) stopLocked(p *reply) {
	if !p.over && c.session != nil {
		c.session.Interrupt()
		p.fail(inference.ErrUtteranceEnded)
	}
}

// askLocked asks the engine for a reply.
func (c *Call) askLocked(instructions string) *reply {
	p := &reply{taken: true}
	c.asked = append(c.asked, p)
	c.session.Reply(instructions)
	return p
}

// Interrupted tells that the caller has interrupted the agent, of whose latest utterance they have heard so much.
func (c *Call) Interrupted(heard time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.speaking == nil {
		return
	}
	for _, p := range c.speaking.spoken {
		c.interruptLocked(p, min(heard, p.length))
		heard = max(0, heard-p.length)
	}
	c.speaking = nil
	c.signalLocked()
}

// await blocks until done, which is called with the lock held, says true, or ctx ends.
func (c *Call) await(ctx context.Context, done func() bool) error {
	for {
		c.mu.Lock()
		ok, changed := done(), c.changed
		c.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (c *Call) signalLocked() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// info describes the engine as one of the three.
func (c *Call) info() inference.Info {
	info := c.engine.Info()
	info.Feed, info.Raw, info.NormalisesText = inference.FeedContinuous, true, true
	info.Caps.TextStream = true
	return info
}
