// Package inference declares what a call needs of speech recognition (ASR), a
// language model (LLM) and speech synthesis (TTS), and the values that pass
// between them and the call. One folder per engine implements it; enginetest
// holds the conformance suite each of them passes.
//
// Engines are slow and may fail, so nothing here runs in the 20 ms path except
// Recognition.Write. Cancelling a context frees the engine's slot within one
// frame (20 ms). Engines are safe for use from several goroutines; the streams
// they open belong to one.
package inference

import (
	"context"
	"iter"
	"time"

	"parley/media"
)

// ASR opens recognition streams.
type ASR interface {
	Info() Info
	// Open starts a stream for one call. The stream ends with ctx or Close.
	// Errors: *Error with ErrLanguage when the language cannot be heard.
	Open(ctx context.Context, c ASRConfig) (Recognition, error)
}

// ASRConfig is what a recogniser may know of the call.
type ASRConfig struct {
	Language string // two lower-case letters; empty means detect
	// Phrases are texts the caller is likely to echo: the agent's prompt, its
	// greeting, slot values, expected phrases. An engine may build or bias its
	// language model from them; they must not be sent where they are not needed.
	Phrases []string
}

// Recognition is one call's stream, cut into utterances: everything written
// between two Finish calls. A batch engine recognises at Finish.
type Recognition interface {
	// Write takes caller audio, 16 kHz, any length up to 1 s; it copies, never
	// blocks and drops the oldest audio, counted, when the engine lags by 15 s.
	Write(samples []int16)
	// Finish ends the utterance in progress: its last final result follows. It
	// returns the number of that utterance, from 1.
	Finish() int
	// Resume takes back the latest Finish when the caller goes on: the utterance
	// continues and a batch engine cancels the request it had sent.
	Resume()
	// Results delivers partial and final texts in order. It is closed when the
	// stream has ended; when it ended by a fault the last result carries Err.
	Results() <-chan Result
	// Close ends the stream and waits until its resources are free.
	Close()
}

// Lagging is a Recognition that knows how far it is behind.
type Lagging interface {
	// Lag is the length of the audio that it was given and has not heard yet, and at least a
	// frame while the final result of an utterance is due. It does not block.
	Lag() time.Duration
}

// Result is what a recogniser believes was said.
type Result struct {
	Utterance  int     // which utterance, from 1
	Text       string  // partial: all of the utterance so far; final: the piece since the last final
	Final      bool    // will not change
	Last       bool    // final, and nothing more follows for this utterance
	Confidence float64 // 0 to 1; below 0 when the engine does not say
	Err        error   // the stream failed
	Engine     string  // like Delta's
	// Words are those of Text, with times from the first sample of the utterance; nil: the
	// engine does not say. Their number is that of Text's, cut at spaces, or they do not
	// count. The receiver owns them.
	Words []Mark `json:",omitempty"`
}

// LLM answers a conversation.
type LLM interface {
	Info() Info
	// Complete streams a reply. The sequence ends after the last delta or after
	// yielding one non-nil error; breaking out of it or cancelling ctx aborts.
	Complete(ctx context.Context, r Request) iter.Seq2[Delta, error]
}

// Request is one completion.
type Request struct {
	System    string // the agent's prompt
	Unheard   string // the end of the agent's first message, which the caller interrupted and has not heard
	Messages  []Message
	Tools     []Tool
	NoTools   bool   // tools are listed but must not be called (tool_choice none)
	Language  string // two letters, what to answer in
	MaxTokens int    // 0: the engine's default
	// Schema asks for one JSON object that fits this JSON Schema, and nothing else; nil:
	// the answer is text. An engine that cannot promise it answers as well as it can.
	Schema []byte
}

// Role is who a message is from.
type Role string

// The roles of a conversation.
const (
	RoleUser  Role = "user"
	RoleAgent Role = "agent"
	RoleTool  Role = "tool" // the result of a tool call
)

// Message is one entry of the history the model sees.
type Message struct {
	Role        Role
	Text        string
	Interrupted bool       // agent: cut off; Text is what was heard
	ToolCalls   []ToolCall // agent: calls it made in this message
	ToolCallID  string     // tool: the call this answers
}

// Tool is a function the model may call.
type Tool struct {
	Name        string
	Description string
	Parameters  []byte // JSON Schema of the arguments; empty means none
}

// ToolCall is the model's wish to run a tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments string // JSON text as the model wrote it
}

// Delta is one piece of a reply: text, a complete tool call, usage, or several.
type Delta struct {
	Text     string
	ToolCall *ToolCall
	// Usage is cumulative for this reply; the last one counts.
	Usage *Usage
	// Engine is the one of a failover's that made it; empty: the engine that was asked.
	Engine string
}

// Usage is what a completion consumed, in tokens.
type Usage struct {
	In, Out int
	Source  UsageSource
}

// UsageSource says who counted.
type UsageSource string

// Who counted the tokens.
const (
	UsageProvider UsageSource = "provider"
	UsageCounted  UsageSource = "counted"
)

// TTS speaks.
type TTS interface {
	Info() Info
	// Voices lists what Speech.Voice may name.
	Voices() []Voice
	// Speak streams the audio of one text. The sequence ends after the last
	// chunk or after yielding one non-nil error. Errors: *Error with ErrVoice or
	// ErrLanguage before the first chunk.
	Speak(ctx context.Context, s Speech) iter.Seq2[Chunk, error]
}

// Speech is one text to speak.
type Speech struct {
	Text     string
	Voice    string  // F1 to F5, M1 to M5, or an engine's own
	Language string  // two letters
	Speed    float64 // 0.5 to 2.0, 1 is the voice's own pace; 0 means 1
	Steps    int     // quality steps where the engine has them; 0: its default
}

// Chunk is a piece of speech. The receiver owns its slices.
type Chunk struct {
	Samples []int16
	Rate    media.Rate // the same for all chunks of one Speak
	Words   []Mark     // words that begin in this chunk; nil when the engine does not say
	Phones  []Mark     // phonemes (IPA) that begin in this chunk; nil likewise
	Engine  string     // like Delta's
}

// Mark is where a word or phoneme lies in the audio.
type Mark struct {
	Text       string
	Start, End time.Duration // from the first sample of the Speak; End 0 when unknown
	Char       int           // index in Speech.Text of its first character, in code points; -1 when unknown
}

// Voice is one voice of a TTS.
type Voice struct {
	ID          string
	Gender      string // "female" or "male"
	Description string
}

// Info describes an engine as discovery, readiness and logs show it.
type Info struct {
	Name        string
	Description string
	Languages   []string // two letters, in the order of the specification
	// Latency is the wait for a final result after Finish to assume before any
	// was measured (ASR): 600 ms streaming, 5 s batch.
	Latency time.Duration
	// Batch says that an ASR recognises an utterance when it has ended, and not before: each
	// Finish is a request, which costs money, and one that Resume takes back is made again.
	Batch bool
	// Local says that the engine runs on this machine: what it makes in vain costs nobody
	// money.
	Local bool
	// Scripted engines follow rules and are labelled as such wherever they show.
	Scripted bool
}

// Fault says why an engine refused or failed, for the one error table.
type Fault uint8

// The faults of engines.
const (
	ErrFailed      Fault = iota + 1 // the engine or its server failed; trying again may help
	ErrLanguage                     // this engine does not know the language
	ErrVoice                        // or the voice
	ErrUnavailable                  // not reachable, not started, no slot
	ErrRefused                      // the server refused our credentials or request: no retry
)

// Error is an engine's fault. Its text never holds a secret or caller's words.
type Error struct {
	Engine string
	Fault  Fault
	Err    error
}

func (e *Error) Error() string {
	if e.Err == nil {
		return e.Engine + ": " + e.Fault.String()
	}
	return e.Engine + ": " + e.Fault.String() + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

func (f Fault) String() string {
	switch f {
	case ErrLanguage:
		return "language not supported"
	case ErrVoice:
		return "unknown voice"
	case ErrUnavailable:
		return "not available"
	case ErrRefused:
		return "refused"
	}
	return "failed"
}
