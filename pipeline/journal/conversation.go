package journal

import (
	"parley/inference"
	"parley/media"
	"parley/pipeline/turn"
)

// Conversation is how far a call is at a moment when nobody speaks and nothing is under way. From that another call of the same agent,
// in another process, goes on with it. It is a value and stays one as JSON; it has what was said.
type Conversation struct {
	Heard    media.Time // of the caller, which is the call's clock
	State    turn.State
	Number   int                 // public generation of the latest reply
	Begun    int                 // replies that were begun
	Entries  []inference.Message // the history, without the results of functions
	Results  map[string]string   // of functions, by call id
	Language string              // that the agent speaks now
	Advice   []string            // that supervisors have whispered

	// Lost says that the process died which had the call. The rest is of the last moment that was stored, but for Heard, which is that
	// of the call now, and Entries and Results, which have at their end what is known of since then. A function without a result is
	// taken for one of which nobody knows whether it was done, and not run again.
	Lost bool `json:",omitempty"`
}
