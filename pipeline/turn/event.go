package turn

import "parley/media"

// EventKind says what happened.
type EventKind uint8

// The events of a conversation.
const (
	Frame       EventKind = iota + 1 // 20 ms of caller audio were heard
	Ready                            // media flows and the configuration is complete
	AnsweredBy                       // By answered the call; Open, when they may be spoken to; Line: Greeting, if there is one
	Partial                          // Text of utterance Utt so far
	Final                            // a piece of utterance Utt that will not change
	Typed                            // the caller typed Text
	Digit                            // the caller pressed a key
	Interrupt                        // the caller asked the agent to stop (a button)
	FirstAudio                       // the first audio of the reply in progress is ready
	ReplyFailed                      // the reply in progress ended by a fault
	ToolsCalled                      // the reply asked for functions
	ToolsDone                        // every function asked for has its result
	Hangup                           // the model wants to end the call after this reply
	Drained                          // the far end has played everything
	Held                             // the caller put the agent on hold: neither hears the other
	Resumed                          // and took it back
	Connected                        // the caller was connected to somebody else: the agent's part is over
	Stop                             // a limit or a person ends the call: Reason, Detail, Line
)

// Event is one thing that happened. Only the fields its kind names are set.
type Event struct {
	Kind EventKind
	Now  media.Time // media time of the call

	Speech bool // Frame: the detector hears speech
	Loud   bool // Frame: and its level is within reach of the caller's own

	// Frame: how much audio of the agent is still unplayed once nothing more
	// will be added to it; Unfinished while more may come.
	Tail         media.Time
	Question     Question // Frame: what the agent's last sentence asks, once it has begun
	First        bool     // Frame: the first sentence of the reply is not played to its end
	MaySpeculate bool     // Frame: a speculative reply may be begun
	Behind       bool     // Frame: the recogniser has not heard all of the latest utterance yet

	Utt    int    // Partial, Final: which utterance, from 1
	Unsure bool   // Partial, Final: the recogniser's confidence is below one half
	Last   bool   // Final: the utterance's last piece
	Text   string // Partial, Final, Typed

	By   Answerer // AnsweredBy, which may come again, and is one as long as Screens says so
	Open bool     // AnsweredBy: what answered has finished its greeting

	Reason media.EndReason // Stop
	Detail string          // Stop
	Line   Line            // Stop: what to say first; NoLine ends at once
}

// Unfinished is the Tail of a reply that is not complete.
const Unfinished = media.Time(1<<62 - 1)
