package pipeline

import (
	"parley/inference"
	"parley/media"
	"parley/pipeline/bridge"
	"parley/pipeline/event"
	"parley/pipeline/turn"
)

// A supervisor is a person who speaks to the caller in the agent's place; whom the caller is transferred to is one while the agent stays
// (bridge/meeting.go). Package turn says what that does to the conversation; their voice (package bridge) goes the way of the agent's,
// and package scribe writes down what they say.

// Supervisor returns a person who may speak in the agent's place, and does not yet. name is their credential; their voice comes at a rate.
func (c *Call) Supervisor(name string, rate media.Rate) *bridge.Supervisor {
	return c.person(msgSteppedIn, name, rate)
}

// Coach returns somebody who may speak to the person who has the caller; the caller does not hear them. They begin with StepIn.
func (c *Call) Coach(name string, rate media.Rate) *bridge.Supervisor {
	return c.person(msgCoaches, name, rate)
}

// person returns somebody who asks the conductor, by a message of a kind, to let them speak.
func (c *Call) person(asks messageKind, name string, rate media.Rate) *bridge.Supervisor {
	return bridge.NewSupervisor(name, rate, c.crew.Life, func(s *bridge.Supervisor, in bool) bool {
		kind := map[bool]messageKind{true: asks, false: msgSteppedOut}[in]
		return c.crew.Send(c.crew.Life, message{kind: kind, text: name, supervisor: s})
	})
}

// stepIn takes in a supervisor, or the person of a transfer in which the agent stays, or returns why not.
func (c *Call) stepIn(s *bridge.Supervisor, as turn.Wait) error {
	if c.between.Supervisor != nil {
		return bridge.ErrSupervised
	}
	if c.step(turn.Event{Kind: turn.SteppedIn, Wait: as}); !c.state.Supervised() {
		return bridge.ErrNotTalking
	}
	c.stopFiller()
	if as == turn.NoWait {
		c.tools.Forgo() // the agent does not go on after its functions
	}
	c.between.Enter(s, c.leg.Format().Out)
	c.emit(event.Event{Kind: event.SteppedIn, Turn: c.state.Turn(), Text: s.Name})
	if w, language, hints := c.cfg.Scribe, c.agent.Language, c.cfg.Agent.Hints(c.agent.Language); w != nil && as == turn.NoWait {
		c.crew.Spawn("pipeline/scribe", func() {
			err := w.Write(c.crew.Life, s, s.Rate, language, hints, func(text string) {
				c.crew.Send(c.crew.Life, message{kind: msgSupervisorSaid, text: text})
			})
			if err != nil {
				c.cfg.Log.Warn("a supervisor is not written down", "err", err)
			}
		})
	}
	return nil
}

// stepOut gives the call back to the agent.
func (c *Call) stepOut() {
	if s := c.between.Supervisor; s != nil {
		s.Leave()
		c.between.Supervisor = nil
		c.times.active = c.now()
		c.step(turn.Event{Kind: turn.SteppedOut})
		c.emit(event.Event{Kind: event.SteppedOut, Turn: c.state.Turn()})
	}
}

// keep keeps a turn of the caller's that the supervisor answers.
func (c *Call) keep(a turn.Action) {
	e := event.Event{Turn: a.Turn, Text: a.Text}
	if !a.Typed {
		e.Said = c.caller.Said(a.Text, c.moment())
		c.follow(c.caller.CommitTurn(a.Again))
	}
	c.shown.TurnBegins()
	c.noteTurn(e, a.Again)
}

// supervisorSaid has the model and the observer learn of it.
func (c *Call) supervisorSaid(text string) {
	c.replies.History.Add(inference.Message{Role: inference.RoleUser, Text: "[a colleague who has taken over says to the caller: " + text + "]"})
	c.emit(event.Event{Kind: event.SupervisorLine, Turn: c.state.Turn(), Text: text})
}
