// Package pipeline conducts calls. One goroutine, the conductor, owns a call:
// it hears the far end's frames, asks package turn whose turn it is, makes
// replies with the engines, plays them and says what was heard of them.
//
// Engines run beside the conductor and reach it through one bounded mailbox;
// every message carries the number of the reply it belongs to, and those of dead
// replies are dropped. So an engine that ignores its cancellation cannot be heard.
//
// The goodbye that follows a sentence being finished belongs to the same reply, because clients
// drop what they have not played when they learn of a new one.
//
// How long a recogniser may take is learnt: 99 of 100 of its last 500 utterances, as
// conversations saw them, 0.6 to 10 s. A turn never rests on a partial text, nor on silence,
// while a recogniser says that it is behind the audio: its last text is waited for, 5 s at most.
// One that recognises whole utterances, each for money, is asked when there is a candidate for the
// end of the turn, not when the caller takes a breath: half of the pauses within turns cost no request.
// A turn scorer is asked at each pause, for as long as the turn does not end without it.
//
// # Order of reading
//
// call.go is the life of a call from Run to its end. conduct.go is the conductor: the loop in
// which everything happens, and what is done for each decision of package turn. From there:
//
//   - frame.go: audio, from the leg to package turn and back, and the limits that frames are checked for
//   - mailbox.go: what engines, functions and other goroutines tell; legevents.go: what the leg tells
//   - commit.go: a reply begins; speculative.go: before its turn has ended; reply.go: it goes on
//     and ends; filler.go: speech while something else is waited for
//   - recogniser.go, scorer.go: the engines that listen; screening.go: who answered
//   - function.go, transfer.go, handover.go: what the model calls, the caller put through to another telephone, or another agent
//   - supervisor.go: a person who speaks in the agent's place
//   - shown.go: what the observer learns (package event)
//   - config.go, crew.go: what a call is given, and its goroutines
//   - resume.go: the call goes on elsewhere
//   - journal.go, simulation.go: its inputs kept, and conducted again
package pipeline

import (
	"context"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/media/record"
	"parley/pipeline/agent"
	"parley/pipeline/amd"
	"parley/pipeline/bridge"
	"parley/pipeline/event"
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
	crew callCrew
	// The rest belongs to the conductor.
	observer *journal.Observer // of what does not follow from earlier inputs
	shown    event.Shown
	agent    agent.Agent
	leg      *journal.Leg // recorded, where the call is to be
	far      media.Leg    // the same, for what else it can do
	state    turn.State
	steps    turn.Queue
	scoring  context.CancelFunc // of the latest question to the scorer; nil: there was none
	caller   listen.Caller
	playout  playout.Playout
	replies  reply.Replies
	tools    toolbox.Toolbox
	between  bridge.Between
	bridge   *bridge.Bridge // to whom the caller was connected; nil: the agent conducts
	answer   amd.Answer
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
	isolate.Go("pipeline/leg", c.crew.Kill, func() { legErr = leg.Run(c.crew.Life) }, func() { gone <- legErr; close(gone) })
	var cause error
	isolate.Do("pipeline/conductor", c.broke, func() {
		c.begin(leg)
		cause = c.conduct(gone)
	})
	isolate.Do("pipeline/conclusion", c.broke, func() { c.conclusion(cause) })
	if c.ended == nil { // the conclusion failed, too
		c.broke(isolate.Internal)
	}
	c.crew.Kill(c.ended)
	for range gone { // until the leg has ended
	}
	isolate.Do("pipeline/close", c.broke, func() {}, c.settle, c.untape, c.over, c.observer.Close)
	return *c.ended
}

// untape ends the recording.
func (c *Call) untape() {
	if c.cfg.Recorder != nil {
		c.cfg.Recorder.Close()
	}
}

// over is the call's last moment: everything has stopped.
func (c *Call) over() {
	c.observer.Next(journal.Input{Kind: journal.Closed})
	c.emit(event.Event{Kind: event.End, Ended: *c.ended})
}

// broke ends a call whose conductor panicked, whatever end it was about to have.
func (c *Call) broke(cause error) {
	c.ended = media.EndedBy(cause)
	c.crew.Kill(cause)
}

// begin is the call's first moment.
func (c *Call) begin(leg media.Leg) {
	c.far = leg
	if c.cfg.Recorder != nil {
		leg = record.Leg(leg, c.cfg.Recorder)
	}
	c.leg = journal.NewLeg(leg, c.observer)
	c.caller.Begin(c.cfg.FrontEnd, leg.Format(), c.cfg.Feed.SampleRate())
	if at := c.cfg.Resume; at != nil {
		c.caller.Since(at.Heard)
	}
	c.playout.Begin(leg.Format().Out)
	c.tools, c.between.Notice.On = c.functions(), c.agent.ListeningTone
	c.observer.Begin(c.origin)
	now := c.now()
	c.times = times{start: now, active: now}
	c.caller.Came(now)
	if c.cfg.Begins != nil {
		c.cfg.Begins(c.request())
	}
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
	case c.crew.Life.Err() != nil:
		c.ended = media.EndedBy(context.Cause(c.crew.Life))
	case legErr == nil && c.moved():
		c.ended = &transferred
	default:
		c.ended = media.EndedBy(legErr)
	}
	ended := *c.ended
	c.observer.Next(journal.Input{Kind: journal.Concluded, Ended: &ended, Outside: outside})
	now := c.now()
	c.answerEnds()
	c.noteKeys(c.state.TakeKeys())
	c.dropSpeculative(reply.Discarded)
	c.stopFiller()
	if r := c.replies.Latest; r.Live() {
		h := c.heardBy(now)
		if r.Audible() {
			c.conclude(reply.Cut, h)
		} else {
			c.discard(reply.Discarded)
		}
	}
	c.noteLastWords()
	c.carryOut(c.tools.Cancel())
}
