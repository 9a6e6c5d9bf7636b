// Package duplex is a session with a vendor's engine that hears and speaks at once, over one WebSocket. What vendors have
// in common is here; a Vendor is what differs.
//
//	duplex.go   what a vendor is, and its engine
//	session.go  one session: audio and requests go out, what the vendor says becomes events
//	order.go    the words of a turn before the reply to it
//
// A session has one socket and ends with it. What replaces it, and knows what was said, is who opened it (package
// realtime): a session that ends soon says so. The one that follows goes on by the vendor's handle, where there is one, or begins
// with the history.
package duplex

import (
	"context"
	"slices"
	"time"

	"parley/inference"
	"parley/inference/remote"
	"parley/inference/synthesiser"
)

// Vendor is what one vendor's engine says on its wire.
type Vendor interface {
	// Info describes it.
	Info() inference.Info
	// Voices are the vendor's, by ours.
	Voices() synthesiser.Voices
	// Path is the path and query of a session's socket.
	Path() string
	// Lasts is the age at which a session has to be replaced; 0: the vendor says so.
	Lasts() time.Duration
	// Connect makes what speaks on the line of a session.
	Connect(Line) Connection
}

// Line is what a Connection speaks on, while one of its methods runs.
type Line interface {
	// Send queues a message, which is written as JSON.
	Send(message any)
	// Emit reports what happens in the session.
	Emit(inference.RealtimeEvent)
}

// Connection is what is said in one session. It belongs to one goroutine. Methods of an inference.Session do what they do
// there.
type Connection interface {
	// Begin says what comes first. It is called when there is something to say, with what the
	// call knows by then. handle is that of a session to go on from, which has the history already; empty: there is none.
	Begin(c inference.RealtimeConfig, handle string)
	// Handle is the vendor's name for the session as it is now, by which another may go on from it; empty: none can.
	Handle() string
	// Ready says that the vendor takes audio and requests; they wait until it does.
	Ready() bool
	// Audio sends samples at 16 kHz, 1 s at most, which it does not keep.
	Audio(samples []int16)
	Commit()
	Reply(instructions string)
	Interrupt(item string)
	Truncate(item string, heard time.Duration)
	ToolResult(id, output string)
	Update(prompt string, tools []inference.Tool)
	// Read takes a message of the vendor's. Its error ends the session.
	Read(message []byte) error
	// Due does what is due by now, and returns how long until there is something again. Its error ends the session.
	Due(now time.Time) (time.Duration, error)
}

// Engine is an inference.Realtime. Safe for use from several goroutines.
type Engine struct {
	vendor Vendor
	client *remote.Client
}

// New makes the engine of a vendor that client reaches.
func New(client *remote.Client, v Vendor) *Engine { return &Engine{v, client} }

// Remote is how the vendor is reached.
func (e *Engine) Remote() *remote.Client { return e.client }

// Info implements inference.Realtime.
func (e *Engine) Info() inference.Info {
	info := e.vendor.Info()
	info.Feed, info.Raw = inference.FeedContinuous, true
	return info
}

// Voices implements inference.Realtime.
func (e *Engine) Voices() []inference.Voice {
	return e.vendor.Voices().List(e.vendor.Info().Description)
}

// Open implements inference.Realtime. It waits for the handshake, 3 s at most; what the vendor refuses after it is the
// session's first event.
func (e *Engine) Open(ctx context.Context, c inference.RealtimeConfig) (inference.Session, error) {
	if e.vendor.Voices().Of(c.Voice) == "" {
		return nil, e.client.Fault(inference.ErrVoice, nil)
	}
	if c.Language != "" && !slices.Contains(e.vendor.Info().Languages, c.Language) {
		return nil, e.client.Fault(inference.ErrLanguage, nil)
	}
	return open(ctx, e, c)
}

// Prompt is the prompt of a session, with the language to answer in.
func Prompt(c inference.RealtimeConfig) string {
	return inference.Request{System: c.Prompt, Language: c.Language}.Prompt()
}

// Parameters is the JSON Schema of a tool's arguments.
func Parameters(t inference.Tool) []byte {
	if len(t.Parameters) == 0 {
		return []byte(`{"type":"object","properties":{}}`)
	}
	return t.Parameters
}
