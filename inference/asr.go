package inference

import (
	"context"
	"time"
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
	// Detect says that the caller may come to speak another language: an engine with Caps.Detects finds out which it hears,
	// and others hear Language.
	Detect bool
	Hints  Hints
	// Format is how the caller's audio came: Write is given it decoded, at its rate,
	// and the engine may encode it the same way again without loss. It is one of
	// Caps.In; the zero value is 16 kHz PCM, which every engine takes.
	Format Format
	// AgentSaid is what the agent has said before the stream was opened, where that
	// is known: the latest sentence or two.
	AgentSaid string
	Turns     TurnOptions
	Options   Options
}

// Hints are what the caller may be expected to say. An engine biases its
// recognition with them, or builds its language model from them.
type Hints struct {
	// Terms are names, products and phrases, the likeliest first.
	Terms []string
	// Context is text that shows what the call is about: the agent's first message.
	Context string
	// Prompt is the agent's prompt, for engines that build a language model on this
	// machine. It is confidential, and recognisers repeat it in noise: FailoverASR
	// gives it to engines that are Local, and others must not send it anywhere.
	Prompt string
}

// TurnOptions are how an engine with Caps.Turns ends a turn; zero values leave
// it to the engine.
type TurnOptions struct {
	Threshold float64       // probability from which a turn has ended, 0 to 1
	Eager     float64       // probability from which an eager end is reported; 0: none is
	Silence   time.Duration // the longest pause inside a turn
}

// Recognition is one call's stream, cut into utterances: everything written
// between two Finish calls. A batch engine recognises at Finish.
type Recognition interface {
	// Write takes caller audio at the rate of ASRConfig.Format, any length up to 1 s; it
	// copies, never blocks and drops the oldest audio, counted, when the engine lags by 15 s.
	Write(samples []int16)
	// Finish ends the utterance in progress: its last final result follows. It
	// returns the number of that utterance, from 1.
	Finish() int
	// Resume takes back the latest Finish when the caller goes on: the utterance
	// continues and a batch engine cancels the request it had sent.
	Resume()
	// Said tells what the agent has just said: an answer is easier to recognise when
	// the question is known. It does not block; engines without a use for it ignore it.
	Said(text string)
	// Configure changes how turns end from now on, where the engine has
	// Caps.Reconfigure. It does not block.
	Configure(TurnOptions)
	// Results delivers partial and final texts in order. It is closed when the
	// stream has ended; when it ended by a fault the last result carries Err.
	Results() <-chan Result
	// Close ends the stream and waits until its resources are free.
	Close()
}

// NoContext is Said and Configure for recognisers that have no use for them, which
// embed it.
type NoContext struct{}

// Said does nothing.
func (NoContext) Said(string) {}

// Configure does nothing.
func (NoContext) Configure(TurnOptions) {}

// Cutter is a Recognition that is given all audio of a call, and may have to give an engine speech alone.
type Cutter interface {
	// Speech says that the utterance in progress begins, before samples ago, of what was written. It does not block.
	Speech(before int)
}

// Lagging is a Recognition that knows how far it is behind.
type Lagging interface {
	// Lag is the length of the audio that it was given and has not heard yet, and at least a
	// frame while the final result of an utterance is due. It does not block.
	Lag() time.Duration
}

// Event is what a Result reports.
type Event uint8

// The events of a recogniser. One without Caps.Turns reports texts only; one with it
// reports them before the end of the turn, whose Text repeats them or is empty.
const (
	EventText        Event = iota // Text
	EventSpeechStart              // the caller begins to speak
	EventEagerEnd                 // the turn is likely over, with EndProb
	EventResumed                  // it was not: takes back the latest EventEagerEnd
	EventTurnEnd                  // the turn is over, with EndProb
)

// Result is what a recogniser believes was said.
type Result struct {
	Event      Event   `json:",omitempty"`
	Utterance  int     // which utterance, from 1
	Text       string  // partial: all of the utterance so far; final: the piece since the last final
	Final      bool    // will not change
	Last       bool    // final, and nothing more follows for this utterance
	Confidence float64 // 0 to 1; below 0 when the engine does not say
	EndProb    float64 `json:",omitempty"` // of EventEagerEnd and EventTurnEnd: that the turn is over, 0 to 1
	Err        error   // the stream failed
	Engine     string  // like Delta's
	Language   string  `json:",omitempty"` // of Text, final: two letters; empty: the engine does not say
	// Words are those of Text, with times from the first sample of the utterance; nil: the
	// engine does not say. Their number is that of Text's, cut at spaces, or they do not
	// count. The receiver owns them.
	Words []Mark `json:",omitempty"`
	// Usage is cumulative for the stream; the last one counts. nil: no news.
	Usage *Usage `json:",omitempty"`
}
