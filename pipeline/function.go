package pipeline

import (
	"context"
	"errors"
	"time"

	"parley/inference"
	"parley/media/isolate"
	"parley/pipeline/bridge"
	"parley/pipeline/event"
	"parley/pipeline/reply"
	"parley/pipeline/toolbox"
	"parley/pipeline/turn"
)

// The functions that the model calls are package toolbox's. The conductor carries out what that says, and runs them.

// DoNotCall puts the other party of a call on the account's do-not-call list.
type DoNotCall func(context.Context) error

// functions are those of this call; of its own those that its leg can do and its agent may.
func (c *Call) functions() toolbox.Toolbox {
	t := toolbox.Toolbox{Timeout: c.cfg.ToolTimeout, Life: c.crew.Life}
	if c.cfg.Transfer.Able(c.far) {
		t.Functions = append(t.Functions, c.transferCall())
	}
	t.Functions = append(t.Functions, toolbox.OfKeys(c.far, c.cfg.Keys)...)
	if c.cfg.HandOver.offers() {
		t.Functions = append(t.Functions, c.handOver())
	}
	if c.cfg.OptOut != nil {
		t.Functions = append(t.Functions, toolbox.ToOptOut(c.cfg.OptOut))
	}
	for _, f := range c.cfg.Functions {
		t.Functions = append(t.Functions, toolbox.Function{Function: f})
	}
	return t
}

// clientTools are the functions that the client runs.
func (c *Call) clientTools() []inference.Tool {
	if !c.cfg.ClientTools {
		return nil
	}
	return c.agent.Tools
}

// called takes a function call of the reply in progress, whose turn is committed: from
// here on it has effects. The calls of a speculative reply are parked, and come here one by
// one with the commit. One that was not allowed is passed over: its answer would be another
// completion with the same wish. own is what the model wants back with it.
func (c *Call) called(r *reply.Reply, call inference.ToolCall, own []inference.Part) {
	if call.Name == toolbox.EndCall {
		c.step(turn.Event{Kind: turn.Hangup})
		return
	}
	if r.Completion == nil || len(r.Calls) >= r.Completion.MostCalls {
		return
	}
	c.carryOut(c.tools.Call(r.Call(call, own), r.Turn, r.Number, c.clientTools(), c.now()))
}

// carryOut does what the functions ask for.
func (c *Call) carryOut(events []toolbox.Event) {
	for _, e := range events {
		of := event.Event{Turn: e.Turn, Generation: e.Generation, Call: e.Call}
		switch e.Kind {
		case toolbox.Called:
			c.step(turn.Event{Kind: turn.ToolsCalled})
		case toolbox.Asked:
			of.Kind = event.ToolAsked
			c.emit(of)
		case toolbox.Begun:
			of.Kind = event.ToolBegun
			c.emit(of)
			if e.Run != nil {
				c.run(e)
			}
		case toolbox.Collecting:
			c.step(turn.Event{Kind: turn.Collect, Number: e.Number})
			if e.Prompt != "" {
				c.compose(&reply.Reply{Number: e.Generation, Turn: e.Turn, Prompts: e.Call.ID}, nil, e.Prompt)
			}
		case toolbox.Collected:
			c.step(turn.Event{Kind: turn.Collected})
		case toolbox.Ended:
			c.replies.History.Result(e.Call.ID, e.Result)
			c.emit(event.Event{Kind: event.ToolEnded, Call: e.Call, Text: e.Outcome, Result: e.Result})
			c.toolsDone()
		}
	}
}

// run runs a function beside the call.
func (c *Call) run(e toolbox.Event) {
	c.crew.Spawn("pipeline/function", func() {
		m := message{kind: msgFunction, id: e.Call.ID, err: errPanicked}
		isolate.Do("pipeline/function-body", nil, func() { m.text, m.err = e.Run() })
		c.crew.Send(c.crew.Life, m)
	}, e.Over)
}

// errPanicked is the result that the model gets for a function that panicked. The call goes
// on, as after any other error of a function.
var errPanicked = errors.New("the function failed")

// ran takes the result of a function that this server ran.
func (c *Call) ran(m message) {
	over := errors.Is(m.err, bridge.ErrTransferred) // the call ends
	if over {
		c.tools.Forgo()
	}
	if over || errors.Is(m.err, bridge.ErrConnected) {
		m.err = nil
	}
	c.carryOut(c.tools.Ran(m.id, m.text, m.err))
	if over {
		c.step(handedOver)
	}
}

// toolsDone goes on once the model has said all and every function has answered.
func (c *Call) toolsDone() {
	r := c.replies.Latest
	if c.tools.Done(r.Live() && !r.Written() && len(r.Calls) > 0) {
		r.MovedAt = c.now()
		c.step(turn.Event{Kind: turn.ToolsDone})
	}
}

// tend begins the functions whose time has come and ends those whose time is up.
func (c *Call) tend(now time.Time) {
	if !c.replies.Latest.Live() && c.playout.Silent() && c.state.Ending() == "" {
		collects := c.state.Phase == turn.ToolWait && !c.state.Held() && c.output() == turn.Resting && !c.state.Collects()
		c.carryOut(c.tools.Heard(collects, now))
	}
	for e := c.tools.Overdue(now); len(e) > 0; e = c.tools.Overdue(now) {
		c.carryOut(e)
	}
}

// interruptTools ends the functions of a reply that was cut off.
func (c *Call) interruptTools() { c.carryOut(c.tools.Interrupt()) }
