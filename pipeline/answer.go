package pipeline

import (
	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/amd"
	"parley/pipeline/listen"
	"parley/pipeline/turn"
)

// Answering asks who has answered an outbound call.
type Answering struct {
	OnMachine agent.OnMachine // empty: Continue
	Message   string          // of LeaveMessage
}

// waits says that the agent keeps silent until it is known who answered.
func (a *Answering) waits() bool {
	return a != nil && (a.OnMachine == agent.HangUp || a.OnMachine == agent.LeaveMessage)
}

// asking follows the answer of an outbound call. It belongs to the conductor.
type asking struct {
	who     *amd.Detector // nil: nobody asks, or it is over
	verdict amd.Verdict
	held    bool   // the agent keeps silent
	finals  string // what was heard meanwhile
	partial string // and what may still change of it
}

// ask begins the conversation, or first asks who is there.
func (c *Call) ask() {
	if c.cfg.Answering != nil {
		c.asks.who = amd.New(c.cfg.Agent.Language, c.format.In)
	}
	if c.asks.held = c.cfg.Answering.waits(); !c.asks.held {
		c.step(turn.Event{Kind: turn.Ready})
	}
}

// heardOf takes the words that a recogniser made of the answer.
func (c *Call) heardOf(res inference.Result) {
	a := &c.asks
	if a.who == nil {
		return
	}
	a.partial = res.Text
	if res.Confidence < 0 || res.Confidence >= 0.5 { // below 0: the engine does not say
		a.who.Words(res.Text)
	}
	if !res.Final {
		return
	}
	if a.partial = ""; res.Text != "" {
		if a.finals != "" {
			a.finals += " "
		}
		a.finals += res.Text
	}
}

// weigh follows the answer by one frame, which the detector has listened to, and acts
// when it is known who answered.
func (c *Call) weigh(heard listen.Activity) {
	a := &c.asks
	if a.who == nil {
		return
	}
	v, open := c.whoAnswered(heard)
	if v != a.verdict {
		a.verdict = v
		c.emit(Event{Kind: Answered, Text: v.String()})
	}
	switch {
	case a.held && c.state.Phase != turn.Connecting: // the call ends for another reason
		c.noteAnswer()
	case a.verdict == amd.Undecided:
		return
	case !a.held:
	case a.verdict == amd.Machine && c.cfg.Answering.OnMachine == agent.HangUp:
		c.noteAnswer()
		c.step(turn.Event{Kind: turn.Stop, Reason: media.Voicemail})
	case !open:
		return
	case a.verdict == amd.Machine:
		c.leaveMessage()
	default:
		c.greet()
	}
	a.who, a.held = nil, false
}

// greet begins the conversation that waited for the verdict. A first message answers
// what was said so far; without one the model does.
func (c *Call) greet() {
	first := c.agent.FirstMessage != ""
	if first {
		c.noteAnswer()
	}
	c.step(turn.Event{Kind: turn.Ready, Settled: first})
}

// noteAnswer keeps what was heard before the conversation began.
func (c *Call) noteAnswer() {
	a := &c.asks
	text := a.finals
	if a.partial != "" && text != "" {
		text += " "
	}
	if text += a.partial; text == "" {
		return
	}
	c.history.add(inference.Message{Role: inference.RoleUser, Text: text})
	c.emit(Event{Kind: UserLine, Text: text, Said: c.caller.Said(text, c.moment())})
}

// leaveMessage speaks the message in place of the first one. Nothing interrupts it, and
// the call ends after it.
func (c *Call) leaveMessage() {
	c.noteAnswer()
	c.agent.FirstMessage = c.cfg.Answering.Message
	c.cfg.Turn.Barge, c.cfg.Turn.Greeting = turn.Never, turn.Never
	c.step(turn.Event{Kind: turn.Hangup})
	c.step(turn.Event{Kind: turn.Ready, Settled: true})
}

// toMachine says that the call is with a machine that the agent does not talk to.
func (c *Call) toMachine() bool {
	return c.cfg.Answering.waits() && c.asks.verdict == amd.Machine
}

// unheld concludes the answer at the end of the call. One with a machine ends as
// voicemail, whichever side hung up.
func (c *Call) unheld() {
	if c.asks.held {
		c.asks.held = false
		c.noteAnswer()
	}
	if r := c.ended.Reason; c.toMachine() && (r == media.UserHangup || r == media.AgentHangup) {
		c.ended = &media.Ended{Reason: media.Voicemail}
	}
}
