package turn

import "parley/media"

// ActionKind says what to do.
type ActionKind uint8

// The actions of a conversation.
const (
	OpenUtterance   ActionKind = iota + 1 // feed the recogniser, 400 ms of earlier audio first
	ResumeUtterance                       // the caller goes on: take the last CloseUtterance back
	CloseUtterance                        // finish the utterance
	AskScore                              // have the caller's pause judged: Text, Pause, Wait
	BeginTurn                             // the caller has the floor, in turn Turn
	DropTurn                              // that was noise
	Speculate                             // begin a speculative reply to Text, neither heard nor shown
	DropSpeculation                       // drop it
	Commit                                // Text is what the caller said in Turn: answer it
	Keep                                  // Text is what the caller said in Turn: a supervisor answers it
	Cancel                                // stop making the reply, nothing of it was audible
	GiveUp                                // stop making the reply, its engines made no audio in time
	InterruptReply                        // stop the reply now: fade, flush, keep what was heard
	Finish                                // end the reply with the sentence being spoken
	Duck                                  // lower the agent's voice
	Unduck                                // and raise it again
	Say                                   // speak Line
	NoteAnswer                            // Text was heard before the conversation began
	LeaveMessage                          // the next Greeting is the message for a machine
	SayFiller                             // say filler N of this turn, or the Announcement: the caller waits
	StopFiller                            // stop it, the caller speaks
	EndCollecting                         // the caller has typed Text for the function that waits; Detail says how that ended
	NoteKeys                              // Text stands for keys that the caller pressed before they said what follows
	FollowUp                              // make the reply to the functions' results
	Listen                                // the agent is idle and hears
	End                                   // hang up: Reason, Detail
)

// Action is one thing to do. Only the fields its kind names are set.
type Action struct {
	Kind   ActionKind
	Turn   int
	Text   string
	Again  bool       // Commit, Keep, Speculate: the turn was committed before; Text replaces its text
	Typed  bool       // Commit, Keep: it was typed
	Ready  bool       // Commit: the speculative reply is one to this text
	N      int        // SayFiller, from 0; Announcement
	Line   Line       // Say, and Commit: what answers the turn in place of the model
	Pause  media.Time // AskScore: the end of the speech before it, as State.Paused says
	Wait   media.Time // AskScore: until the turn ends without an answer
	Reason media.EndReason
	Detail string
}

// Line is something the agent says without the model.
type Line uint8

// The agent's own lines.
const (
	NoLine      Line = iota
	Greeting         // the agent's first message
	Sorry            // speech was heard but not understood
	Reprompt         // are you still there?
	Goodbye          // the last words
	Trouble          // an engine failed
	Reconnected      // I lost you for a moment: the call was adopted
)
