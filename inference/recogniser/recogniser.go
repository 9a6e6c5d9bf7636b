// Package recogniser is recognition at a vendor while the caller speaks: audio goes out over a WebSocket
// as it comes, texts come back. What vendors have in common is here; a Vendor is what differs.
//
//	stream.go     the Recognition that a call has; utterances, their last results
//	connection.go the socket: audio at its pace, what the vendor says, another socket when one breaks
//	clock.go      the vendor's time, which begins with each socket, on the tape
//
// A stream keeps the audio that has no final result yet (inference.Tape). When its socket breaks it opens
// another, twice in 10 s at most, and sends that audio again, faster than it was spoken; what was final
// stays as it is, and partial texts are held back until the vendor has heard all again. After that, and
// at once when the vendor refuses, the stream fails, and another engine may take over.
package recogniser

import (
	"context"
	"slices"
	"time"

	"parley/inference"
	"parley/inference/remote"
)

// Vendor is what one vendor's recogniser says on its wire.
type Vendor interface {
	// Info describes it. Its Latency is also how long a Finish may stay unanswered.
	Info() inference.Info
	// Path is the path and query of a stream's socket, for audio of 16 bits at 16 kHz, little endian.
	Path(inference.ASRConfig) string
	// Chunk is how much audio a message should have.
	Chunk() time.Duration
	// Connect makes what reads one socket.
	Connect(inference.ASRConfig) Connection
}

// Connection is what is said on one socket. It belongs to one goroutine. Messages are text.
type Connection interface {
	// Read makes of a message of the vendor's what was heard. Its error ends the socket.
	Read(message []byte) ([]Heard, error)
	// Finish asks for the final text of all audio so far.
	Finish() []byte
	// Configure changes how turns end; nil: that cannot be said, or not yet.
	Configure(inference.TurnOptions) []byte
	// Idle keeps the socket open when no audio has been sent for the time; nil: silence does.
	Idle() (message []byte, after time.Duration)
	// End asks for what is left; the vendor closes the socket after it.
	End() []byte
}

// Kind is what a Heard reports.
type Kind uint8

// The kinds.
const (
	Partial     Kind = iota // Text since the last Final may still change
	Final                   // Text will not change
	Answer                  // Final, of all audio before a Finish
	SpeechStart             // the caller begins to speak
	EagerEnd                // the turn is likely over; Text as in Partial
	Resumed                 // it was not
	TurnEnd                 // the turn is over; Text as in Final
)

// Heard is one thing that a vendor says of the audio. Times count from the first sample on the socket.
type Heard struct {
	Kind       Kind
	Text       string
	End        time.Duration // of the audio that it is about; 0: the vendor does not say
	Words      []inference.Mark
	Confidence float64 // 0 to 1; below 0: the vendor does not say
	EndProb    float64 // of EagerEnd and TurnEnd
}

// Engine is an inference.ASR. Safe for use from several goroutines.
type Engine struct {
	vendor Vendor
	client *remote.Client
}

// New makes the engine of a vendor that client reaches.
func New(client *remote.Client, v Vendor) *Engine { return &Engine{v, client} }

// Info implements inference.ASR.
func (e *Engine) Info() inference.Info { return e.vendor.Info() }

// Open implements inference.ASR. It waits for the handshake, 3 s at most.
func (e *Engine) Open(ctx context.Context, c inference.ASRConfig) (inference.Recognition, error) {
	info := e.vendor.Info()
	if c.Language != "" && !slices.Contains(info.Languages, c.Language) {
		return nil, e.client.Fault(inference.ErrLanguage, nil)
	}
	if n := info.Caps.Keyterms; len(c.Hints.Terms) > n {
		c.Hints.Terms = c.Hints.Terms[:n]
	}
	return open(ctx, e, c)
}
