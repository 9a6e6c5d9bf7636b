package turn

// Phase is where the conversation stands.
type Phase uint8

// The phases of a conversation.
const (
	Connecting   Phase = iota // configuration and engines are being set up
	Screening                 // the agent keeps silent until it is known who answered
	Listening                 // the agent is silent and hears
	UserSpeaking              // the caller speaks
	Pause                     // the caller stopped: endpointing
	Thinking                  // a reply is being made, nothing of it is audible
	Speaking                  // the agent speaks
	Yielding                  // the caller speaks over the agent, whose voice is lowered: barge-in or false interruption
	ToolWait                  // the reply waits for a function's result
	Bridged                   // the caller talks to the second leg, and the agent is out
	Closing                   // last words, then the end
	Over                      // nothing more happens
)

// phaseNames are what observers are shown: to them a call that is screened still connects.
var phaseNames = [...]string{"connecting", "connecting", "listening", "user_speaking", "pause", "thinking", "speaking", "yielding", "tool_wait", "bridged", "closing", "over"}

func (p Phase) String() string { return phaseNames[p] }
