package pipeline

import (
	"encoding/json"
	"fmt"
	"time"

	"parley/inference"
	"parley/pipeline/turn"
)

// EndCall is the function every agent has: the model calls it to hang up after
// its last words.
const EndCall = "end_call"

var endCall = inference.Tool{
	Name:        EndCall,
	Description: "End the call. Say goodbye first; the call ends when your words have been heard.",
	Parameters:  []byte(`{"type":"object","properties":{}}`),
}

// maxToolSteps is how many completions in a row may call functions for one turn.
const maxToolSteps = 3

// toolbox follows the functions that are being run by the client. Each call gets
// exactly one result: ok, timeout, cancelled or unknown.
type toolbox struct {
	waiting map[string]waiting
	steps   int // completions with calls since the caller's last turn
}

type waiting struct {
	call     inference.ToolCall
	deadline time.Time
}

// offered is what the model may call.
func (c *Call) offered() []inference.Tool {
	tools := []inference.Tool{endCall}
	if c.cfg.ClientTools {
		tools = append(tools, c.agent.Tools...)
	}
	return tools
}

func (c *Call) knows(name string) bool {
	for _, t := range c.offered() {
		if t.Name == name {
			return true
		}
	}
	return false
}

// called takes a function call of the reply in progress.
func (c *Call) called(r *reply, call inference.ToolCall) {
	if call.Name == EndCall {
		c.step(turn.Event{Kind: turn.Hangup})
		return
	}
	call.ID = fmt.Sprintf("call_%d_%d", r.gen, len(r.calls)+1)
	r.calls = append(r.calls, call)
	if c.tools.waiting == nil {
		c.tools.waiting = map[string]waiting{}
	}
	c.tools.waiting[call.ID] = waiting{call, time.Now().Add(c.cfg.ToolTimeout)}
	c.step(turn.Event{Kind: turn.ToolsCalled})
	if !c.knows(call.Name) {
		c.toolEnded(call.ID, problem("there is no function "+call.Name), "unknown_tool")
		return
	}
	c.emit(Event{Kind: ToolAsked, Turn: r.turn, Generation: r.number, Call: call})
}

func problem(text string) string {
	b, err := json.Marshal(map[string]string{"error": text})
	if err != nil {
		return `{"error":"failed"}`
	}
	return string(b)
}

// toolEnded gives a call its one result; a call that has one already, or never
// was, is ignored.
func (c *Call) toolEnded(id, result, outcome string) {
	w, ok := c.tools.waiting[id]
	if !ok {
		return
	}
	delete(c.tools.waiting, id)
	c.history.result(id, result)
	c.emit(Event{Kind: ToolEnded, Call: w.call, Text: outcome})
	c.toolsDone()
}

// toolsDone goes on once the model has said all and every function has answered.
func (c *Call) toolsDone() {
	if r := c.reply; r != nil && r.written && len(r.calls) > 0 && len(c.tools.waiting) == 0 && !r.toldTools {
		r.toldTools = true
		c.step(turn.Event{Kind: turn.ToolsDone})
	}
}

// expireTools ends the functions whose time is up.
func (c *Call) expireTools(now time.Time) {
	for id, w := range c.tools.waiting {
		if now.After(w.deadline) {
			c.toolEnded(id, problem("the function did not answer in time"), "timeout")
		}
	}
}

// cancelTools ends all functions: the reply that asked was cut off.
func (c *Call) cancelTools() {
	for id, w := range c.tools.waiting {
		delete(c.tools.waiting, id)
		c.history.result(id, problem("cancelled"))
		c.emit(Event{Kind: ToolEnded, Call: w.call, Text: "cancelled"})
	}
}
