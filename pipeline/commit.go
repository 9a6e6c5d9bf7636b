package pipeline

import (
	"cmp"
	"slices"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// commit answers the caller's turn.
func (c *Call) commit(a turn.Action) {
	if !a.Typed {
		c.follow(c.caller.CommitTurn(a.Again))
	}
	c.shown.TurnBegins()
	begun := a.Ready && c.replies.Fits()
	if !begun {
		c.dropSpeculative(reply.Discarded)
	}
	c.supersede()
	e := event.Event{Turn: a.Turn, Text: a.Text}
	if !a.Typed {
		e.Said = c.caller.Said(a.Text, c.moment())
	}
	c.noteTurn(e, a.Again)
	c.tools.BeginTurn()
	c.replies.Number++
	r := &reply.Reply{}
	if begun {
		r = c.replies.Speculative
	}
	r.Number, r.Turn = c.replies.Number, a.Turn
	r.Clock.End = reply.EndOfTurn{At: c.clock(), Wall: c.now()}
	if !a.Typed {
		silence := c.state.Silence(c.clock())
		r.Clock.Endpoint = silence.Duration()
		r.Clock.End = reply.EndOfTurn{At: c.clock() - silence, Wall: c.now().Add(-r.Clock.Endpoint), Settled: c.caller.SettledAt()}
	}
	c.emit(event.Event{Kind: event.Thinking, Turn: r.Turn, Generation: r.Number})
	if begun {
		c.promote(r)
		return
	}
	if text := c.replies.Line(&c.agent, a.Line); text != "" {
		r.Line = a.Line
		c.compose(r, nil, text)
		return
	}
	c.compose(r, c.request(), "")
}

// noteTurn has the model and the observer learn of what the caller said, or said again.
func (c *Call) noteTurn(e event.Event, again bool) {
	e.Kind = event.UserLine
	if again {
		e.Kind, e.Replaces = event.UserLineAgain, c.replies.History.ReplaceUser(e.Text)
	} else {
		c.replies.History.Add(inference.Message{Role: inference.RoleUser, Text: e.Text})
	}
	c.emit(e)
}

// noteLastWords keeps what the caller was saying when the call ended.
func (c *Call) noteLastWords() {
	if text, again := c.state.LeftOpen(); text != "" {
		c.noteTurn(event.Event{Turn: c.state.Turn(), Text: text, Said: c.caller.Said(text, c.moment())}, again)
	}
}

// follow has the agent speak the caller's language from its next reply on, where it may.
func (c *Call) follow(language string) {
	if language != c.agent.Language && slices.Contains(c.agent.Follows, language) {
		c.change(func(a *agent.Agent) { a.Language = language })
	}
	c.relisten()
}

// change changes the agent from its next reply on. In another language its own lines are of that, and so are the words that it
// expects.
func (c *Call) change(how func(*agent.Agent)) {
	before := c.agent.Language
	how(&c.agent)
	if language := c.agent.Language; language != before {
		c.agent.Speak(language, &c.cfg.Agent)
		c.cfg.Turn.Speak(language)
		c.replies.Maker.Rehearse(c.crew.Life, c.agent, c.cfg.opening(), c.cfg.fillers())
		c.relisten()
	}
	c.replies.Updated()
}

// followUp goes on with the turn after its functions have answered, or after a line that came before its answer.
func (c *Call) followUp() {
	c.supersede()
	c.tools.FollowUp()
	r := &reply.Reply{Number: c.replies.Number}
	if c.replies.Latest != nil {
		r.Turn, r.Clock.End = cmp.Or(c.replies.Latest.Turn, c.state.Turn()), c.replies.Latest.Clock.End
	}
	if r.Clock.End.Wall.IsZero() { // a line came before: it is its end that the caller waits from
		r.Clock.End = reply.EndOfTurn{At: c.clock(), Wall: c.now()}
	}
	c.compose(r, c.request(), "")
}

func (c *Call) request() *inference.Request {
	r := c.replies.Request(&c.agent, c.tools.Offered(c.clientTools()))
	r.NoTools = !c.tools.MayCall()
	return r
}

// say speaks one of the agent's own lines.
func (c *Call) say(l turn.Line) {
	c.supersede()
	text := c.replies.Line(&c.agent, l)
	if text == "" {
		c.step(turn.Event{Kind: turn.Drained})
		return
	}
	// Behind a sentence that is still being played the line is part of the same
	// reply: a client that learnt of a new one would drop what it has not played.
	joins := c.replies.Latest != nil && c.replies.Latest.Finishing && !c.playout.Silent()
	if !joins {
		c.replies.Number++
		c.emit(event.Event{Kind: event.Thinking, Generation: c.replies.Number})
	}
	c.compose(&reply.Reply{Number: c.replies.Number, Line: l, Joins: joins}, nil, text)
}

// giveUp drops a reply of which nothing came in time.
func (c *Call) giveUp() {
	if r := c.replies.Latest; r.Live() {
		c.emit(event.Event{Kind: event.Fault, Turn: r.Turn, Generation: r.Number, Err: c.slow(r)})
		c.discard(reply.Failed)
	}
}

func (c *Call) duck(on bool) {
	c.setDuck(on)
	c.emit(event.Event{Kind: event.Ducked, On: on})
}

// setDuck lowers the agent's voice, at the far end if it can, or restores it where
// it was lowered.
func (c *Call) setDuck(on bool) {
	far := c.leg.Duck(on)
	c.playout.Duck(on && !far)
}
