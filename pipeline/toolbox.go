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

// Bounds against a model that does nothing but call.
const (
	maxToolSteps = 3  // completions in a row that may call functions for one turn
	maxToolCalls = 16 // calls of one completion
)

// toolbox follows the functions that are being run by the client. Each call gets
// exactly one result: ok, timeout, cancelled or unknown_tool.
type toolbox struct {
	waiting []waiting // in the order in which they were called
	steps   int       // completions with calls since the caller's last turn
	told    bool      // the turn machine waits to hear that all have answered
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

// called takes a function call of the reply in progress. One that was not allowed
// is passed over: its answer would be another completion with the same wish.
func (c *Call) called(r *reply, call inference.ToolCall) {
	if call.Name == EndCall {
		c.step(turn.Event{Kind: turn.Hangup})
		return
	}
	if r.noTools || len(r.calls) == maxToolCalls {
		return
	}
	call.ID = fmt.Sprintf("call_%d_%d", r.gen, len(r.calls)+1)
	r.calls = append(r.calls, call)
	c.tools.waiting = append(c.tools.waiting, waiting{call, time.Now().Add(c.cfg.ToolTimeout)})
	c.tools.told = true
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
	for i, w := range c.tools.waiting {
		if w.call.ID == id {
			c.tools.waiting = append(c.tools.waiting[:i], c.tools.waiting[i+1:]...)
			c.history.result(id, result)
			c.emit(Event{Kind: ToolEnded, Call: w.call, Text: outcome})
			c.toolsDone()
			return
		}
	}
}

// toolsDone goes on once the model has said all and every function has answered:
// those of earlier replies, which the caller did not wait for, too.
func (c *Call) toolsDone() {
	r := c.reply
	if !c.tools.told || len(c.tools.waiting) > 0 || r.live && !r.written && len(r.calls) > 0 {
		return
	}
	c.tools.told = false
	r.movedAt = time.Now()
	c.step(turn.Event{Kind: turn.ToolsDone})
}

// expireTools ends the functions whose time is up.
func (c *Call) expireTools(now time.Time) {
	// They have the same time each, so the first one called is the first to end.
	for len(c.tools.waiting) > 0 && now.After(c.tools.waiting[0].deadline) {
		c.toolEnded(c.tools.waiting[0].call.ID, problem("the function did not answer in time"), "timeout")
	}
}

// cancelTools ends all functions: the reply that asked was cut off. They may run
// all the same, and the model must not take them for undone.
func (c *Call) cancelTools() {
	c.tools.told = false
	for _, w := range c.tools.waiting {
		c.history.result(w.call.ID, problem("the caller interrupted, it is not known whether this was done"))
		c.emit(Event{Kind: ToolEnded, Call: w.call, Text: "cancelled"})
	}
	c.tools.waiting = c.tools.waiting[:0]
}
