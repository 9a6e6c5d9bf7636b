package pipeline

import (
	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/reply"
)

func (c *Call) emit(e event.Event) {
	if c.shown.News(&e) {
		e.At = c.clock()
		if e.Kind == event.AgentLine && e.Said != nil {
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
		if c.shown.Serves(stage) != "" {
			return
		}
		name = asked.Info().Name
	}
	c.emit(event.Event{Kind: event.Served, Stage: stage, Text: name})
}

// inspect reports the inside of the call, where Config.Inspect asks for it.
func (c *Call) inspect() {
	c.emit(event.Event{Kind: event.Phased, Turn: c.state.Turn(), Text: c.state.Phase.String()})
	if c.caller.Echo() {
		c.emit(event.Event{Kind: event.Echoed})
	}
}

// asksModel notes what the engines are asked for reply r.
func (c *Call) asksModel(r *reply.Reply, o reply.Order) {
	c.noteReply(&o.Agent, r.Gen, o.Request, o.Text)
	if c.cfg.Inspect && o.Request != nil {
		c.emit(event.Event{Kind: event.Asked, Turn: r.Turn, Generation: r.Number, On: r.Speculation != nil, Request: o.Request})
	}
}
