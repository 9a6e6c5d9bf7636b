package pipeline

import "parley/inference"

// maxHistory bounds what the model is shown; the oldest entries go first.
const maxHistory = 200

// history is what was really said: the caller's committed turns, the agent's
// words as far as they were heard, and the functions it called.
type history struct {
	entries []inference.Message
	results map[string]string // of functions, by call id
	// revision counts the changes of it.
	revision int
}

func (h *history) add(m inference.Message) {
	h.revision++
	if len(h.entries) == maxHistory {
		for _, c := range h.entries[0].ToolCalls {
			delete(h.results, c.ID)
		}
		h.entries = append(h.entries[:0], h.entries[1:]...)
	}
	h.entries = append(h.entries, m)
}

// replaceUser changes the caller's latest turn and returns what it was: they went
// on before they heard an answer.
func (h *history) replaceUser(text string) (before string) {
	for i := len(h.entries) - 1; i >= 0; i-- {
		if m := &h.entries[i]; m.Role == inference.RoleUser {
			before, m.Text = m.Text, text
			h.revision++
			return before
		}
	}
	h.add(inference.Message{Role: inference.RoleUser, Text: text})
	return ""
}

// result notes a function's result.
func (h *history) result(id, text string) {
	if h.results == nil {
		h.results = map[string]string{}
	}
	h.results[id] = text
	h.revision++
}

// with is the history as the model would see it with one more turn of the caller's, or,
// again, with another text of the latest one.
func (h *history) with(text string, again bool) []inference.Message {
	out := h.messages()
	for i := len(out) - 1; again && i >= 0; i-- {
		if out[i].Role == inference.RoleUser {
			out[i].Text = text
			return out
		}
	}
	return append(out, inference.Message{Role: inference.RoleUser, Text: text})
}

// pendingResult stands for a function that has not answered: models refuse a
// call without any result, and must not invent one.
const pendingResult = `{"status":"pending"}`

// messages is the history as the model sees it.
func (h *history) messages() []inference.Message {
	out := make([]inference.Message, 0, len(h.entries))
	for _, m := range h.entries {
		out = append(out, m)
		for _, call := range m.ToolCalls {
			text, ok := h.results[call.ID]
			if !ok {
				text = pendingResult
			}
			out = append(out, inference.Message{Role: inference.RoleTool, ToolCallID: call.ID, Text: text})
		}
	}
	return out
}
