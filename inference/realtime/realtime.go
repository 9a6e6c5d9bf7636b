// Package realtime presents an engine that hears and speaks by itself as the three engines of one call: recogniser,
// language model and voice. The conductor then keeps the floor, the meter, the recording, the functions and the
// history as with three engines, and knows nothing of the difference.
//
//	hear.go   the recogniser: the caller's audio to the session, what it heard as results
//	think.go  the model: a request is answered by the reply that the engine gives to the turn, or is asked for
//	speak.go  the voice: the audio of that reply, cut at the sentences that the conductor asks for
//	reply.go  a reply of the engine's, as it comes
//	renew.go  another session in place of one that ends soon
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
	"parley/media/isolate"
)

// errSession is the fault of a session that ends without a reason.
var errSession = errors.New("the session ended")

// Call is a realtime engine in one call. Its session lasts as long as the stream that its recogniser has open, and
// begins with the conversation so far. Safe for use from several goroutines.
type Call struct {
	engine inference.Realtime
	used   func(inference.Usage)

	mu       sync.Mutex
	config   inference.RealtimeConfig
	session  inference.Session // nil: none is open
	changed  chan struct{}     // closed at each change
	hearing  bool              // the caller has begun a turn
	heard    bool              // the caller has spoken since the latest request
	requests int               // that wait for their replies to begin
	vain     int               // sessions in a row that have failed, and neither heard nor said anything
	given    map[string]bool   // results of functions that the engine has, by call
	asked    []*reply          // replies that were asked for and have not begun
	replies  []*reply          // those that have begun and were not spoken to their end, oldest first
	said     []*reply          // those that are not in the history of the latest request
	speaking *utterance        // the latest that has audio
	quiet    time.Time         // when all audio that was given will have been played
	unbilled inference.Usage   // text of replies that answer no request
	pace     pace
}

// New returns engine for a call that begins with c. used, unless nil, is called with what each reply has consumed, those
// that nobody takes too; it must not block.
func New(engine inference.Realtime, c inference.RealtimeConfig, used func(inference.Usage)) *Call {
	if used == nil {
		used = func(inference.Usage) {}
	}
	return &Call{engine: engine, used: used, config: c, changed: make(chan struct{}), given: map[string]bool{}, pace: startPace}
}

// open begins the session of r.
func (c *Call) open(r *recognition) error {
	s, err := c.engine.Open(r.ctx, c.now())
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.useLocked(r, s)
	return nil
}

// now is what a session begins with that is opened now.
func (c *Call) now() inference.RealtimeConfig {
	c.mu.Lock()
	defer c.mu.Unlock()
	config := c.config
	config.History = slices.Clone(config.History)
	for _, p := range c.said {
		if m := p.message(); m.Text != "" {
			config.History = append(config.History, m)
		}
	}
	return config
}

// useLocked makes s the session of r.
func (c *Call) useLocked(r *recognition, s inference.Session) {
	r.session.Store(&s)
	c.session, c.hearing = s, false
	failed := error(&inference.Error{Engine: c.engine.Info().Name, Fault: inference.ErrFailed, Err: errSession})
	isolate.Go("inference/realtime/session", func(error) {}, func() { failed = c.pump(r, s, failed) }, func() { c.ended(r, s, failed) })
	c.signalLocked()
}

// pump takes the events of r's session s until it ends, and returns why: otherwise, when the session does not say.
func (c *Call) pump(r *recognition, s inference.Session, otherwise error) error {
	for e := range s.Events() {
		if e.Err != nil {
			return e.Err
		}
		c.mu.Lock()
		c.takeLocked(r, e)
		c.signalLocked()
		c.mu.Unlock()
	}
	return otherwise
}

// ended fails what waits for r's session s, which has ended, unless another one has replaced it.
func (c *Call) ended(r *recognition, s inference.Session, failed error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *r.session.Load() != s {
		return
	}
	if r.ctx.Err() == nil { // nobody has closed it
		if c.vain++; c.vain >= maxVain {
			failed = &inference.Error{Engine: c.engine.Info().Name, Fault: inference.ErrRefused, Err: errVain}
		}
	}
	if c.session == s {
		c.session = nil
		for _, p := range slices.Concat(c.replies, c.asked) {
			p.fail(failed)
		}
		c.replies, c.asked = nil, nil
	}
	r.queue = append(r.queue, inference.Result{Err: failed})
	c.signalLocked()
}

// takeLocked takes an event of the session.
func (c *Call) takeLocked(r *recognition, e inference.RealtimeEvent) {
	switch e.Kind {
	case inference.RealtimeExpires:
		isolate.Go("inference/realtime/renew", r.cancel, func() { c.renew(r) })
	case inference.RealtimeUsed:
		c.used(*e.Usage) // its request has an estimate
	case inference.RealtimeSpeechStart:
		c.hearing = true
		r.queue = append(r.queue, inference.Result{Event: inference.EventSpeechStart, Utterance: r.finished + 1, Confidence: -1})
	case inference.RealtimeHeard:
		c.hearing, c.heard, c.vain = false, true, 0
		c.dropLocked(func(p *reply) bool { return p.use == untaken })
		r.heardLocked(e.Text)
	case inference.RealtimeReply:
		p := &reply{}
		if len(c.asked) > 0 {
			p, c.asked = c.asked[0], c.asked[1:]
		}
		p.item = e.Item
		c.replies, c.said = append(c.replies, p), append(c.said, p)
	default:
		p := c.replyLocked(e.Item)
		if e.Usage != nil {
			e.Usage = c.countLocked(p, *e.Usage)
		}
		if p != nil && p.add(e) {
			c.vain = 0
			c.pace.learn(p)
		}
	}
}

// countLocked reports what a reply has consumed, and returns what its request gets. Tokens of text are counted with
// requests: those of a reply to none (a line, one that nobody takes) with the next request that is answered.
func (c *Call) countLocked(p *reply, u inference.Usage) *inference.Usage {
	c.used(u)
	switch {
	case p == nil || p.use != answer:
		c.unbilled = c.unbilled.Plus(inference.Usage{In: u.In, Out: u.Out, Cached: u.Cached})
	case !p.over:
		u = c.unbilled.Plus(u)
		c.unbilled = inference.Usage{}
	}
	return &u
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
	if heard >= p.length {
		return
	}
	p.heard = &heard
	if c.engine.Info().Caps.Truncate {
		c.session.Truncate(p.item, heard)
	}
}

// stopLocked has the engine make no more of a reply.
func (c *Call) stopLocked(p *reply) {
	if !p.over && c.session != nil {
		c.session.Interrupt(p.item)
		p.fail(inference.ErrUtteranceEnded)
	}
}

// askLocked asks the engine for a reply.
func (c *Call) askLocked(instructions string, use use) *reply {
	p := &reply{use: use}
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
	info.Caps.TextStream, info.Caps.Detects = true, true
	return info
}
