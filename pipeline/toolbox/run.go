package toolbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"parley/pipeline/tool"
)

// How long a function that this server runs may take when it does not say, and at most.
const (
	functionPatience = 8 * time.Second
	functionMost     = 30 * time.Second
)

// maxProblem bounds the text of an error for the model, in bytes.
const maxProblem = 1000

// errConcluded is why a function is stopped that has its result.
var errConcluded = errors.New("the function has its result")

// Function is one that runs here.
type Function struct {
	tool.Function
	Most time.Duration // the longest Timeout; 0: 30 s
	// After has it begin when the words of its reply have been heard, and Gap later.
	After bool
	Gap   time.Duration
	// Alone: while a call of it has no result yet, another is an error.
	Alone bool
	// collects: it has the caller's keys collected in place of Run.
	collects bool
}

// Heard begins a function that has waited for the words of its reply, which have been heard. collects says that the caller's keys can be
// collected now.
func (t *Toolbox) Heard(collects bool, now time.Time) []Event {
	for _, w := range t.Waiting {
		if w.held == nil {
			continue
		}
		if w.ripe.IsZero() {
			w.ripe = now.Add(w.held.Gap)
		}
		if now.Before(w.ripe) {
			continue
		}
		f := w.held
		if f.collects && !collects {
			return nil
		}
		w.held = nil
		return t.run(w, f, now) // it may change the list, or speak
	}
	return nil
}

// run begins a function.
func (t *Toolbox) run(w *Call, f *Function, now time.Time) []Event {
	if f.collects {
		return t.beginCollecting(w)
	}
	arguments, ok := object(w.Arguments)
	if !ok {
		return t.end(w.ID, problem("the arguments are not a JSON object"), "error")
	}
	patience := f.patience()
	w.deadline = now.Add(patience)
	ctx, stop := context.WithCancelCause(t.Life)
	w.stop = stop
	e, run := w.event(Begun), f.Run
	e.Run = func() (string, error) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		return run(ctx, arguments)
	}
	e.Over = func() { stop(errConcluded) }
	return []Event{e}
}

// patience is how long a function may take.
func (f *Function) patience() time.Duration {
	most := cmp.Or(f.Most, functionMost)
	if f.Timeout <= 0 {
		return min(functionPatience, most)
	}
	return min(f.Timeout, most)
}

// tooLate is the result of a function whose time is up.
var tooLate = problem("the function did not answer in time")

// Ran takes the result of a function that ran here.
func (t *Toolbox) Ran(id, result string, err error) []Event {
	result, outcome := concluded(result, err)
	return t.end(id, result, outcome)
}

// concluded is what the model reads of what a function returned, and its outcome.
func concluded(result string, err error) (text, outcome string) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return tooLate, "timeout"
	case err != nil:
		return problem(tool.Clip(err.Error(), maxProblem)), "error"
	}
	return result, "ok"
}

// Tried is what a function that was tried has come to.
type Tried struct {
	Result  string // as the model reads it
	Outcome string // ok, error or timeout
	Took    time.Duration
}

// Try runs a function once as a call does, with the same time and to the same result, without a
// conversation. arguments are as a model writes them. It blocks until the function has returned.
func Try(ctx context.Context, of tool.Function, arguments string) Tried {
	f := &Function{Function: of}
	given, ok := object(arguments)
	if !ok {
		return Tried{Result: problem("the arguments are not a JSON object"), Outcome: "error"}
	}
	trying, cancel := context.WithTimeout(ctx, f.patience())
	defer cancel()
	begun := time.Now()
	result, err := f.Run(trying, given)
	took := time.Since(begun)
	if err != nil && errors.Is(trying.Err(), context.DeadlineExceeded) {
		err = context.DeadlineExceeded // whatever it makes of that
	}
	result, outcome := concluded(result, err)
	return Tried{readable(result), outcome, took}
}

func problem(text string) string {
	b, _ := json.Marshal(map[string]string{"error": text}) // texts can be written
	return string(b)
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
