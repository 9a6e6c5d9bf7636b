package replay

import (
	"slices"
	"strings"

	"parley/inference"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
	"parley/pipeline/toolbox"
)

// Exchange is a turn as a model met it: what it read, and the outcome in the call.
type Exchange struct {
	Turn     int                 // from 1; 0 is what the agent said before the caller's first turn
	Heard    string              // the caller's words; empty in turn 0
	Messages []inference.Message // what had been said up to the caller's words, and with them; nil in turn 0
	Said     string              // the agent's words, as far as they were heard
	Calls    []Called            // of functions, in their order
	// Interrupted says that Said is not all that the agent would have said.
	Interrupted bool
}

// Called is a call of a function in a recorded call.
type Called struct {
	inference.ToolCall
	Result string // as the model read it; empty: it had none, or that was not kept
}

// Exchanges are those of a recorded call, turn 0 first, up to where another agent took it over. results are those of functions by the
// identifier of their call; of others the record has the beginning.
func Exchanges(f *journal.File, results map[string]string) []Exchange {
	r := reader{list: []Exchange{{}}, results: results, kept: keptResults(f)}
	for i := range f.Events {
		e := &f.Events[i]
		if e.Kind == event.HandedOver.String() {
			break
		}
		r.take(e)
	}
	return r.list
}

// keptResults are the results of functions that a record has, which are their beginnings.
func keptResults(f *journal.File) map[string]string {
	kept := map[string]string{}
	for i := range f.Steps {
		if m := f.Steps[i].Message; m != nil && m.ID != "" && (m.Kind == "function" || m.Kind == "tool_result") && m.Err == "" {
			kept[m.ID] = m.Text
		}
	}
	return kept
}

// reader makes exchanges out of a log.
type reader struct {
	list          []Exchange
	history       reply.History
	results, kept map[string]string

	pending []inference.ToolCall // of which no message of the agent's has come
	answers int                  // of them with a result
	speaks  bool                 // the agent has begun a sentence since the first of them
}

func (r *reader) now() *Exchange { return &r.list[len(r.list)-1] }

func (r *reader) take(e *journal.Event) {
	switch e.Kind {
	case "user_line":
		r.flush()
		if e.Turn > r.now().Turn {
			r.list = append(r.list, Exchange{Turn: e.Turn})
		}
		r.history.Add(inference.Message{Role: inference.RoleUser, Text: e.Text})
		r.now().Heard = joined(r.now().Heard, e.Text)
		r.now().Messages = r.history.Messages()
	case "user_line_again":
		r.history.ReplaceUser(e.Text)
		if x := r.now(); x.Said == "" && len(x.Calls) == 0 {
			x.Heard, x.Messages = strings.Replace(x.Heard, e.Replaces, e.Text, 1), r.history.Messages()
		}
	case "agent_partial":
		r.speaks = true
	case "agent_line":
		if r.speaks = false; len(r.pending) > 0 && r.answers == len(r.pending) {
			r.flush() // it says what the functions gave
		}
		r.history.Add(inference.Message{Role: inference.RoleAgent, Text: e.Text, Interrupted: e.Cut != nil, ToolCalls: r.pending})
		r.pending, r.answers = nil, 0
		x := r.now()
		x.Said, x.Interrupted = joined(x.Said, e.Text), x.Interrupted || e.Cut != nil
	case "tool_begun", "tool_asked":
		if e.Call != nil && !r.known(e.Call.ID) {
			r.pending = append(slices.Clip(r.pending), *e.Call)
			r.now().Calls = append(r.now().Calls, Called{ToolCall: *e.Call})
		}
	case "tool_ended":
		if e.Call != nil {
			r.ended(e)
		}
	case "end":
		if e.Reason == string(media.AgentHangup) && e.Detail == toolbox.EndCall { // the function has no events of its own
			r.now().Calls = append(r.now().Calls, Called{ToolCall: inference.ToolCall{Name: toolbox.EndCall}})
		}
	}
}

// known says that the call of a function is in the latest exchange.
func (r *reader) known(id string) bool {
	return slices.ContainsFunc(r.now().Calls, func(c Called) bool { return c.ID == id })
}

// ended notes what a function gave.
func (r *reader) ended(e *journal.Event) {
	text, whole := r.results[e.Call.ID]
	if !whole {
		text, whole = r.kept[e.Call.ID]
	}
	if !whole {
		text = `{"status":"` + e.Text + `"}`
	}
	if slices.ContainsFunc(r.pending, func(c inference.ToolCall) bool { return c.ID == e.Call.ID }) && !r.speaks {
		r.answers++
	}
	r.history.Result(e.Call.ID, text)
	for i := range r.list {
		for k := range r.list[i].Calls {
			if c := &r.list[i].Calls[k]; c.ID == e.Call.ID {
				c.Result = text
			}
		}
	}
}

// flush notes calls of functions with which nothing was said.
func (r *reader) flush() {
	if len(r.pending) > 0 {
		r.history.Add(inference.Message{Role: inference.RoleAgent, ToolCalls: r.pending})
		r.pending, r.answers = nil, 0
	}
}
