package reply

import (
	"maps"
	"slices"

	"parley/inference"
)

// Keep returns what a conversation that goes on in another process takes with it, at a moment when no reply is made: the public generation of
// the latest reply, how many were begun, and the history with the results of functions by call id. It shares nothing that changes.
func (b *Replies) Keep() (number, begun int, entries []inference.Message, results map[string]string) {
	return b.Number, b.begun, slices.Clone(b.History.entries), maps.Clone(b.History.results)
}

// Restore goes on after what Keep returned, of which it takes a copy.
func (b *Replies) Restore(number, begun int, entries []inference.Message, results map[string]string) {
	b.Number, b.begun = number, begun
	b.History.entries, b.History.results = slices.Clone(entries), maps.Clone(results)
}
