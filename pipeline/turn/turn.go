// Package turn decides who may speak when. It is a pure function: Step takes a
// State and an Event and returns the next State and the Actions to carry out.
// It reads no clock, starts nothing and allocates nothing, so a conversation can
// be replayed from its events.
//
// All times are media time of the call: the end of the last audio heard. The
// caller of Step delivers a Frame event for each 20 ms of caller audio; timers
// are checked on those.
package turn

import "parley/media"

// Phase is where the conversation stands.
type Phase uint8

// The phases of a conversation.
const (
	Connecting   Phase = iota // configuration and engines are being set up
	Listening                 // nobody speaks
	UserSpeaking              // the caller speaks
	Pause                     // the caller stopped; the turn may be over
	Thinking                  // a reply is being made, nothing of it is audible
	Speaking                  // the agent speaks
	Yielding                  // the caller speaks over the agent: lowered, verdict open
	ToolWait                  // the reply waits for a function's result
	Closing                   // last words, then the end
	Over                      // nothing more happens
)

var phaseNames = [...]string{"connecting", "listening", "user_speaking", "pause", "thinking", "speaking", "yielding", "tool_wait", "closing", "over"}

func (p Phase) String() string { return phaseNames[p] }

// EventKind says what happened.
type EventKind uint8

// The events of a conversation.
const (
	Frame       EventKind = iota + 1 // 20 ms of caller audio were heard
	Ready                            // media flows and the configuration is complete
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
	Tail     media.Time
	Question Question // Frame: what the agent's last sentence asks, once it has begun
	First    bool     // Frame: the first sentence of the reply is not played to its end
	Advance  bool     // Frame: a reply may be begun before the turn is over
	Behind   bool     // Frame: the recogniser has not heard all of the latest utterance yet

	Utt    int    // Partial, Final: which utterance, from 1
	Unsure bool   // Partial, Final: the recogniser's confidence is below one half
	Last   bool   // Final: the utterance's last piece
	Text   string // Partial, Final, Typed

	Settled bool // Ready: what was said so far needs no answer

	Reason media.EndReason // Stop
	Detail string          // Stop
	Line   Line            // Stop: what to say first; NoLine ends at once
}

// Unfinished is the Tail of a reply that is not complete.
const Unfinished = media.Time(1<<62 - 1)

// ActionKind says what to do.
type ActionKind uint8

// The actions of a conversation.
const (
	OpenUtterance   ActionKind = iota + 1 // feed the recogniser, 400 ms of earlier audio first
	ResumeUtterance                       // the caller goes on: take the last Finish back
	CloseUtterance                        // finish the utterance
	BeginTurn                             // the caller has the floor, in turn Turn
	DropTurn                              // that was noise
	Speculate                             // begin a reply to Text in advance, which nobody hears or sees
	Retract                               // drop it
	Commit                                // Text is what the caller said in Turn: answer it
	Cancel                                // stop making the reply, nothing of it was audible
	GiveUp                                // the same, because nothing came of it in time
	Cut                                   // stop the reply now: fade, flush, keep what was heard
	Finish                                // end the reply with the sentence being spoken
	Duck                                  // lower the agent's voice (On) or restore it
	Say                                   // speak Line
	FollowUp                              // make the reply to the functions' results
	Listen                                // the agent is idle and hears
	End                                   // hang up: Reason, Detail
)

// Action is one thing to do. Only the fields its kind names are set.
type Action struct {
	Kind   ActionKind
	Turn   int
	Text   string
	Again  bool // Commit, Speculate: the turn was committed before; Text replaces its text
	Typed  bool // Commit: it was typed
	Ready  bool // Commit: the reply begun in advance is one to this text
	On     bool // Duck
	Line   Line // Say, and Commit: what answers the turn in place of the model
	Reason media.EndReason
	Detail string
}

// Line is something the agent says without the model.
type Line uint8

// The agent's own lines.
const (
	NoLine   Line = iota
	Greeting      // the agent's first message
	Sorry         // speech was heard but not understood
	Reprompt      // are you still there?
	Goodbye       // the last words
	Trouble       // an engine failed
)

// Policy says whether the caller may interrupt the agent.
type Policy uint8

// The interruption policies.
const (
	Always     Policy = iota
	Never             // speech is kept and answered afterwards
	AfterFirst        // as Never, until the first sentence of the reply was heard
)

// Config holds one conversation's settings. It is shared by all its States and
// never changes.
type Config struct {
	Language string // two letters, for the word lists

	StartAfter media.Time // speech this long opens the caller's turn (60 ms)
	StopAfter  media.Time // silence this long is a pause (100 ms)
	MinDelay   media.Time // wait after the last speech when the turn sounds complete (200 ms)
	MaxDelay   media.Time // and when it does not (2.4 s)
	LearntMax  media.Time // the most that MinDelay becomes for callers who pause within their turns (600 ms)
	DigitDelay media.Time // added when the last words are digits or spelling, or when the agent asked for such (600 ms)

	// Recogniser is how long after the last speech a final result may take
	// before the partial text is trusted, or silence means nothing was heard. While the
	// recogniser is Behind it may take BehindMax (5 s): what it has heard so far is a part.
	Recogniser, BehindMax media.Time
	// Batch is a recogniser whose every end of an utterance is a request: an utterance is
	// finished when the turn may be over, not at each pause.
	Batch    bool       `json:",omitempty"`
	NoiseMax media.Time // speech shorter than this without words is noise (700 ms)

	// TextStable is how long the text of a turn stays the same, while speech that is not
	// the caller's goes on, before the turn is over (2 s), and SpeechMax how long speech
	// lasts without a pause (30 s); 0: neither ends it.
	TextStable, SpeechMax media.Time

	Verdict     media.Time // an overlap undecided for this long is a false alarm (700 ms)
	OverlapMax  media.Time // continuous speech this long interrupts (600 ms)
	OverlapIdle media.Time // silence this long in an overlap without words ends it (400 ms)
	TailAnswer  media.Time // speech over the last part of a reply answers it (500 ms)
	// Salutation is how long speech may be that begins with the first message to be taken
	// for a salutation, which does not interrupt (1.2 s); 0: all speech may.
	Salutation media.Time
	Barge      Policy
	Greeting   Policy // the same for the agent's first message
	Keys       bool   // a key that the caller presses interrupts, where speech would

	// A reply is begun in advance after AdvanceAfter of silence (120 ms), when the text
	// is final or has not changed for AdvanceSteady (80 ms), AdvanceMost times in a
	// turn (2) of at most AdvanceSpeech of speech (20 s).
	AdvanceAfter, AdvanceSteady, AdvanceSpeech media.Time
	AdvanceMost                                int

	Idle      media.Time // silence after which the agent asks (10 s); 0: never
	Reprompts int        // how often it asks before it says goodbye (2)

	Think      media.Time // a reply without audio for this long has failed (15 s)
	HangupGap  media.Time // silence between the last word and the hang-up (200 ms)
	ClosingMax media.Time // the longest last words may take (8 s)

	// Complete is the probability, 0 to 1, that a turn with this text is over.
	Complete func(text string) float64 `json:"-"`
}

// DefaultConfig is what a conversation in language starts from.
func DefaultConfig(language string) Config {
	const ms = media.Millisecond
	return Config{
		Language:   language,
		StartAfter: 60 * ms, StopAfter: 100 * ms,
		MinDelay: 200 * ms, MaxDelay: 2400 * ms, LearntMax: 600 * ms, DigitDelay: 600 * ms,
		Recogniser: 600 * ms, BehindMax: 5 * media.Second, NoiseMax: 700 * ms,
		TextStable: 2 * media.Second, SpeechMax: 30 * media.Second,
		Verdict: 700 * ms, OverlapMax: 600 * ms, OverlapIdle: 400 * ms, TailAnswer: 500 * ms, Salutation: 1200 * ms,
		Keys:         true,
		AdvanceAfter: 120 * ms, AdvanceSteady: 80 * ms, AdvanceSpeech: 20 * media.Second, AdvanceMost: 2,
		Idle: 10 * media.Second, Reprompts: 2,
		Think: 15 * media.Second, HangupGap: 200 * ms, ClosingMax: 8 * media.Second,
		Complete: func(text string) float64 { return Complete(language, text) },
	}
}
