package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/inference"
	"parley/pipeline/bridge"
	"parley/pipeline/reply"
	"parley/pipeline/tool"
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

// maxToolSteps bounds the completions in a row that may call functions for one turn.
const maxToolSteps = 3

// toolbox follows the functions that were called, of the call, the server and the client. Each
// call of one gets exactly one result: ok, error, timeout, cancelled or unknown_tool.
type toolbox struct {
	own     []builtin  // functions of the call itself; end_call is not among them
	waiting []*waiting // in the order in which they were called
	steps   int        // completions with calls since the caller's last turn
	// unfinished: the turn machine waits for ToolsDone.
	unfinished bool
	filler     filler
	ring       bridge.Ringback
	collect    collecting
}

// waiting is a call without its result.
type waiting struct {
	call     inference.ToolCall
	turn     int
	number   int // public generation
	deadline time.Time
	// held begins a function that must not run before the words of its reply have
	// been heard; nil: it runs. It does gap after that.
	held func() bool
	gap  time.Duration
	ripe time.Time               // when it runs; zero while the words are played
	stop context.CancelCauseFunc // what this server runs; nil: nothing runs here
	// asked says that the client runs it. The client gives no result of other functions.
	asked bool
	// lasts says that an interruption does not end it. Then it is loose: the conversation does
	// not wait for its result, which the model gets with its next request.
	lasts, loose bool
}

// errNameTaken is a function whose name another one has.
var errNameTaken = errors.New("pipeline: two functions of one name")

// checkFunctions refuses a configuration whose functions cannot all be offered. What
// a client brings comes last: a function of its own whose name is taken is not offered.
func (c *Config) checkFunctions() error {
	taken := map[string]bool{EndCall: true, TransferCall: true, SendDTMF: true, CollectDigits: true, OptOut: true}
	for i := range c.Functions {
		name := c.Functions[i].Spec.Name
		if name == "" || taken[name] {
			return fmt.Errorf("%w: %q", errNameTaken, name)
		}
		taken[name] = true
	}
	return nil
}

// offered is what the model may call: of two functions with one name the call's own,
// then this server's, then the client's; of two of the client's the first, because
// providers refuse a list that has a name twice.
func (c *Call) offered() []inference.Tool {
	tools := []inference.Tool{endCall}
	for i := range c.tools.own {
		tools = append(tools, c.tools.own[i].Spec)
	}
	for i := range c.cfg.Functions {
		tools = append(tools, c.cfg.Functions[i].Spec)
	}
	if c.cfg.ClientTools {
		for _, t := range c.agent.Tools {
			if !slices.ContainsFunc(tools, func(o inference.Tool) bool { return o.Name == t.Name }) {
				tools = append(tools, t)
			}
		}
	}
	return tools
}

// runs finds the function that is run here; nil and nil: none is.
func (c *Call) runs(name string) (*builtin, *tool.Function) {
	for i := range c.tools.own {
		if b := &c.tools.own[i]; b.Spec.Name == name {
			return b, &b.Function
		}
	}
	for i := range c.cfg.Functions {
		if f := &c.cfg.Functions[i]; f.Spec.Name == name {
			return nil, f
		}
	}
	return nil, nil
}

// asked says whether the client runs the function.
func (c *Call) asked(name string) bool {
	return c.cfg.ClientTools && slices.ContainsFunc(c.agent.Tools, func(t inference.Tool) bool { return t.Name == name })
}

// called takes a function call of the reply in progress, whose turn is committed: from
// here on it has effects. The calls of a speculative reply are parked, and come here one by
// one with the commit. One that was not allowed is passed over: its answer would be another
// completion with the same wish.
func (c *Call) called(r *reply.Reply, call inference.ToolCall) {
	if call.Name == EndCall {
		c.step(turn.Event{Kind: turn.Hangup})
		return
	}
	if r.Completion == nil || len(r.Calls) >= r.Completion.MostCalls {
		return
	}
	call.ID = fmt.Sprintf("call_%d_%d", r.Gen, len(r.Calls)+1)
	r.Calls = append(r.Calls, call)
	w := &waiting{call: call, turn: r.Turn, number: r.Number}
	c.tools.waiting = append(c.tools.waiting, w)
	c.tools.unfinished = true
	c.step(turn.Event{Kind: turn.ToolsCalled})
	switch b, f := c.runs(call.Name); {
	case b != nil:
		c.hold(w, b)
	case f != nil:
		c.run(w, f)
	case c.asked(call.Name):
		w.asked = true
		w.deadline = c.now().Add(c.cfg.ToolTimeout)
		c.emit(Event{Kind: ToolAsked, Turn: r.Turn, Generation: r.Number, Call: call})
	default:
		c.toolEnded(call.ID, problem("there is no function "+call.Name), "unknown_tool")
	}
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
			c.concludeTool(w, readable(result), outcome)
			c.toolsDone()
			return
		}
	}
}

// clientAnswered takes a result from the client, which counts for what the client was
// asked to run and for nothing else.
func (c *Call) clientAnswered(id, result string) {
	if slices.ContainsFunc(c.tools.waiting, func(w *waiting) bool { return w.call.ID == id && w.asked }) {
		c.toolEnded(id, result, "ok")
	}
}

func (c *Call) concludeTool(w *waiting, result, outcome string) {
	if w.stop != nil {
		w.stop(reply.ErrConcluded)
	}
	if c.tools.collect.id == w.call.ID {
		c.tools.collect = collecting{}
		c.step(turn.Event{Kind: turn.Collected})
	}
	c.replies.History.Result(w.call.ID, result)
	c.emit(Event{Kind: ToolEnded, Call: w.call, Text: outcome})
}

// toolsDone goes on once the model has said all and every function has answered:
// those of earlier replies, which the caller did not wait for, too.
func (c *Call) toolsDone() {
	r := c.replies.Latest
	if !c.tools.unfinished || c.tools.awaited() || r.Live() && !r.Written() && len(r.Calls) > 0 {
		return
	}
	c.tools.unfinished = false
	r.MovedAt = c.now()
	c.step(turn.Event{Kind: turn.ToolsDone})
}

// awaited says that the conversation waits for a function.
func (t *toolbox) awaited() bool {
	return slices.ContainsFunc(t.waiting, func(w *waiting) bool { return !w.loose })
}

// twice says whether another call of the same function has no result yet.
func (t *toolbox) twice(w *waiting) bool {
	return slices.ContainsFunc(t.waiting, func(o *waiting) bool { return o != w && o.call.Name == w.call.Name })
}

// running says that a function which has begun is awaited.
func (t *toolbox) running() bool {
	return slices.ContainsFunc(t.waiting, func(w *waiting) bool { return !w.loose && w.held == nil })
}

// tend begins the functions whose time has come and ends those whose time is up.
func (c *Call) tend(now time.Time) {
	c.beginHeld(now)
	for i := 0; i < len(c.tools.waiting); {
		w := c.tools.waiting[i]
		if w.held == nil && !w.deadline.IsZero() && now.After(w.deadline) {
			c.toolEnded(w.call.ID, problem("the function did not answer in time"), "timeout")
			i = 0
			continue
		}
		i++
	}
}

// interruptTools ends the functions of a reply that was cut off. What runs elsewhere
// may be done all the same, and the model must not take it for undone.
func (c *Call) interruptTools() {
	c.tools.unfinished = false
	kept := c.tools.waiting[:0]
	for _, w := range c.tools.waiting {
		switch {
		case w.held != nil:
			c.concludeTool(w, problem("the caller interrupted, this was not done"), "cancelled")
		case w.lasts:
			w.loose = true
			kept = append(kept, w)
		default:
			c.concludeTool(w, problem("the caller interrupted, it is not known whether this was done"), "cancelled")
		}
	}
	clear(c.tools.waiting[len(kept):])
	c.tools.waiting = kept
}

// cancelTools ends all functions with the call.
func (c *Call) cancelTools() {
	c.tools.unfinished = false
	for _, w := range c.tools.waiting {
		c.concludeTool(w, problem("the call ended, it is not known whether this was done"), "cancelled")
	}
	c.tools.waiting = nil
}
