package remote

import (
	"encoding/json"
	"slices"
	"strings"

	"parley/inference"
)

// What stands for turns that a conversation lacks: vendors want one to begin and to end with the user.
const (
	callBegins   = "(The call begins.)"
	callerSilent = "(The caller is silent.)"
)

// Mended is a conversation as vendors take it: that of Paired, which begins with the user and ends with them or with results.
func Mended(history []inference.Message) []inference.Message {
	out := Paired(history)
	if len(out) > 0 && out[0].Role == inference.RoleAgent {
		out = slices.Insert(out, 0, inference.Message{Role: inference.RoleUser, Text: callBegins})
	}
	if len(out) == 0 || out[len(out)-1].Role == inference.RoleAgent {
		out = append(out, inference.Message{Role: inference.RoleUser, Text: callerSilent})
	}
	return out
}

// Paired is a conversation without what is empty. Calls and results fit together as Matched has them, but a call without a
// result stays: it gets one that is Interrupted. Arguments that are no JSON object are an empty one.
func Paired(history []inference.Message) (out []inference.Message) {
	history = slices.Clone(history)
	for i, m := range history {
		if m.Role != inference.RoleTool {
			history[i].Text = strings.TrimSpace(m.Text)
		}
	}
	for _, m := range matched(history, true) {
		for i := range m.ToolCalls {
			var object map[string]json.RawMessage
			if c := &m.ToolCalls[i]; json.Unmarshal([]byte(c.Arguments), &object) != nil || object == nil {
				c.Arguments = "{}"
			}
		}
		if m.Role == inference.RoleTool || m.Text != "" || len(m.ToolCalls) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// Matched is a history whose calls have one result each, right after the agent's message and in the order of the calls. A
// call without one is left out, and so is a result that stands elsewhere: vendors refuse both. An agent's text that was
// interrupted says so at its end.
func Matched(history []inference.Message) []inference.Message { return matched(history, false) }

// matched is Matched, and can keep all calls.
func matched(history []inference.Message, all bool) (out []inference.Message) {
	for len(history) > 0 {
		m := history[0]
		history = history[1:]
		if m.Role == inference.RoleTool {
			continue
		}
		if m.Interrupted && m.Text != "" {
			m.Text += " …" // the model should know that the caller did not hear the rest
		}
		results := history
		if n := slices.IndexFunc(history, func(m inference.Message) bool { return m.Role != inference.RoleTool }); n >= 0 {
			results = history[:n]
		}
		var calls []inference.ToolCall
		var found []inference.Message
		for _, c := range m.ToolCalls {
			result := inference.Message{Role: inference.RoleTool, ToolCallID: c.ID, Text: "cancelled", Interrupted: true}
			if i := slices.IndexFunc(results, func(m inference.Message) bool { return m.ToolCallID == c.ID }); i >= 0 {
				result = results[i]
			} else if !all {
				continue
			}
			calls, found = append(calls, c), append(found, result)
		}
		m.ToolCalls = calls
		out = append(append(out, m), found...)
	}
	return out
}
