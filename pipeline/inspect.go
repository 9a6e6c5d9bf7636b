package pipeline

import (
	"parley/pipeline/reply"
)

// inspection is what a call has last reported of its inside. It belongs to the conductor.
type inspection struct {
	phase string
	echo  bool
}

// inspect reports what has changed inside the call, where Config.Inspect wants that. It
// costs two comparisons a frame.
func (c *Call) inspect() {
	if p := c.state.Phase.String(); p != c.inspected.phase {
		c.inspected.phase = p
		c.emit(Event{Kind: Phased, Turn: c.state.Turn(), Text: p})
	}
	if c.caller.Echo() && !c.inspected.echo {
		c.inspected.echo = true
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
