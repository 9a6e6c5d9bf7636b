// Package event is what a call tells its observer: who shows it, stores it or charges for it. Shown leaves out what the observer
// knows already.
//
// event.go has the events, shown.go what is left out, and logged.go an event as the call's log has it.
package event

import (
	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/reply"
	"parley/pipeline/wordtime"
)

// Kind says what an Event tells.
type Kind uint8

// What a call tells its observer. Their order is part of the contract: Thinking
// comes before Speaking of the same Generation, Speaking before its first audio;
// a cut is Interrupted, AgentLine with what was heard, Listening, and no audio of
// the cut reply is written after it, but on a continuous leg one frame in which it
// fades. Used may come at any time after its completion is over, up to End.
const (
	Thinking       Kind = iota + 1 // a reply was asked for
	Speaking                       // its first audio follows
	Listening                      // the agent is idle and hears
	Interrupted                    // the caller cut the agent off
	UserPartial                    // Text of the caller's turn so far
	UserLine                       // Text the caller said
	UserLineAgain                  // Text replaces the latest UserLine
	AgentPartial                   // Text of the sentence the agent begins
	AgentLine                      // Text of the reply, as far as it was heard
	Ducked                         // On: the agent's voice was lowered, or restored
	ToolAsked                      // run Call and answer with its result
	ToolBegun                      // this server runs Call
	ToolEnded                      // Call has its result, Text says which kind: ok, error, timeout, cancelled or unknown_tool
	Phones                         // phonemes of the audio that follows
	Fault                          // Err failed one turn; the call goes on
	Recovered                      // Err failed a sentence, which is spoken again; the turn goes on
	Used                           // Usage of one completion
	Timed                          // Timing of one turn
	Answered                       // Text says who answered: human, machine, screening or unknown
	Served                         // the engine Text served Stage, and another or none did before
	HandedOver                     // the agent Text conducts the call from now on
	SteppedIn                      // a supervisor, or whom the caller is transferred to, Text, speaks in the agent's place from now on
	SteppedOut                     // and does not any more
	SupervisorLine                 // Text the supervisor said
	End                            // the call is over: Ended; the last event

	// The inside of a call, told where Config.Inspect wants it, before End.
	Phased // Text is the phase of the turn machine from now on
	Asked  // Request goes to the model; On: of a speculative reply, to a turn that may go on
	Echoed // the far end was found to give the agent its own voice back
)

var names = [...]string{"", "thinking", "speaking", "listening", "interrupted", "user_partial", "user_line", "user_line_again",
	"agent_partial", "agent_line", "ducked", "tool_asked", "tool_begun", "tool_ended", "phones", "fault", "recovered", "used", "timed", "answered", "served", "handed_over", "stepped_in", "stepped_out", "supervisor_line", "end", "phased", "asked", "echoed"}

func (k Kind) String() string { return names[k] }

// Event is something a call's observer may want to show, store or charge. Only
// the fields its kind names are set.
type Event struct {
	Kind                   Kind
	At                     media.Time     // media time of the call
	Turn                   int            // the caller's turn it belongs to, from 1
	Generation             int            // the reply, counting those announced, from 1
	Said                   *wordtime.Said // of lines; nil: it was typed
	Stage                  agent.Stage
	Text, Replaces, Result string // Result of ToolEnded is what the model gets
	On                     bool
	Call                   inference.ToolCall
	Request                *inference.Request // not to be changed, nor kept
	Phones                 []inference.Mark   // owned by the observer; times from the first audio of the reply
	Err                    error
	Usage                  reply.Usage
	Timing                 reply.Timing
	Ended                  media.Ended
}
