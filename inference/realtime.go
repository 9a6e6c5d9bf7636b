package inference

import (
	"context"
	"time"
)

// Realtime hears and speaks by itself: one model in place of recogniser, language
// model and voice. The conductor keeps the floor, the meter and the history.
type Realtime interface {
	Info() Info
	Voices() []Voice
	// Open begins a call's session. It ends with ctx or Close.
	Open(ctx context.Context, c RealtimeConfig) (Session, error)
}

// RealtimeConfig is what a session begins with.
type RealtimeConfig struct {
	Prompt   string
	Tools    []Tool
	Voice    string
	Language string // two letters; empty means detect
	History  []Message
	// After is a session of the same engine that this one follows; nil: none. An engine that can go on from it does, without
	// History, and closes it before it says anything.
	After Session
	// In and Out are of Info().Caps; zero values are 16 kHz PCM.
	In, Out Format
	Options Options
}

// Session is one call's conversation with a Realtime. Write never blocks; the
// other methods queue a message and do not wait for the engine.
type Session interface {
	// Write takes all of the caller's audio at the rate of RealtimeConfig.In,
	// silence included, any length up to 1 s; it copies.
	Write(samples []int16)
	// Commit ends the caller's turn.
	Commit()
	// Reply asks for a reply; instructions, where not empty, hold for it alone.
	Reply(instructions string)
	// Interrupt ends a reply: no audio of it follows but what is on its way. One that is complete stays so.
	Interrupt(item string)
	// Truncate cuts a reply in the engine's history to what the caller has heard.
	Truncate(item string, heard time.Duration)
	// ToolResult answers a tool call. Reply has the engine go on.
	ToolResult(id, output string)
	// Update changes prompt and tools from the next reply on.
	Update(prompt string, tools []Tool)
	// Events delivers what happens, in order. It is closed when the session has
	// ended; when it ended by a fault the last event carries Err.
	Events() <-chan RealtimeEvent
	// Close ends the session and waits until its resources are free.
	Close()
}

// RealtimeKind says what a RealtimeEvent reports.
type RealtimeKind uint8

// The events of a session.
const (
	RealtimeSpeechStart RealtimeKind = iota // the caller begins to speak
	RealtimeSpeechEnd                       // and has stopped
	RealtimeHeard                           // Text is what the caller said in the turn that ended
	RealtimeReply                           // a reply begins; Item names it
	RealtimeAudio                           // Chunk is a piece of reply Item
	RealtimeText                            // Text is the next piece of what Item says
	RealtimeTool                            // ToolCall is complete
	RealtimeDone                            // reply Item is complete, with Finish and Usage
	RealtimeUsed                            // Usage of reply Item, which was not known when it was done
	RealtimeExpires                         // the session ends soon: another one has to replace it, between turns
)

// RealtimeEvent is one thing that happened in a session.
type RealtimeEvent struct {
	Kind     RealtimeKind
	Item     string // the engine's name for a reply
	Text     string
	Chunk    Chunk
	ToolCall *ToolCall
	Finish   Finish
	Usage    *Usage // of the reply
	Err      error  // the session failed
}
