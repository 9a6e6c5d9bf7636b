package pipeline

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/media/isolate"
	"parley/pipeline/bridge"
	"parley/pipeline/reply"
	"parley/pipeline/tool"
	"parley/pipeline/turn"
)

// How long a function that this server runs may take when it does not say, and at most.
const (
	functionPatience = 8 * time.Second
	functionMost     = 30 * time.Second
)

// maxProblem bounds the text of an error for the model, in bytes.
const maxProblem = 1000

// builtin is a function of the call itself.
type builtin struct {
	tool.Function
	most time.Duration // the longest Timeout; 0: functionMost
	// after has it begin when the words of its reply have been heard, and gap later.
	after bool
	gap   time.Duration
	// alone: while a call of it has no result yet, another is an error.
	alone bool
	// begin is what it does instead of Run, on the conductor; it sees to it that the
	// call gets its result. It returns false while its time has not come.
	begin func(c *Call, w *waiting) bool
}

// hold runs a function of the call's own, or has it wait for the words of its reply.
func (c *Call) hold(w *waiting, b *builtin) {
	if b.alone && c.tools.twice(w) {
		c.toolEnded(w.call.ID, problem("this is under way already"), "error")
		return
	}
	w.lasts, w.gap = !b.Cancel, b.gap
	begin := func() bool { c.runBounded(w, &b.Function, b.most); return true }
	if b.begin != nil {
		begin = func() bool { return b.begin(c, w) }
	}
	if b.after {
		w.held = begin
	} else {
		begin()
	}
}

// beginHeld begins what has waited for the words of its reply.
func (c *Call) beginHeld(now time.Time) {
	if c.replies.Latest.Live() || !c.playout.Silent() || c.state.Ending() != "" {
		return
	}
	for _, w := range c.tools.waiting {
		switch {
		case w.held == nil:
		case w.ripe.IsZero():
			w.ripe = now.Add(w.gap)
			fallthrough
		default:
			if begin := w.held; !now.Before(w.ripe) {
				w.held = nil
				if !begin() {
					w.held = begin
				}
				return // it may have changed the list, or speak
			}
		}
	}
}

// own are the functions of this call: what its leg can do and its agent may.
func (c *Call) own() []builtin {
	var list []builtin
	if c.cfg.Transfer.Able(c.far) {
		list = append(list, c.transferCall())
	}
	keys, able := c.far.(bridge.Keypad)
	if able && slices.Contains(c.cfg.Keys, SendDTMF) {
		list = append(list, sendDTMF(keys))
	}
	if able && slices.Contains(c.cfg.Keys, CollectDigits) {
		list = append(list, collectDigits())
	}
	if c.cfg.OptOut != nil {
		list = append(list, optOut(c.cfg.OptOut))
	}
	return list
}

// run runs a function beside the call.
func (c *Call) run(w *waiting, f *tool.Function) {
	w.lasts = !f.Cancel
	c.runBounded(w, f, functionMost)
}

func (c *Call) runBounded(w *waiting, f *tool.Function, most time.Duration) {
	arguments, ok := object(w.call.Arguments)
	if !ok {
		c.toolEnded(w.call.ID, problem("the arguments are not a JSON object"), "error")
		return
	}
	patience := f.Timeout
	if patience <= 0 {
		patience = functionPatience
	}
	if most == 0 {
		most = functionMost
	}
	patience = min(patience, most)
	w.deadline = c.now().Add(patience)
	ctx, stop := context.WithCancelCause(c.crew.life)
	w.stop = stop
	c.emit(Event{Kind: ToolBegun, Turn: w.turn, Generation: w.number, Call: w.call})
	id, run := w.call.ID, f.Run
	c.crew.spawn("pipeline/function", func() {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		m := message{kind: msgFunction, id: id}
		m.err = errPanicked
		isolate.Do("pipeline/function-body", nil, func() { m.text, m.err = run(ctx, arguments) })
		c.crew.post(c.crew.life, m)
	}, func() { stop(reply.ErrConcluded) })
}

// errPanicked is the result that the model gets for a function that panicked. The call goes
// on, as after any other error of a function.
var errPanicked = errors.New("the function failed")

// ran takes the result of a function that this server ran.
func (c *Call) ran(m message) {
	switch {
	case errors.Is(m.err, bridge.ErrConnected):
		c.toolEnded(m.id, m.text, "ok")
	case errors.Is(m.err, bridge.ErrTransferred):
		c.tools.unfinished = false // the call ends
		c.toolEnded(m.id, m.text, "ok")
		c.step(turn.Event{Kind: turn.Stop, Reason: transferred.Reason, Detail: string(transferred.Detail)})
	case errors.Is(m.err, context.DeadlineExceeded):
		c.toolEnded(m.id, problem("the function did not answer in time"), "timeout")
	case m.err != nil:
		c.toolEnded(m.id, problem(tool.Clip(m.err.Error(), maxProblem)), "error")
	default:
		c.toolEnded(m.id, m.text, "ok")
	}
}

// object is the arguments of a call as a JSON object; models that have none to give
// often write nothing.
func object(arguments string) (json.RawMessage, bool) {
	b := bytes.TrimSpace([]byte(arguments))
	if len(b) == 0 {
		return json.RawMessage("{}"), true
	}
	return b, b[0] == '{' && json.Valid(b)
}

// readable is a result as the model is given it.
func readable(result string) string {
	switch {
	case result == "":
		return `{"ok":true}`
	case len(result) <= tool.MaxResult:
		return result
	}
	return tool.Clip(result, tool.MaxResult) + fmt.Sprintf("\n[cut off: these are the first %d of %d bytes]", tool.MaxResult, len(result))
}
