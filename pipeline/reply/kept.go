package reply

import (
	"maps"
	"slices"

	"parley/inference"
)

// Kept is what a conversation that goes on in another process takes with it of its replies, as JSON too.
type Kept struct {
	Number  int                 // public generation of the latest
	Begun   int                 // completions and lines that were begun
	Entries []inference.Message // the history, without the results of functions
	Results map[string]string   // of functions, by call id
}

// Keep is the replies' at a moment when none is made. It shares nothing with them that changes.
func (b *Replies) Keep() Kept {
	return Kept{b.Number, b.begun, slices.Clone(b.History.entries), maps.Clone(b.History.results)}
}

// Restore goes on after k, which belongs to the replies from now on.
func (b *Replies) Restore(k Kept) {
	b.Number, b.begun = k.Number, k.Begun
	b.History.entries, b.History.results = k.Entries, k.Results
}
