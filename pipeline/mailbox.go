package pipeline

import (
	"cmp"

	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/bridge"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// mailboxSize bounds the messages of engines that wait for the conductor. It wakes up at
// once for a message, so the queue holds what comes while it is at work. An engine
// that is faster waits.
const mailboxSize = 64

// messageKind says what a message brings.
type messageKind uint8

const (
	msgResult         messageKind = iota + 1 // result of the recogniser's stream seg
	msgStreamEnded                           // err: that stream has ended
	msgRecogniser                            // asr: a new one
	msgGivenUp                               // no recogniser can be had any more
	msgScore                                 // prob of the pause
	msgToolResult                            // id, text from the client
	msgFunction                              // id, text, err of a function that ran here
	msgConnect                               // second: the caller is connected to it
	msgSuccessor                             // next: the agent text conducts from now on; brief: it gets a summary
	msgTyped                                 // text
	msgInterrupt                             //
	msgSteppedIn                             // supervisor, whose name is text, wants to speak in the agent's place; nil: it is a replay
	msgSteppedOut                            // supervisor does not any more
	msgSupervisorSaid                        // text
	msgInvited                               // supervisor, whom the caller is transferred to, wants to speak to them while the agent stays
	msgIntroduced                            // text was said to both by the agent
	msgWhisper                               // text, for the agent or for whom the caller was connected to
	msgCoaches                               // supervisor wants to speak to whom the caller was connected to, alone
	msgListens                               // seg: how many more listen in; below 0: fewer
	msgUpdate                                // update
	msgPause                                 // paused gets how far the call is
	msgPart                                  // and above, by the kind of the part: of a reply
)

// The parts of replies.
const (
	msgSentence = msgPart + messageKind(reply.Sentence)
	msgAudio    = msgPart + messageKind(reply.Audio)
	msgSpoken   = msgPart + messageKind(reply.Spoken)
	msgTool     = msgPart + messageKind(reply.Call)
	msgWritten  = msgPart + messageKind(reply.Written)
	msgBroken   = msgPart + messageKind(reply.Broken)
	msgDone     = msgPart + messageKind(reply.Finished)
)

// message is what the conductor's mailbox carries.
type message struct {
	kind   messageKind
	part   reply.Part
	seg    int
	text   string
	id     string
	result inference.Result
	pause  media.Time
	prob   float64
	asr    inference.Recognition
	err    error
	update func(*agent.Agent)
	second *bridge.Second
	next   *Config
	brief  bool
	paused chan<- *journal.Conversation

	supervisor *bridge.Supervisor
}

// empty takes all that is in the mailbox.
func (c *Call) empty(kind journal.Kind, take func(message)) {
	for range mailboxSize {
		select {
		case m := <-c.crew.Box:
			c.receive(*m, kind, take)
		default:
			return
		}
	}
}

// receive records a message and takes it, but for one of a recogniser's stream that was replaced.
func (c *Call) receive(m message, kind journal.Kind, take func(message)) {
	if (m.kind == msgResult || m.kind == msgStreamEnded) && m.seg != c.caller.Stream() {
		return
	}
	c.observer.Next(journal.Input{Kind: kind})
	c.observer.Message(func() *journal.Message { return c.recorded(&m) })
	take(m)
}

// takeLate takes a message that came too late.
func (c *Call) takeLate(m message) {
	switch m.kind {
	case msgWritten:
		c.written(m.part)
	case msgRecogniser:
		c.crew.Release("pipeline/release", m.asr.Close)
	case msgSteppedIn, msgInvited, msgCoaches:
		m.supervisor.Decide(bridge.ErrNotTalking)
	}
}

// deliver takes a message. One that comes with the message that bridges the call must not
// begin a reply.
func (c *Call) deliver(m message) {
	if c.state.Phase == turn.Bridged {
		c.takeConnected(m)
		return
	}
	c.take(m)
}

// take handles one message. A message of a reply that is no longer made is dropped here, even where its engine goes on.
func (c *Call) take(m message) {
	switch m.kind {
	case msgResult:
		c.recognised(m.result)
	case msgStreamEnded:
		c.streamEnded(m.seg, m.err)
	case msgRecogniser:
		c.attach(m.asr)
		c.relisten() // the language may have changed meanwhile
	case msgGivenUp:
		c.step(turn.Event{Kind: turn.Stop, Reason: media.Failed, Detail: string(media.EngineFailed), Line: turn.Goodbye})
	case msgScore:
		c.step(turn.Event{Kind: turn.Scored, Prob: m.prob, Pause: m.pause})
	case msgToolResult:
		c.carryOut(c.tools.Answered(m.id, m.text))
	case msgFunction:
		c.ran(m)
	case msgConnect:
		c.connect(m.second)
	case msgSuccessor:
		c.takeOver(m)
	case msgTyped:
		c.times.active = c.now()
		c.step(turn.Event{Kind: turn.Typed, Text: m.text})
	case msgInterrupt:
		c.step(turn.Event{Kind: turn.Interrupt})
	case msgSteppedIn, msgInvited:
		m.supervisor = cmp.Or(m.supervisor, c.Supervisor(m.text, c.leg.Format().Out)) // in a replay somebody who says nothing
		m.supervisor.Decide(c.stepIn(m.supervisor, map[messageKind]turn.Wait{msgInvited: turn.TransferWait}[m.kind]))
	case msgIntroduced:
		c.emit(event.Event{Kind: event.AgentLine, Turn: c.state.Turn(), Generation: c.replies.Number, Text: m.text})
	case msgSteppedOut:
		if m.supervisor == nil || m.supervisor == c.between.Supervisor {
			c.stepOut()
		}
	case msgSupervisorSaid:
		c.supervisorSaid(m.text)
	case msgWhisper:
		c.change(func(a *agent.Agent) { a.Advise(m.text) })
	case msgListens:
		c.between.Listens(m.seg)
	case msgPause:
		if m.paused != nil { // not in a replay
			m.paused <- c.conversation()
		}
	case msgUpdate:
		c.change(m.update)
		c.observer.Updated(&c.agent)
	case msgWritten, msgCoaches:
		c.takeLate(m)
	default:
		if r := c.replies.Speculative; r != nil && r.Gen == m.part.Gen {
			c.park(m.part)
		} else if r := c.replies.Latest; r.Live() && r.Gen == m.part.Gen {
			r.MovedAt = c.now()
			c.takeReply(r, m.part)
		}
	}
}

// Type is a turn the caller typed.
func (c *Call) Type(text string) { c.crew.Send(c.crew.Life, message{kind: msgTyped, text: text}) }

// Interrupt stops the agent, as a button does.
func (c *Call) Interrupt() { c.crew.Send(c.crew.Life, message{kind: msgInterrupt}) }

// ToolResult is the client's answer to the function call id. Unknown and repeated ids are
// ignored, and those of functions that the client was not asked to run.
func (c *Call) ToolResult(id, result string) {
	c.crew.Send(c.crew.Life, message{kind: msgToolResult, id: id, text: result})
}

// Update changes the agent from its next reply on. It runs on the conductor and
// must not block.
func (c *Call) Update(change func(*agent.Agent)) {
	c.crew.Send(c.crew.Life, message{kind: msgUpdate, update: change})
}

// Whisper tells the agent something that the caller does not hear. Once the caller is connected to a person, the agent's voice says it
// to that person alone.
func (c *Call) Whisper(text string) { c.crew.Send(c.crew.Life, message{kind: msgWhisper, text: text}) }

// Listens counts those who listen in: 1 when somebody begins, -1 when somebody stops.
func (c *Call) Listens(by int) { c.crew.Send(c.crew.Life, message{kind: msgListens, seg: by}) }

// Cancel ends the call at once, with why as its end unless it has one already. It may be
// called from Prepare on and never blocks.
func (c *Call) Cancel(why *media.Ended) { c.crew.Kill(why) }

// Stop ends the call: with goodbye the agent finishes its sentence and says its
// last words first, which takes 8 s at most. Without, and with a goodbye begun
// already, it ends at once. Stop never blocks.
func (c *Call) Stop(reason media.EndReason, detail media.EndDetail, goodbye bool) {
	e := turn.Event{Kind: turn.Stop, Reason: reason, Detail: string(detail)}
	if goodbye {
		e.Line = turn.Goodbye
	}
	select {
	case c.crew.stops <- e:
	default: // an earlier one waits to be seen, and its goodbye will do
		if !goodbye {
			c.crew.Kill(&media.Ended{Reason: reason, Detail: detail})
		}
	}
}
