package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"parley/media"
	"parley/pipeline/bridge"
	"parley/pipeline/journal"
	"parley/pipeline/playout"
	"parley/pipeline/reply"
	"parley/pipeline/tool"
	"parley/pipeline/toolbox"
	"parley/pipeline/turn"
)

// Transfers are package bridge's; the conductor begins them as a function, connects the caller, and ends the call.

const (
	// transferMost is how long a transfer may take: a telephone rings for a minute.
	transferMost = 90 * time.Second
	// transferGap is the silence between the last word and the transfer.
	transferGap = 200 * time.Millisecond
	// movedPatience is how long a transfer may take to say that it came about, when the
	// far end has left.
	movedPatience = 2 * time.Second
)

// transferred is the end of a call that a transfer took over, and handedOver what brings it about.
var (
	transferred = media.Ended{Reason: media.Completed, Detail: media.Transferred}
	handedOver  = turn.Event{Kind: turn.Stop, Reason: media.Completed, Detail: string(media.Transferred)}
)

// transferCall is the function of a call whose leg, or whose server, can transfer.
func (c *Call) transferCall() toolbox.Function {
	t := c.cfg.Transfer
	speaker, maker := c.cfg.Agent, c.replies.Maker
	caller := &bridge.Transferee{Leg: c.far, Life: c.crew.Life, Language: speaker.Language,
		Utter: func(ctx context.Context, text string) ([]*playout.Sentence, error) {
			return maker.Sentences(ctx, &speaker, text)
		},
		Start: func(run func(), after ...func()) { c.crew.Spawn("pipeline/second-leg", run, after...) },
		Connect: func(ctx context.Context, s *bridge.Second) bool {
			return c.crew.Send(ctx, message{kind: msgConnect, second: s})
		},
		Invite: func(name string, rate media.Rate) *bridge.Supervisor { return c.person(msgInvited, name, rate) },
		Said:   func(text string) { c.crew.Send(c.crew.Life, message{kind: msgIntroduced, text: text}) }}
	return toolbox.Function{After: true, Gap: transferGap, Alone: true, Most: transferMost, Function: tool.Function{Spec: t.Tool(), Timeout: transferMost,
		Run: func(ctx context.Context, arguments json.RawMessage) (string, error) {
			return t.Move(ctx, caller, arguments)
		}}}
}

// connect takes the second leg over: from here on the caller talks to whom they were
// transferred to, and the agent's part is over.
func (c *Call) connect(s *bridge.Second) {
	if c.replies.Latest.Live() {
		c.conclude(reply.Cut, c.heardBy(c.now()))
	}
	c.stopFiller()
	c.playout.Cut(false)
	c.stepOut()
	c.tools.Forgo() // the agent does not go on after the functions
	caller := c.far
	if c.cfg.Transfer.Record { // else a third person is recorded who does not know of it
		caller = c.leg.Leg
	}
	c.bridge = bridge.Connect(caller, c.far, s)
	if c.cfg.Transfer.Record {
		c.bridge.Heard(c.between.Notice)
	}
	c.step(turn.Event{Kind: turn.Connected})
	if asr := c.caller.Detach(); asr != nil { // a bridged call is not recognised
		c.crew.Spawn("pipeline/recogniser-bridged", asr.Close)
	}
}

// relay carries what is due between the two legs.
func (c *Call) relay(now time.Time) {
	if n := c.bridge.Relay(now); n > 0 {
		c.observer.Carried(n)
		c.caller.Skip(n)
		c.caller.Came(now)
	}
	c.checkDuration(now)
}

// takeConnected takes what still comes in a call that the agent has no part in any
// more: how the transfer went, as it is reported, what was used, and who listens in or speaks to the person.
func (c *Call) takeConnected(m message) {
	switch m.kind {
	case msgFunction:
		c.ran(m)
	case msgListens:
		c.bridge.Listens(m.seg)
	case msgWhisper:
		c.bridge.Whisper(m.text)
	case msgCoaches:
		c.bridge.Coach(m.supervisor)
	case msgSteppedOut:
		c.bridge.Leave(m.supervisor)
	default:
		c.takeLate(m)
	}
}

// rings is the transfer that a caller on a telephone waits for; nil: none is.
func (c *Call) rings() *toolbox.Call {
	if c.cfg.Transfer == nil || !c.leg.Format().Continuous {
		return nil
	}
	return c.tools.Begun(bridge.TransferCall)
}

// ring is the next frame of the tone; false while it is silent, or no transfer is under way.
func (c *Call) ring(now time.Time) (f media.Frame, sounds bool) {
	if w := c.rings(); w != nil {
		f, sounds = c.between.Ringback.Next(c.cfg.Transfer, w.ID, w.Arguments, now, c.leg.Format().Out)
	}
	return f, sounds
}

// moved says whether the far end, which has left, left because it was transferred.
func (c *Call) moved() bool {
	w := c.tools.Begun(bridge.TransferCall)
	if w == nil {
		return false
	}
	t := time.NewTimer(movedPatience)
	defer t.Stop()
	for {
		select {
		case m := <-c.crew.Box:
			if m.kind == msgFunction && m.id == w.ID {
				if !errors.Is(m.err, bridge.ErrTransferred) {
					return false
				}
				c.receive(*m, journal.Received, func(m message) {
					c.tools.Forgo()
					c.carryOut(c.tools.Ran(m.id, m.text, nil))
				})
				return true
			}
			c.receive(*m, journal.Late, c.takeLate)
		case <-t.C:
			return false
		}
	}
}
