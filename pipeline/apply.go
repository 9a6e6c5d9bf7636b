package pipeline

import (
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/turn"
)

// step gives the turn machine an event and carries out what it decides. Carrying
// out may cause further events; they wait their turn.
func (c *Call) step(e turn.Event) {
	c.pending = append(c.pending, e)
	if c.stepping {
		return
	}
	c.stepping = true
	for i := 0; i < len(c.pending); i++ {
		e := c.pending[i]
		e.Now = c.clock()
		c.state, c.acts = turn.Step(c.state, e, c.acts[:0])
		for _, a := range c.acts {
			c.apply(a)
		}
	}
	c.pending = c.pending[:0]
	c.stepping = false
}

func (c *Call) apply(a turn.Action) {
	switch a.Kind {
	case turn.OpenUtterance:
		c.ear.openUtterance(c.cfg.Turn.StartAfter)
	case turn.ResumeUtterance:
		c.ear.resumeUtterance()
	case turn.CloseUtterance:
		c.ear.closeUtterance()
	case turn.BeginTurn, turn.DropTurn:
		c.levels.drop()
		c.shown = ""
	case turn.Commit:
		c.commit(a)
	case turn.FollowUp:
		c.followUp()
	case turn.Say:
		c.say(a.Line)
	case turn.Cancel:
		c.discard()
		c.emit(Event{Kind: Listening})
	case turn.Cut:
		c.cut()
	case turn.Finish:
		c.finishSentence()
	case turn.Duck:
		c.duck(a.On)
	case turn.Listen:
		c.emit(Event{Kind: Listening})
	case turn.End:
		c.ended = &media.Ended{Reason: a.Reason, Detail: a.Detail}
	}
}

// commit answers the caller's turn.
func (c *Call) commit(a turn.Action) {
	c.levels.commit()
	c.shown = ""
	c.supersede()
	e := Event{Kind: UserLine, Turn: a.Turn, Text: a.Text}
	if a.Again {
		e.Kind, e.Replaces = UserLineAgain, c.history.replaceUser(a.Text)
	} else {
		c.history.add(inference.Message{Role: inference.RoleUser, Text: a.Text})
	}
	c.emit(e)
	c.tools.steps = 0
	c.number++
	r := &reply{number: c.number, turn: a.Turn}
	if !a.Typed {
		r.endpoint = c.state.Silence(c.clock()).Duration()
	}
	c.emit(Event{Kind: Thinking, Turn: r.turn, Generation: r.number})
	c.compose(r, c.request(), "")
}

// followUp goes on with the turn after its functions have answered.
func (c *Call) followUp() {
	c.supersede()
	c.tools.steps++
	r := &reply{number: c.number}
	if c.reply != nil {
		r.turn = c.reply.turn
	}
	c.compose(r, c.request(), "")
}

func (c *Call) request() *inference.Request {
	return &inference.Request{System: c.agent.Prompt, Messages: c.history.messages(), Tools: c.offered(),
		NoTools: c.tools.steps >= maxToolSteps, Language: c.agent.Language}
}

// say speaks one of the agent's own lines.
func (c *Call) say(l turn.Line) {
	c.supersede()
	text := c.agent.lineText(l)
	if text == "" {
		c.step(turn.Event{Kind: turn.ReplyDone})
		c.step(turn.Event{Kind: turn.Drained})
		return
	}
	// Behind a sentence that is still being played the line is part of the same
	// reply: a client that learnt of a new one would drop what it has not played.
	joins := !c.mouth.silent()
	if !joins {
		c.number++
		c.emit(Event{Kind: Thinking, Generation: c.number})
	}
	c.compose(&reply{number: c.number, line: l, joins: joins}, nil, text)
}

// supersede concludes a reply that is still in the books when another begins: it
// waits for functions, or its last sentence is being played out.
func (c *Call) supersede() {
	if r := c.reply; r != nil && r.live {
		c.conclude(false)
	}
}

// conclude closes the books of the reply: what was said, of which the far end
// heard all, or when it was cut only a part.
func (c *Call) conclude(cut bool) {
	r := c.reply
	r.live = false
	r.cancel()
	text := r.fullText()
	switch {
	case cut:
		text = r.heardText(c.mouth.heard)
		r.outcome = Cut
	case r.failed:
		text = r.heardText(c.mouth.heard)
		r.outcome = FailedReply
	case r.outcome == "":
		r.outcome = Committed
	}
	if cut {
		c.cancelTools()
		r.calls = nil
	}
	if text != "" || len(r.calls) > 0 {
		c.history.add(inference.Message{Role: inference.RoleAgent, Text: text, Interrupted: cut, ToolCalls: r.calls})
	}
	if text != "" {
		c.emit(Event{Kind: AgentLine, Turn: r.turn, Generation: r.number, Text: text})
	}
	c.account(r)
}

// discard drops a reply of which nothing was heard.
func (c *Call) discard() {
	r := c.reply
	if r == nil || !r.live {
		return
	}
	r.live = false
	r.outcome = Discarded
	r.cancel()
	c.mouth.cut(false)
	c.account(r)
}

// account reports what a completion consumed, once its fate and its count are
// both known.
func (c *Call) account(r *reply) {
	if r.outcome == "" || r.tokens == nil || c.owed[r.gen] == nil {
		return
	}
	delete(c.owed, r.gen)
	c.emit(Event{Kind: Used, Turn: r.turn, Generation: r.number,
		Usage: Usage{Generation: r.gen, Kind: "reply", Outcome: r.outcome, Tokens: *r.tokens}})
}

// cut stops the voice now.
func (c *Call) cut() {
	now := time.Now()
	c.mouth.flushed(c.leg.Flush(now))
	c.mouth.advance(c.leg.Played(now))
	c.mouth.cut(c.format.Continuous)
	c.setDuck(false)
	c.emit(Event{Kind: Interrupted})
	if r := c.reply; r != nil && r.live {
		c.conclude(true)
	}
	c.emit(Event{Kind: Listening})
}

// lastSentence bounds what is still played of a sentence when the call is ended.
const lastSentence = 3 * media.Second

// finishSentence ends the reply with the sentence being spoken.
func (c *Call) finishSentence() {
	r := c.reply
	if r == nil || !r.live {
		return
	}
	if !r.audible {
		c.discard()
		return
	}
	c.mouth.finish(lastSentence)
	r.texts = r.texts[:min(len(r.texts), c.mouth.last.seg+1)]
	c.conclude(false)
}

func (c *Call) duck(on bool) {
	c.setDuck(on)
	c.emit(Event{Kind: Ducked, On: on})
}

func (c *Call) setDuck(on bool) {
	if d, ok := c.leg.(media.Ducker); ok && d.Duck(on) {
		return
	}
	c.mouth.duck(on)
}
