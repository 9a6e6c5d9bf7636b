package reply

import (
	"slices"
	"strings"

	"parley/inference"
)

// Bounds of what the model is shown, and so of what a completion costs: about 32,000
// tokens. The oldest entries go first, each with the results of its functions; the newest
// stays whatever its size.
const (
	maxHistory      = 200
	maxHistoryBytes = 128 << 10
)

// History is what was really said: the caller's committed turns, the agent's
// words as far as they were heard, and the functions it called.
type History struct {
	entries  []inference.Message
	results  map[string]string // of functions, by call id
	revision int               // counts its changes
}

// Add adds what was said.
func (h *History) Add(m inference.Message) {
	h.revision++
	h.entries = append(h.entries, m)
	h.trim()
}

// trim drops what is beyond the bounds.
func (h *History) trim() {
	first, bytes := len(h.entries), 0
	for first > 0 && len(h.entries)-first < maxHistory {
		bytes += h.size(&h.entries[first-1])
		if bytes > maxHistoryBytes && first < len(h.entries) {
			break
		}
		first--
	}
	h.drop(first)
}

// drop drops the oldest entries, with the results of their functions.
func (h *History) drop(n int) {
	for _, m := range h.entries[:n] {
		for _, c := range m.ToolCalls {
			delete(h.results, c.ID)
		}
	}
	h.entries = slices.Delete(h.entries, 0, n)
}

// size is an entry's length in bytes, with the results of its functions.
func (h *History) size(m *inference.Message) int {
	n := len(m.Text)
	for _, c := range m.ToolCalls {
		n += len(c.Name) + len(c.Arguments) + len(h.results[c.ID])
	}
	for _, p := range m.Parts {
		n += len(p.Provider)
	}
	return n
}

// ReplaceUser changes the caller's latest turn and returns what it was: they went
// on before they heard an answer.
func (h *History) ReplaceUser(text string) (before string) {
	for i := len(h.entries) - 1; i >= 0; i-- {
		if m := &h.entries[i]; m.Role == inference.RoleUser {
			before, m.Text = m.Text, text
			h.revision++
			h.trim()
			return before
		}
	}
	h.Add(inference.Message{Role: inference.RoleUser, Text: text})
	return ""
}

// Prompted puts a prompt that was said for a function call before its result: to the
// words with which it was called. It says false where the call is not known.
func (h *History) Prompted(call, text string, interrupted bool) bool {
	for i := len(h.entries) - 1; call != "" && i >= 0; i-- {
		m := &h.entries[i]
		if slices.ContainsFunc(m.ToolCalls, func(t inference.ToolCall) bool { return t.ID == call }) {
			m.Text, m.Interrupted = strings.TrimSpace(m.Text+" "+text), interrupted
			h.revision++
			return true
		}
	}
	return false
}

// Forget drops what was said before the words with which a function was called; none of it where the call is not known.
func (h *History) Forget(before string) {
	i := slices.IndexFunc(h.entries, func(m inference.Message) bool {
		return slices.ContainsFunc(m.ToolCalls, func(t inference.ToolCall) bool { return t.ID == before })
	})
	if i > 0 {
		h.drop(i)
		h.revision++
	}
}

// Result notes a function's result.
func (h *History) Result(id, text string) {
	if h.results == nil {
		h.results = map[string]string{}
	}
	h.results[id] = text
	h.revision++
	h.trim()
}

// With is the history as the model would see it with one more turn of the caller's, or,
// again, with another text of the latest one.
func (h *History) With(text string, again bool) []inference.Message {
	out := h.Messages()
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

// Messages is the history as the model sees it.
func (h *History) Messages() []inference.Message {
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
