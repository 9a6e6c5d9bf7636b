package turn

import "parley/media"

// EventKind says what happened.
type EventKind uint8

// The events of a conversation.
const (
	Frame       EventKind = iota + 1 // 20 ms of caller audio were heard
	Ready                            // media flows and the configuration is complete
	Adopted                          // in place of Ready: the call goes on from the State of a process that has died; Wait
	Tick                             // the agent's frames of the moment were written: Output, Wait
	AnsweredBy                       // By answers the call and still greets; Line: Greeting, if there is one
	GreetedBy                        // By answered, has finished their greeting and may be spoken to; Line likewise
	Partial                          // Text of utterance Utt so far
	Final                            // a piece of utterance Utt that will not change
	LastFinal                        // the same, and the utterance's last piece
	Scored                           // an engine judges the pause that began at Pause: Prob
	Unscored                         // it takes that back: the caller goes on
	EngineEnd                        // the recogniser has ended the turn: Prob
	Words                            // the recogniser has words of the caller's; Final or LastFinal follows
	Typed                            // the caller typed Text
	Digit                            // the caller pressed Key
	Collect                          // a function waits for a number that the caller types: Number
	Collected                        // it does not wait any more
	Interrupt                        // the caller asked the agent to stop (a button)
	FirstAudio                       // the first audio of the reply in progress is ready
	ReplyFailed                      // the reply in progress ended by a fault
	ToolsCalled                      // the reply asked for functions
	ToolsDone                        // every function asked for has its result
	Hangup                           // the model wants to end the call after this reply
	Drained                          // the far end has played everything
	Held                             // the caller put the agent on hold: neither hears the other
	Resumed                          // and took it back
	Connected                        // the caller was connected to a second leg: the agent's part is over
	SteppedIn                        // a supervisor speaks in the agent's place from now on
	SteppedOut                       // and does not any more
	Stop                             // a limit or a person ends the call: Reason, Detail, Line
)

// Event is one thing that happened. Only the fields its kind names are set.
type Event struct {
	Kind EventKind
	Now  media.Time // media time of the call

	Speech Speech // Frame
	Tone   Tone   // Frame: of the speech before the pause that began 100 ms ago; NoTone in any other

	// Frame: how much audio of the agent is still unplayed once nothing more
	// will be added to it; Unfinished while more may come.
	Tail         media.Time
	Question     Question // Frame: what the agent's last sentence asks, once it has begun
	First        bool     // Frame: the first sentence of the reply is not played to its end
	MaySpeculate bool     // Frame: a speculative reply may be begun
	Behind       bool     // Frame: the recogniser has not heard all of the latest utterance yet

	Output Output // Tick
	Wait   Wait   // Tick; SteppedIn: TransferWait where it is whom the caller is transferred to; Adopted: AnswerWait, or none

	Utt        int        // Partial, Final, LastFinal: which utterance, from 1
	Confidence Confidence // of the same
	Text       string     // of the same, and Typed

	Prob  float64    // Scored, EngineEnd: that the turn has ended, 0 to 1
	Pause media.Time // Scored: the end of the speech before the pause, as State.Paused says

	Key    byte   // Digit: '0' to '9', '*', '#', 'A' to 'D'
	Number Number // Collect

	By Answerer // AnsweredBy, GreetedBy; both may come again, as long as Screens says so

	Reason media.EndReason // Stop
	Detail string          // Stop
	Line   Line            // Stop: what to say first; NoLine ends at once
}

// final says that the event is a text that will not change.
func (e *Event) final() bool { return e.Kind == Final || e.Kind == LastFinal }

// Speech is what the detector hears in a frame.
type Speech uint8

// What a frame holds.
const (
	NoSpeech      Speech = iota
	DistantSpeech        // speech far below the caller's own level
	CallerSpeech         // speech within reach of it
)

// Tone is how the pitch of the caller's speech went at its end.
type Tone uint8

// How it went.
const (
	NoTone  Tone = iota // not known
	Falling             // it fell, as at the end of a turn
	Level               // it stayed where it was on a long last syllable, as where more follows
)

// Confidence is how sure the recogniser is of a text.
type Confidence uint8

// The two confidences that matter.
const (
	Sure   Confidence = iota
	Unsure            // below one half
)

// Output is what the far end hears of the agent.
type Output uint8

// What the far end hears.
const (
	Resting   Output = iota // nothing, and no reply is being made
	Preparing               // nothing yet: a reply is being made
	Sounding                // a reply, or what is left of one
	Filling                 // a filler
)

// Wait is what the caller waits for beside a reply.
type Wait uint8

// What a caller waits for.
const (
	NoWait Wait = iota
	FunctionWait
	TransferWait // a transfer, and hears the telephone ring
	AnswerWait   // the answer that the process owed them which had the call
)

// Unfinished is the Tail of a reply that is not complete.
const Unfinished = media.Time(1<<62 - 1)
