package session

import (
	"slices"
	"strconv"
	"time"

	"parley/pipeline/event"
	"parley/pipeline/tool"
	"parley/store/history"
)

// Bounds of the function calls that are stored of a call: of those that come after the first
// maxFunctions nothing is, and of those after maxFunctionBytes not what they were called with and
// gave.
const (
	maxFunctions     = 500
	maxFunctionBytes = 256 << 10
	maxArguments     = 4 << 10 // bytes
)

func functionBytes(f *history.FunctionCall) int {
	return eventBytes + len(f.Name) + len(f.Arguments) + len(f.Result)
}

// functionBegun notes a function that is called. nil: there are too many.
func (h *conversation) functionBegun(e *event.Event) *history.FunctionCall {
	if len(h.talk.Functions) == maxFunctions {
		return nil
	}
	f := history.FunctionCall{ID: e.Call.ID, Name: tool.Clip(e.Call.Name, maxArguments), Arguments: tool.Clip(e.Call.Arguments, maxArguments), ByClient: e.Kind == event.ToolAsked,
		Turn: e.Turn, BeganMS: e.At.Milliseconds()}
	if h.functionBytes += functionBytes(&f); h.functionBytes > maxFunctionBytes {
		f.Arguments = ""
	}
	h.talk.Functions = append(h.talk.Functions, f)
	h.log.add(history.CallEvent{Function: &f})
	return &f
}

// functionEnded notes the result of a function, also of one that never began.
func (h *conversation) functionEnded(e *event.Event) *history.FunctionCall {
	is := func(f history.FunctionCall) bool { return f.ID == e.Call.ID && f.Outcome == "" }
	i := slices.IndexFunc(h.talk.Functions, is)
	if i < 0 {
		if h.functionBegun(e) == nil {
			return nil
		}
		i = len(h.talk.Functions) - 1
	}
	// What was there may be on its way to the store, and does not change.
	h.talk.Functions = slices.Clone(h.talk.Functions)
	f := &h.talk.Functions[i]
	at := e.At.Milliseconds()
	f.EndedMS, f.Outcome = &at, e.Text
	if h.functionBytes += len(e.Result); h.functionBytes <= maxFunctionBytes {
		f.Result = e.Result
	}
	ended := *f
	h.log.add(history.CallEvent{Function: &ended})
	return &ended
}

// Lookup is what this server looked up for the model, in a turn of the caller's, before it asked it.
type Lookup struct {
	Name      string // of the function that the model would have called
	Arguments string // JSON
	Result    string // as the model got it, or empty
	Outcome   string // ok, error or timeout
	Took      time.Duration
}

// LookedUp notes a lookup that has just ended. It stands in the history of the call as a function does.
func (s *Session) LookedUp(l Lookup) {
	s.note(func() { s.tellFunction(s.history.lookedUp(&l, s.clock.ran(time.Now()))) })
}

// lookedUp notes a lookup that ended when the clock had run for so long. nil: there are too many.
func (h *conversation) lookedUp(l *Lookup, ran time.Duration) *history.FunctionCall {
	if len(h.talk.Functions) == maxFunctions {
		return nil
	}
	ended := ran.Milliseconds()
	f := history.FunctionCall{ID: "lookup_" + strconv.Itoa(len(h.talk.Functions)), Name: l.Name, Arguments: tool.Clip(l.Arguments, maxArguments), Result: l.Result, Outcome: l.Outcome,
		Turn: 1, BeganMS: max(0, ended-l.Took.Milliseconds()), EndedMS: &ended}
	if n := len(h.turns); n > 0 {
		f.Turn = h.turns[n-1].Turn + 1
	}
	if h.functionBytes += functionBytes(&f); h.functionBytes > maxFunctionBytes {
		f.Arguments, f.Result = "", ""
	}
	h.talk.Functions = append(h.talk.Functions, f)
	h.log.add(history.CallEvent{Function: &f})
	return &f
}

// tellFunction has a function call stored and told to followers; s.mu is locked.
func (s *Session) tellFunction(f *history.FunctionCall) {
	if f == nil {
		return
	}
	s.happens(history.Event{CallEvent: history.CallEvent{Function: f}})
	// The status is for nodes of a version that knows no functions.
	s.publish(CallUpdate{Function: f, Status: s.status})
}
