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

// Paired is a conversation without what is empty. The results of an agent's calls follow it, in the order of the calls; a call
// without one has a result that is Interrupted, and one that stands elsewhere is left out. Arguments that are no JSON object are
// an empty one. An agent's text that was interrupted says so at its end.
func Paired(history []inference.Message) (out []inference.Message) {
	for len(history) > 0 {
		m := history[0]
		history = history[1:]
		m.Text = strings.TrimSpace(m.Text)
		if m.Role == inference.RoleTool || m.Text == "" && len(m.ToolCalls) == 0 {
			continue
		}
		if m.Interrupted && m.Text != "" {
			m.Text += " …" // the model should know that the caller did not hear the rest
		}
		m.ToolCalls = slices.Clone(m.ToolCalls)
		out = append(out, m)
		results := history
		if n := slices.IndexFunc(history, func(m inference.Message) bool { return m.Role != inference.RoleTool }); n >= 0 {
			results = history[:n]
		}
		for i := range m.ToolCalls {
			c := &m.ToolCalls[i]
			var object map[string]json.RawMessage
			if json.Unmarshal([]byte(c.Arguments), &object) != nil || object == nil {
				c.Arguments = "{}"
			}
			result := inference.Message{Role: inference.RoleTool, ToolCallID: c.ID, Text: "cancelled", Interrupted: true}
			if i := slices.IndexFunc(results, func(m inference.Message) bool { return m.ToolCallID == c.ID }); i >= 0 {
				result = results[i]
			}
			out = append(out, result)
		}
	}
	return out
}
