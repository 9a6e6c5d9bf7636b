package reply

import (
	"fmt"
	"maps"
	"slices"

	"parley/inference"
)

// Keep returns what a conversation that goes on in another process takes with it, at a moment when no reply is made: the public generation of
// the latest reply, how many were begun, and the history with the results of functions by call id. It shares nothing that changes.
func (b *Replies) Keep() (number, begun int, entries []inference.Message, results map[string]string) {
	return b.Number, b.begun, slices.Clone(b.History.entries), maps.Clone(b.History.results)
}

// Restore goes on after what Keep returned, of which it takes a copy. begun may be too low where entries has functions of later replies.
func (b *Replies) Restore(number, begun int, entries []inference.Message, results map[string]string) {
	for i := range entries {
		for _, call := range entries[i].ToolCalls {
			var gen, n int
			if _, err := fmt.Sscanf(call.ID, callID, &gen, &n); err == nil {
				begun = max(begun, gen) // models refuse a history that has one id twice
			}
		}
	}
	b.Number, b.begun = number, begun
	b.History.entries, b.History.results = slices.Clone(entries), maps.Clone(results)
}

// Open lists the calls of functions that have no result. The slice is the caller's.
func (h *History) Open() (calls []inference.ToolCall) {
	for i := range h.entries {
		for _, call := range h.entries[i].ToolCalls {
			if _, ok := h.results[call.ID]; !ok {
				calls = append(calls, call)
			}
		}
	}
	return calls
}

// Unanswered says that the model has yet to answer the newest entry: the caller's words, or results of functions.
func (h *History) Unanswered() bool {
	if len(h.entries) == 0 {
		return false
	}
	m := &h.entries[len(h.entries)-1]
	return m.Role == inference.RoleUser || len(m.ToolCalls) > 0
}

// Precede adds what the agent said before it answers the newest entry, where that is unanswered: models answer what is last.
func (h *History) Precede(m inference.Message) {
	if !h.Unanswered() {
		h.Add(m)
		return
	}
	last := h.entries[len(h.entries)-1]
	h.entries[len(h.entries)-1] = m
	h.Add(last)
}
