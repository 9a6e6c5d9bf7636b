package pipeline

import (
	"time"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media"
	"parley/pipeline/turn"
)

// Journal keeps what reaches a call's conductor: all that its events follow from. What
// was kept can be fed to a Rerun. Its methods are called by the conductor and neither
// block nor, but for Begin and Close, take long; Input does not allocate.
type Journal interface {
	// Begin is called at the call's first moment, or never.
	Begin(Origin)
	// Input is one thing that happened to the call. The events and notes since the Input
	// before it followed from this one.
	Input(*Input)
	Note(Note)
	Event(Event)
	// Close is called after the last event. It may wait for what is being written.
	Close()
}

// Origin is what a call began with, without what only its engines need to know.
type Origin struct {
	Start       time.Time        `json:"start"`
	Format      media.Format     `json:"format"`
	Agent       Person           `json:"agent"`
	Turn        turn.Config      `json:"turn"` // times in units of media.Time
	Hears       bool             `json:"hears"`
	ASR         string           `json:"asr,omitempty"` // names of the engines
	LLM         string           `json:"llm"`
	TTS         string           `json:"tts"`
	Own         []string         `json:"own,omitempty"` // functions of the call itself
	Functions   []OriginFunction `json:"functions,omitempty"`
	ClientTools bool             `json:"client_tools,omitempty"`
	ToolTimeout time.Duration    `json:"tool_timeout_ns"`
	Answering   *Answering       `json:"answering,omitempty"`
	Speculate   bool             `json:"speculate,omitempty"`
	AnyVoice    bool             `json:"speculate_voice,omitempty"`
	MaxDuration time.Duration    `json:"max_duration_ns,omitempty"`
	Quiet       time.Duration    `json:"quiet_ns,omitempty"`
}

// OriginFunction is a function that the server ran.
type OriginFunction struct {
	Name    string        `json:"name"`
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	Cancel  bool          `json:"cancel,omitempty"`
}

// Person is the agent as far as the conductor minds.
type Person struct {
	Voice         string         `json:"voice"`
	Language      string         `json:"language"`
	FirstMessage  string         `json:"first_message,omitempty"`
	Goodbye       string         `json:"goodbye,omitempty"`
	Pronunciation []spoken.Entry `json:"pronunciation,omitempty"`
	Tools         []string       `json:"tools,omitempty"` // that the client runs
	// VoiceNormalises is that of agent.Agent.
	VoiceNormalises bool `json:"voice_normalises,omitempty"`
}

// InputKind says what happened to a call.
type InputKind uint8

// What happens to calls.
const (
	Began     InputKind = iota + 1 // its first moment
	Ticked                         // frames came and were due
	Told                           // Message came from an engine, a function or a client
	Stopped                        // somebody asked for the end: Stop
	Keyed                          // the caller pressed Digit, or held the call: Hold
	Concluded                      // it is over, for Ended; Outside says that others ended it
	Buried                         // Message came too late to count, but for usage
	Closed                         // everything has stopped
)

var inputNames = [...]string{"", "begin", "tick", "told", "stop", "key", "concluded", "late", "closed"}

func (k InputKind) String() string { return inputNames[k] }

// InputNamed is the kind of that name; 0: there is none.
func InputNamed(name string) InputKind {
	for k, n := range inputNames {
		if n == name && k > 0 {
			return InputKind(k)
		}
	}
	return 0
}

// What an Input holds without allocation: more than a wake-up reads or asks, but after a
// stall.
const (
	inputFrames  = 8
	inputAnswers = 8
)

// Input is one thing that happened to a call.
type Input struct {
	Kind InputKind
	At   time.Duration // since the call's first moment

	NoSpeculation bool // Ticked: no speculative reply may be begun
	Carried       int  // Ticked: frames that passed between two people
	Message       *Message
	Stop          *StopAsked
	Digit         byte
	Hold          media.LegEventKind // Keyed: media.LegHold or LegResume; 0: neither
	Ended         *media.Ended
	Outside       bool

	heard   [inputFrames]Heard
	nHeard  int
	more    []Heard
	answers [inputAnswers]Answer
	nAnswer int
	rest    []Answer
}

// Heard is what the detector, the echo guard and whoever asks who answered made of a
// frame of the caller's.
type Heard struct {
	Speech, Echo bool    // Echo: the line is known to have one
	Behind       bool    // the recogniser is behind the caller
	Level        float32 // dBFS
	Verdict      uint8   // who answered
	Open         bool    // and may be spoken to
}

// AnswerKind says what the conductor asked of the world.
type AnswerKind uint8

// What the conductor asks of the world.
const (
	AnsweredDue    AnswerKind = iota + 1 // frames that the leg wants
	AnsweredLag                          // written and not played, media.Time
	AnsweredFlush                        // taken back, media.Time
	AnsweredDuck                         // 1: the far end lowers the voice
	AnsweredLocal                        // 1: the voice costs nothing in vain
	AnsweredPieces                       // of a filler's audio
	AnsweredRate                         // of one
	AnsweredLength                       // of one, in samples
)

// Answer is what the world said to the conductor.
type Answer struct {
	Kind  AnswerKind
	Value int64
}

// Heard is the frames of an input, oldest first. The slice is the caller's.
func (in *Input) Heard() []Heard {
	return append(append([]Heard(nil), in.heard[:in.nHeard]...), in.more...)
}

// Answers is what was answered while the input was dealt with. The slice is the caller's.
func (in *Input) Answers() []Answer {
	return append(append([]Answer(nil), in.answers[:in.nAnswer]...), in.rest...)
}

// AddHeard adds a frame.
func (in *Input) AddHeard(h Heard) {
	if in.nHeard < inputFrames {
		in.heard[in.nHeard] = h
		in.nHeard++
		return
	}
	in.more = append(in.more, h)
}

// AddAnswer adds an answer.
func (in *Input) AddAnswer(a Answer) {
	if in.nAnswer < inputAnswers {
		in.answers[in.nAnswer] = a
		in.nAnswer++
		return
	}
	in.rest = append(in.rest, a)
}

// last is the frame heard last, which must be there.
func (in *Input) last() *Heard {
	if n := len(in.more); n > 0 {
		return &in.more[n-1]
	}
	return &in.heard[in.nHeard-1]
}

// StopAsked is an end that somebody asked for.
type StopAsked struct {
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
	Samples int                 `json:"samples,omitempty"`
	Rate    media.Rate          `json:"rate,omitempty"`
	Words   []inference.Mark    `json:"words,omitempty"`
	Call    *inference.ToolCall `json:"call,omitempty"`
	Usage   *inference.Usage    `json:"usage,omitempty"`
	Engine  string              `json:"engine,omitempty"`
	Err     string              `json:"error,omitempty"`
	Cause   string              `json:"cause,omitempty"`    // of errors that mean something: connected, transferred or deadline
	Sent    *time.Duration      `json:"sent_ns,omitempty"`  // when the engine was asked, since the call's first moment; nil in older files
	At      *time.Duration      `json:"at_ns,omitempty"`    // when the engine gave it, since the call's first moment
	Whole   *time.Duration      `json:"whole_ns,omitempty"` // likewise, when the model had written the sentence
	Agent   *Person             `json:"agent,omitempty"`
}

// NoteKind says what a Note tells.
type NoteKind uint8

// What notes tell: what the call did that inputs answer to.
const (
	NoteReply     NoteKind = iota + 1 // engines were asked for reply N: Text says for what
	NoteFunction                      // the function call Text was begun
	NoteUtterance                     // the recogniser's utterance N was opened
)

var noteNames = [...]string{"", "reply", "function", "utterance"}

func (k NoteKind) String() string { return noteNames[k] }

// Note is what the call did that inputs answer to.
type Note struct {
	Kind NoteKind
	At   time.Duration
	N    int
	Text string
}
