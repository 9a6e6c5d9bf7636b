package pipeline

import (
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/reply"
)

// shown is what the observer of a call knows: of some events it gets changes only.
type shown struct {
	idle    bool   // the agent listens
	partial string // the caller's words
	phase   string
	echo    bool
	served  map[agent.Stage]string // the engine of each stage
}

// news says whether an event tells the observer something that it does not know, and keeps it.
func (s *shown) news(e *Event) bool {
	before := *s
	switch e.Kind {
	case Listening:
		s.idle = true
		return !before.idle
	case Thinking, Speaking:
		s.idle = false
	case UserPartial:
		s.partial = e.Text
		return s.partial != before.partial
	case Phased:
		s.phase = e.Text
		return s.phase != before.phase
	case Echoed:
		s.echo = true
		return !before.echo
	case Served:
		if s.served == nil {
			s.served = map[agent.Stage]string{}
		}
		known := s.served[e.Stage] == e.Text
		s.served[e.Stage] = e.Text
		return !known
	}
	return true
}

func (c *Call) emit(e Event) {
	if c.shown.news(&e) {
		e.At = c.clock()
		if e.Kind == AgentLine && e.Said != nil {
			e.Said.Until(e.At)
		}
		c.recordEvent(&e)
		c.cfg.Observe(e)
	}
}

// serves reports which engine served a stage. Only failovers name it; an empty name is the engine
// that was asked, unless another one was named before.
func (c *Call) serves(stage agent.Stage, name string, asked interface{ Info() inference.Info }) {
	if name == "" {
		if c.shown.served[stage] != "" {
			return
		}
		name = asked.Info().Name
	}
	c.emit(Event{Kind: Served, Stage: stage, Text: name})
}

// inspect reports the inside of the call, where Config.Inspect asks for it.
func (c *Call) inspect() {
	c.emit(Event{Kind: Phased, Turn: c.state.Turn(), Text: c.state.Phase.String()})
	if c.caller.Echo() {
		c.emit(Event{Kind: Echoed})
	}
}

// asksModel notes what the engines are asked for reply r.
func (c *Call) asksModel(r *reply.Reply, o reply.Order) {
	c.noteReply(&o.Agent, r.Gen, o.Request, o.Text)
	if c.cfg.Inspect && o.Request != nil {
		c.emit(Event{Kind: Asked, Turn: r.Turn, Generation: r.Number, On: r.Speculation != nil, Request: o.Request})
	}
}
