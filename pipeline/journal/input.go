package journal

import (
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/listen"
	"parley/pipeline/turn"
)

// Kind says what happened to a call.
type Kind uint8

// What happens to calls.
const (
	Began     Kind = iota + 1 // its first moment
	Ticked                    // frames came and were due
	Received                  // Message came from an engine, a function or a client
	Stopped                   // somebody asked for the end: Stop
	Keyed                     // the caller pressed Digit, or held the call: Hold
	Concluded                 // it is over, for Ended; Outside says that others ended it
	Late                      // Message came too late to count, but for usage
	Closed                    // everything has stopped
)

var kindNames = [...]string{"", "begin", "tick", "told", "stop", "key", "concluded", "late", "closed"}

func (k Kind) String() string { return kindNames[k] }

// few is a list whose first entries are held without allocation: more than a wake-up reads or observes, but after a
// stall.
type few[T any] struct {
	first [8]T
	n     int // of first
	more  []T
}

func (l *few[T]) add(v T) {
	if l.n < len(l.first) {
		l.first[l.n] = v
		l.n++
		return
	}
	l.more = append(l.more, v)
}

// all is a copy of the list.
func (l *few[T]) all() []T { return append(append([]T(nil), l.first[:l.n]...), l.more...) }

// last is the latest entry, which must be there.
func (l *few[T]) last() *T {
	if n := len(l.more); n > 0 {
		return &l.more[n-1]
	}
	return &l.first[l.n-1]
}

// Input is one thing that happened to a call.
type Input struct {
	Kind Kind
	At   time.Duration // since the call's first moment

	NoSpeculation bool // no speculative reply may be begun
	Carried       int  // Ticked: frames that passed between two people
	Message       *Message
	Stop          *Stop
	Digit         byte
	Hold          media.LegEventKind // Keyed: media.LegHold or LegResume; 0: neither
	Ended         *media.Ended
	Outside       bool

	heard    few[Heard]
	observed few[Observation]
}

// Heard is what the detector, the echo guard and the answering-machine detection made of a
// frame of the caller's.
type Heard struct {
	Speech, Echo bool        // Echo: the line is known to have one
	Behind       bool        // the recogniser is behind the caller
	Level        float32     // dBFS
	Verdict      uint8       // an amd.Verdict
	Open         bool        // the callee may be spoken to
	Tone         listen.Tone // of speech that ended 100 ms ago
}

// Quantity is something that the conductor reads and that does not follow from its inputs.
type Quantity uint8

// What the conductor reads. The numbers are those in files.
const (
	Due         Quantity = iota + 1 // frames that the leg wants
	Lag                             // written and not played, media.Time
	Flushed                         // taken back, media.Time
	Ducks                           // 1: the far end lowers the voice
	Local                           // 1: the voice costs nothing in vain
	Pieces                          // of a filler's audio
	PieceRate                       // of one
	PieceLength                     // of one, in samples
	EndsTurns                       // 1: the recogniser in use finds the ends of turns
	Batch                           // 1: each end of an utterance is a request to it
	Supervised                      // 1: a frame of a supervisor's voice is there
)

// Observation is the value that a Quantity had.
type Observation struct {
	Of    Quantity
	Value int64
}

// Heard is the frames of an input, oldest first. The slice is the caller's.
func (in *Input) Heard() []Heard { return in.heard.all() }

// Observed is what was observed while the input was dealt with, in order. The slice is the caller's.
func (in *Input) Observed() []Observation { return in.observed.all() }

// AddHeard adds a frame.
func (in *Input) AddHeard(h Heard) { in.heard.add(h) }

// AddObserved adds an observation.
func (in *Input) AddObserved(o Observation) { in.observed.add(o) }

// Stop is an end that somebody asked for.
type Stop struct {
	Reason media.EndReason `json:"reason"`
	Detail string          `json:"detail,omitempty"`
	Line   turn.Line       `json:"line,omitempty"`
}

// Message is what came from an engine, a function or a client. Audio is its length.
type Message struct {
	Kind    string              `json:"kind"`
	Gen     int                 `json:"gen,omitempty"`
	Seg     int                 `json:"seg,omitempty"`
	Text    string              `json:"text,omitempty"`
	ID      string              `json:"id,omitempty"`
	Result  *inference.Result   `json:"result,omitempty"` // its utterance counts those of the call
	Pause   media.Time          `json:"pause,omitempty"`  // that a scorer judged, by the end of the speech before it
	Prob    float64             `json:"prob,omitempty"`   // that the turn had ended, as the scorer says
	Samples int                 `json:"samples,omitempty"`
	Rate    media.Rate          `json:"rate,omitempty"`
	Words   []inference.Mark    `json:"words,omitempty"`
	Call    *inference.ToolCall `json:"call,omitempty"`
	Own     []inference.Part    `json:"own,omitempty"` // what the model wants back with the call
	Usage   *inference.Usage    `json:"usage,omitempty"`
	Engine  string              `json:"engine,omitempty"`
	Err     string              `json:"error,omitempty"`
	Cause   string              `json:"cause,omitempty"`    // of errors that mean something: connected, transferred or deadline
	Sent    *time.Duration      `json:"sent_ns,omitempty"`  // when the engine was asked, since the call's first moment; nil in older files
	At      *time.Duration      `json:"at_ns,omitempty"`    // when the engine gave it, since the call's first moment
	Whole   *time.Duration      `json:"whole_ns,omitempty"` // likewise, when the model had written the sentence
	Agent   *Person             `json:"agent,omitempty"`
	Origin  *Origin             `json:"origin,omitempty"` // of an agent that takes the call over: the agent's part of it
	Brief   bool                `json:"brief,omitempty"`  // it gets a summary in place of the history
}
