package pipeline

import (
	"parley/inference"
	"parley/media"
	"parley/pipeline/amd"
	"parley/pipeline/event"
	"parley/pipeline/listen"
	"parley/pipeline/turn"
)

// ask begins the conversation, or answering-machine detection before it.
func (c *Call) ask() {
	if c.cfg.Answering != nil {
		c.answer.Who = amd.New(c.cfg.Agent.Language, c.leg.Format().In)
	}
	c.step(turn.Event{Kind: turn.Ready})
}

// heardOf gives the detector the words of the answer.
func (c *Call) heardOf(res inference.Result) {
	if c.state.Screens() && (res.Confidence < 0 || res.Confidence >= 0.5) { // below 0: the engine does not say
		c.answer.Who.Words(res.Text)
	}
}

// answeredBy follows the answer by one frame, which the detector has listened to.
func (c *Call) answeredBy(heard listen.Activity) {
	verdict, open := c.observer.Screened(uint8(c.answer.Who.Step(heard.Speech, heard.Level)), c.answer.Who.Open())
	v := amd.Verdict(verdict)
	if c.answer.Decides(v) {
		c.emit(event.Event{Kind: event.Answered, Text: v.String()})
	}
	e := turn.Event{Kind: turn.AnsweredBy}
	if open {
		e.Kind = turn.GreetedBy
	}
	switch v {
	case amd.Undecided:
	case amd.Machine:
		e.By = turn.Machine
	default:
		e.By = turn.Person
	}
	if c.agent.FirstMessage != "" {
		e.Line = turn.Greeting
	}
	c.step(e)
}

// noteAnswer keeps what was heard before the conversation began.
func (c *Call) noteAnswer(text string) {
	c.replies.History.Add(inference.Message{Role: inference.RoleUser, Text: text})
	c.emit(event.Event{Kind: event.UserLine, Text: text, Said: c.caller.Said(text, c.moment())})
}

// answerEnds concludes the answer at the end of the call. One with a machine ends as
// voicemail, whichever side hung up.
func (c *Call) answerEnds() {
	if text := c.state.Answer(); text != "" {
		c.noteAnswer(text)
	}
	if r := c.ended.Reason; c.state.WithMachine() && (r == media.UserHangup || r == media.AgentHangup) {
		c.ended = &media.Ended{Reason: media.Voicemail}
	}
}
