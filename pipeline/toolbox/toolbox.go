// Package toolbox follows the functions that the model calls: those of the call itself, of this server and of the client. Each call of
// one gets exactly one result: ok, error, timeout, cancelled or unknown_tool.
//
// A Toolbox belongs to the conductor and does not know it. Its methods take what happens and return Events, which the conductor carries
// out in their order. It starts no goroutine: what an Event gives to run, the conductor runs beside the call, and hands the result to Ran.
//
// Read toolbox.go for the life of a call of a function, then run.go (how one runs here) and own.go (functions of the call itself).
package toolbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/inference"
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

// Toolbox is the functions of a call, and their calls that have no result yet. Its exported fields are set before the first call.
type Toolbox struct {
	Functions []Function      // that run here: of the call itself, then of the server. end_call is not among them
	Timeout   time.Duration   // of functions that the client runs
	Life      context.Context // of the call

	Waiting []*Call // without a result, in the order in which they were called; to be read only
	// unfinished: the conversation waits for Done.
	unfinished bool
	collect    collecting
	steps      int // completions with calls since the caller's last turn
}

// maxSteps bounds the completions in a row that may call functions for one turn.
const maxSteps = 3

// BeginTurn is a new turn of the caller's.
func (t *Toolbox) BeginTurn() { t.steps = 0 }

// FollowUp is another completion in the same turn: functions have answered.
func (t *Toolbox) FollowUp() { t.steps++ }

// MayCall says whether the next completion of the turn may call functions.
func (t *Toolbox) MayCall() bool { return t.steps < maxSteps }

// Call is a call of a function without its result.
type Call struct {
	inference.ToolCall
	turn     int
	number   int // public generation
	deadline time.Time
	held     *Function               // it begins when the words of its reply have been heard; nil: it has begun
	ripe     time.Time               // when it does; zero while the words are played
	stop     context.CancelCauseFunc // what this server runs; nil: nothing runs here
	// asked says that the client runs it. The client gives no result of other functions.
	asked bool
	// lasts says that an interruption does not end it. Then it is loose: the conversation does
	// not wait for its result, which the model gets with its next request.
	lasts, loose bool
}

// EventKind says what an Event has the conductor do.
type EventKind uint8

// The events.
const (
	Called     EventKind = iota + 1 // the conversation waits for a function
	Asked                           // the client is to run Call
	Begun                           // Call has begun: Run, which is nil where nothing runs beside the call
	Collecting                      // collect Number, after Prompt, unless that is empty
	Collected                       // do not collect it any more
	Ended                           // Call has its Result; Outcome says which kind. Done may hold now
)

// Event is something for the conductor to do. Only the fields its kind names are set, and Call, Turn and Generation.
type Event struct {
	Kind       EventKind
	Call       inference.ToolCall
	Turn       int
	Generation int                    // the public one of its reply
	Run        func() (string, error) // to be run beside the call; the result goes to Ran
	Over       func()                 // to be called after Run, also when that panics
	Number     turn.Number
	Prompt     string
	Result     string // as the model reads it
	Outcome    string // ok, error, timeout, cancelled or unknown_tool
}

func (w *Call) event(kind EventKind) Event {
	return Event{Kind: kind, Call: w.ToolCall, Turn: w.turn, Generation: w.number}
}

// errNameTaken is a function whose name another one has.
var errNameTaken = errors.New("pipeline: two functions of one name")

// Check refuses functions that cannot all be offered beside those of the call itself, which may be all there are. What
// a client brings comes last: a function of its own whose name is taken is not offered.
func Check(functions []tool.Function, own ...string) error {
	taken := append(own, EndCall, SendDTMF, CollectDigits, OptOut, HandOver)
	for i := range functions {
		name := functions[i].Spec.Name
		if name == "" || slices.Contains(taken, name) {
			return fmt.Errorf("%w: %q", errNameTaken, name)
		}
		taken = append(taken, name)
	}
	return nil
}

// Offered is what the model may call: of two functions with one name the call's own,
// then this server's, then the client's; of two of the client's the first, because
// providers refuse a list that has a name twice.
func (t *Toolbox) Offered(client []inference.Tool) []inference.Tool {
	tools := []inference.Tool{endCall}
	for i := range t.Functions {
		tools = append(tools, t.Functions[i].Spec)
	}
	for _, c := range client {
		if !slices.ContainsFunc(tools, func(o inference.Tool) bool { return o.Name == c.Name }) {
			tools = append(tools, c)
		}
	}
	return tools
}

// Call takes a call of a function, of the reply that has the public generation number, to a turn that is committed: from here on it
// has effects. client are the functions of the client.
func (t *Toolbox) Call(call inference.ToolCall, turn, number int, client []inference.Tool, now time.Time) []Event {
	w := &Call{ToolCall: call, turn: turn, number: number}
	t.Waiting = append(t.Waiting, w)
	t.unfinished = true
	return append([]Event{w.event(Called)}, t.begin(w, client, now)...)
}

// begin begins a call, or has it wait for the words of its reply.
func (t *Toolbox) begin(w *Call, client []inference.Tool, now time.Time) []Event {
	if i := slices.IndexFunc(t.Functions, func(f Function) bool { return f.Spec.Name == w.Name }); i >= 0 {
		f := &t.Functions[i]
		if f.Alone && t.some(func(x *Call) bool { return x != w && x.Name == w.Name }) {
			return t.end(w.ID, problem("this is under way already"), "error")
		}
		if w.lasts = !f.Cancel; f.After {
			w.held = f
			return nil
		}
		return t.run(w, f, now)
	}
	if slices.ContainsFunc(client, func(f inference.Tool) bool { return f.Name == w.Name }) {
		w.asked, w.deadline = true, now.Add(t.Timeout)
		return []Event{w.event(Asked)}
	}
	return t.end(w.ID, problem("there is no function "+w.Name), "unknown_tool")
}

// end gives a call its one result; a call that has one already, or never
// was, is ignored.
func (t *Toolbox) end(id, result, outcome string) []Event {
	i := slices.IndexFunc(t.Waiting, func(w *Call) bool { return w.ID == id })
	if i < 0 {
		return nil
	}
	w := t.Waiting[i]
	t.Waiting = slices.Delete(t.Waiting, i, i+1)
	return t.conclude(w, readable(result), outcome)
}

func (t *Toolbox) conclude(w *Call, result, outcome string) (events []Event) {
	if w.stop != nil {
		w.stop(errConcluded)
	}
	if t.collect.id == w.ID {
		t.collect = collecting{}
		events = append(events, w.event(Collected))
	}
	e := w.event(Ended)
	e.Result, e.Outcome = result, outcome
	return append(events, e)
}

// Answered takes a result from the client, which counts for what the client was
// asked to run and for nothing else.
func (t *Toolbox) Answered(id, result string) []Event {
	if !slices.ContainsFunc(t.Waiting, func(w *Call) bool { return w.ID == id && w.asked }) {
		return nil
	}
	return t.end(id, result, "ok")
}

// Done says, once, that every function has answered, those of earlier replies that the conversation did not wait for, too. writing says
// that the model may call more.
func (t *Toolbox) Done(writing bool) bool {
	done := t.unfinished && !writing && !t.some(func(w *Call) bool { return !w.loose })
	t.unfinished = t.unfinished && !done
	return done
}

// Forgo has the conversation not go on after its functions: Done does not hold.
func (t *Toolbox) Forgo() { t.unfinished = false }

// Running says that a function which has begun is awaited.
func (t *Toolbox) Running() bool {
	return t.some(func(w *Call) bool { return !w.loose && w.held == nil })
}

// Begun is the call of a function that has begun; nil: none has.
func (t *Toolbox) Begun(name string) *Call {
	for _, w := range t.Waiting {
		if w.Name == name && w.held == nil {
			return w
		}
	}
	return nil
}

func (t *Toolbox) some(is func(*Call) bool) bool { return slices.ContainsFunc(t.Waiting, is) }

// Overdue ends a function whose time is up; no events: none is.
func (t *Toolbox) Overdue(now time.Time) []Event {
	for _, w := range t.Waiting {
		if w.held == nil && !w.deadline.IsZero() && now.After(w.deadline) {
			return t.end(w.ID, tooLate, "timeout")
		}
	}
	return nil
}

// Interrupt ends the functions of a reply that was cut off. What runs elsewhere
// may be done all the same, and the model must not take it for undone.
func (t *Toolbox) Interrupt() (events []Event) {
	t.unfinished = false
	t.Waiting = slices.DeleteFunc(t.Waiting, func(w *Call) bool {
		switch {
		case w.held != nil:
			events = append(events, t.conclude(w, problem("the caller interrupted, this was not done"), "cancelled")...)
		case w.lasts:
			w.loose = true
			return false
		default:
			events = append(events, t.conclude(w, problem("the caller interrupted, it is not known whether this was done"), "cancelled")...)
		}
		return true
	})
	return events
}

// Abandon ends a function of a call whose process died while it ran: it is not run again.
func Abandon(call inference.ToolCall) Event {
	return Event{Kind: Ended, Call: call, Result: problem("the server had a fault, it is not known whether this was done"), Outcome: "cancelled"}
}

// Cancel ends all functions with the call.
func (t *Toolbox) Cancel() (events []Event) {
	t.unfinished = false
	for _, w := range t.Waiting {
		events = append(events, t.conclude(w, problem("the call ended, it is not known whether this was done"), "cancelled")...)
	}
	t.Waiting = nil
	return events
}
