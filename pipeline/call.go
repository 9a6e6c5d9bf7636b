package pipeline

import (
	"context"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/journal"
	"parley/pipeline/listen"
	"parley/pipeline/playout"
	"parley/pipeline/reply"
	"parley/pipeline/toolbox"
	"parley/pipeline/turn"
)

// Call is one conversation. New, then Prepare, then Run; Type, Interrupt,
// ToolResult, Update and Stop may be called from any goroutine from Prepare on,
// after the end too, when they do nothing. All but Stop block while the mailbox is
// full, so Observe must not call them.
type Call struct {
	cfg  Config
	crew crew
	// The rest belongs to the conductor.
	observer *journal.Observer // of what does not follow from earlier inputs
	shown    shown
	agent    agent.Agent
	leg      *journal.Leg // recorded, where the call is to be
	far      media.Leg    // the same, for what else it can do
	state    turn.State
	steps    steps
	scoring  context.CancelFunc // of the latest question to the scorer; nil: there was none
	caller   listen.Caller
	playout  playout.Playout
	replies  reply.Replies
	tools    toolbox.Toolbox
	filler   filler
	ringback bridge.Ringback
	bridge   *bridge.Bridge // to whom the caller was connected; nil: the agent conducts
	answer   answer
	times    times
	ended    *media.Ended
}

// Run conducts the call on leg until it ends and returns why it did. The leg's
// Run is part of it. Every goroutine of the call has ended when it returns, but for engines
// and functions that did not return within 5 s. A panic, here or on one of them, ends the
// call as failed/internal.
func (c *Call) Run(leg media.Leg) media.Ended {
	gone := make(chan error, 1)
	legErr := error(isolate.Internal)
	isolate.Go("pipeline/leg", c.crew.kill, func() { legErr = leg.Run(c.crew.life) }, func() { gone <- legErr; close(gone) })
	var cause error
	isolate.Do("pipeline/conductor", c.broke, func() {
		c.begin(leg)
		cause = c.conduct(gone)
	})
	isolate.Do("pipeline/conclusion", c.broke, func() { c.conclusion(cause) })
	if c.ended == nil { // the conclusion failed, too
		c.broke(isolate.Internal)
	}
	c.crew.kill(c.ended)
	for range gone { // until the leg has ended
	}
	isolate.Do("pipeline/close", c.broke, func() {}, c.settle, c.untape, c.over, c.observer.Close)
	return *c.ended
}

// over is the call's last moment: everything has stopped.
func (c *Call) over() {
	c.observer.Next(journal.Input{Kind: journal.Closed})
	c.emit(Event{Kind: End, Ended: *c.ended})
}

// broke ends a call whose conductor panicked, whatever end it was about to have.
func (c *Call) broke(cause error) {
	c.ended = media.EndedBy(cause)
	c.crew.kill(cause)
}

// begin is the call's first moment.
func (c *Call) begin(leg media.Leg) {
	c.leg, c.far = journal.NewLeg(c.tape(leg), c.observer), leg
	c.caller.Begin(c.cfg.FrontEnd, leg.Format())
	c.playout.Begin(leg.Format().Out)
	c.tools = c.functions()
	c.observer.Begin(c.origin)
	now := c.now()
	c.times = times{start: now, frameAt: now, active: now}
}

// conduct is the loop: everything that can happen to a call happens here.
func (c *Call) conduct(gone <-chan error) (legErr error) {
	if c.crew.life.Err() != nil { // ended before it began
		return nil
	}
	c.converse()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for c.ended == nil {
		timer.Reset(time.Until(c.bridge.Next(c.leg.Next())))
		other, left := c.bridge.Events()
		select {
		case <-timer.C:
		case m := <-c.crew.box:
			c.receive(m, journal.Received, c.deliver)
		case e := <-c.crew.stops:
			c.stop(e)
		case e := <-c.leg.Events():
			c.legEvent(e)
		case e := <-other:
			c.bridge.FromSecond(e)
		case <-left:
			if c.crew.life.Err() != nil { // which ends both legs, and says why
				return nil
			}
			c.step(turn.Event{Kind: turn.Stop, Reason: transferred.Reason, Detail: string(transferred.Detail)})
		case err := <-gone:
			if err == nil && c.state.Phase == turn.Bridged && c.crew.life.Err() == nil {
				c.ended = &media.Ended{Reason: transferred.Reason, Detail: transferred.Detail}
			}
			return err
		case <-c.crew.life.Done():
			return nil
		}
		c.empty(journal.Received, c.deliver) // audio and the events before it meet the next frame together
		c.tick()
	}
	return nil
}

// converse begins the conversation.
func (c *Call) converse() {
	c.observer.Next(journal.Input{Kind: journal.Began})
	c.ask()
}

// stop takes an end that was asked for.
func (c *Call) stop(e turn.Event) {
	c.observer.Next(journal.Input{Kind: journal.Stopped, Stop: &journal.Stop{Reason: e.Reason, Detail: e.Detail, Line: e.Line}})
	c.step(e)
}

// conclusion closes the books of a call that is over: why it is, and what was
// heard of the reply in progress. legErr is of a leg that ended by itself.
func (c *Call) conclusion(legErr error) {
	if c.cfg.OnHangup != nil {
		c.cfg.OnHangup(time.Now())
	}
	outside := c.ended == nil || c.bridge != nil
	switch {
	case c.ended != nil:
	case c.crew.life.Err() != nil:
		c.ended = media.EndedBy(context.Cause(c.crew.life))
	case legErr == nil && c.moved():
		c.ended = &media.Ended{Reason: transferred.Reason, Detail: transferred.Detail}
	default:
		c.ended = media.EndedBy(legErr)
	}
	ended := *c.ended
	c.observer.Next(journal.Input{Kind: journal.Concluded, Ended: &ended, Outside: outside})
	now := c.now()
	c.answerEnds()
	c.noteKeys(c.state.TakeKeys())
	c.dropSpeculative(Discarded)
	if r := c.replies.Latest; r.Live() {
		h := c.heardBy(now)
		if r.Audible() {
			c.conclude(Cut, h)
		} else {
			c.discard(Discarded)
		}
	}
	c.carryOut(c.tools.Cancel())
}
