package journal

import (
	"parley/media"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// Conversation is how far a call is at a moment when nobody speaks and nothing is under way. From that another call of the same agent,
// in another process, goes on with it. It is a value and stays one as JSON; it has what was said.
type Conversation struct {
	Heard    media.Time // of the caller, which is the call's clock
	State    turn.State
	Replies  reply.Kept
	Language string   // that the agent speaks now
	Advice   []string // that supervisors have whispered
}
