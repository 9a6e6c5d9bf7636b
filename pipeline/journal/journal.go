// Package journal keeps what reaches a call's conductor, so that the call can be conducted again. The conductor is a
// function of its inputs: the same inputs give the same events, byte for byte.
//
// An Observer stands between the conductor and what is no function of earlier inputs: the clock, the messages of engines
// and clients, and what the leg answers. It hands each value on and records it for a Sink; a Writer is the Sink that makes
// a file, which Read reads. In a replay a Replayed takes the place of the world: it answers what was recorded, and its leg,
// front end and engines carry silence. The conductor knows neither: a call that is not recorded has an Observer without a
// Sink, which keeps nothing.
//
// Read input.go and observer.go first, then writer.go and format.go; replayed.go and leg.go are the other side. Package
// pipeline/replay feeds a file to the conductor.
//
// # The file
//
// One JSON object a line, in UTF-8, usually through gzip. Times t are nanoseconds of the
// wall clock since the call's first moment; media times are counted in units of
// media.Time (1/7,056,000 s). The first line says what the file is and what the call
// began with:
//
//	{"parley_call":1,"minor":1,"origin":{"start":…,"format":…,"agent":…,"turn":…,…}}
//
// Then come the inputs, in the order in which the conductor dealt with them:
//
//	{"in":"begin","t":21000}
//	{"in":"tick","t":20140000,"heard":[[1,-23.5]],"answers":[1,1,2,0]}
//	{"in":"told","t":2620180000,"message":{"kind":"result","result":…}}
//	{"in":"told","t":2650240000,"message":{"kind":"score","pause":17640000,"prob":0.9}}
//	{"in":"key","t":…,"digit":"5"}
//	{"in":"key","t":…,"hold":"on"}
//	{"in":"stop","t":…,"stop":{"reason":"max_duration",…}}
//	{"in":"concluded","t":…,"ended":{"Reason":"user_hangup",…},"outside":true}
//	{"in":"late","t":…,"message":…}
//	{"in":"closed","t":…}
//
// heard has an entry for each frame of the caller's: 1 for speech, plus 2 where the line has an echo,
// plus 4 where the callee may be spoken to, plus 8 where the recogniser was behind, plus 16 where speech has ended on a falling
// tone, or 32 on a level one; the level in dBFS; the verdict
// of the answering-machine detection while it runs. answers are pairs of a Quantity and its value. Audio is not kept, only
// its length, so a replay relies on the detector's decision for each frame.
//
// Each input is followed by the events that it led to, which are the call's log, and by
// notes that later inputs refer to:
//
//	{"event":{"at_us":2700000,"kind":"thinking","turn":1,"generation":1}}
//	{"note":"reply","t":2700210000,"n":1,"text":"user: I need a table"}
//
// A last line {"cut":true} says that the rest could not be kept. A reader refuses another
// number than 1, and passes over names that it does not know. Files without a minor number
// have events without times of words and without the points of turns, and a replay is
// compared with them without those.
package journal

import (
	"time"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/turn"
)

// Sink takes a call's journal. Its methods are called by the conductor and neither
// block nor, but for Begin and Close, take long; Input does not allocate.
type Sink interface {
	// Begin is called at the call's first moment, or never.
	Begin(Origin)
	// Input is one input, which belongs to the caller. The events and notes since the Input
	// before it followed from this one.
	Input(*Input)
	Note(Note)
	Event(Event)
	// Close is called after the last event. It may wait for what is being written.
	Close()
}

// Origin is what a call began with, without what only its engines need to know.
type Origin struct {
	Start       time.Time     `json:"start"`
	Format      media.Format  `json:"format"`
	Agent       Person        `json:"agent"`
	Turn        turn.Config   `json:"turn"` // times in units of media.Time
	Hears       bool          `json:"hears"`
	ASR         string        `json:"asr,omitempty"` // names of the engines
	LLM         string        `json:"llm"`
	TTS         string        `json:"tts"`
	Own         []string      `json:"own,omitempty"` // functions of the call itself
	Functions   []Function    `json:"functions,omitempty"`
	ClientTools bool          `json:"client_tools,omitempty"`
	ToolTimeout time.Duration `json:"tool_timeout_ns"`
	Answering   *Answering    `json:"answering,omitempty"`
	Speculate   bool          `json:"speculate,omitempty"`
	AnyVoice    bool          `json:"speculate_voice,omitempty"`
	MaxDuration time.Duration `json:"max_duration_ns,omitempty"`
	Quiet       time.Duration `json:"quiet_ns,omitempty"`
	Resume      *Conversation `json:"resume,omitempty"` // the call goes on from there; nil: it begins
}

// Function is a function that the server ran.
type Function struct {
	Name    string        `json:"name"`
	Timeout time.Duration `json:"timeout_ns,omitempty"`
	Cancel  bool          `json:"cancel,omitempty"`
}

// Answering has an outbound call find out who answered.
type Answering struct {
	OnMachine agent.OnMachine // empty: agent.Continue
	Message   string          // of LeaveMessage
}

// Screening is what a machine gets that answers; of nil, nobody finds out.
func (a *Answering) Screening() turn.OnMachine {
	switch {
	case a == nil:
		return turn.NotScreened
	case a.OnMachine == agent.HangUp:
		return turn.HangUpOn
	case a.OnMachine == agent.LeaveMessage:
		return turn.LeaveAMessage
	}
	return turn.Converse
}

// Person is the part of an agent that the conductor depends on.
type Person struct {
	Voice         string         `json:"voice"`
	Language      string         `json:"language"`
	FirstMessage  string         `json:"first_message,omitempty"`
	Goodbye       string         `json:"goodbye,omitempty"`
	Pronunciation []spoken.Entry `json:"pronunciation,omitempty"`
	Announcement  string         `json:"announcement,omitempty"`
	Tools         []string       `json:"tools,omitempty"` // that the client runs
	// VoiceNormalises is that of agent.Agent.
	VoiceNormalises bool     `json:"voice_normalises,omitempty"`
	Follows         []string `json:"follows,omitempty"` // likewise
	ListeningTone   bool     `json:"listening_tone,omitempty"`
}

// PersonOf is that part of a.
func PersonOf(a *agent.Agent) *Person {
	p := &Person{Voice: a.Voice, Language: a.Language, FirstMessage: a.FirstMessage, Goodbye: a.Goodbye, Announcement: a.Announcement,
		Pronunciation: a.Pronunciation.Entries(), VoiceNormalises: a.VoiceNormalises, Follows: a.Follows, ListeningTone: a.ListeningTone}
	for i := range a.Tools {
		p.Tools = append(p.Tools, a.Tools[i].Name)
	}
	return p
}

// Apply makes a the agent that was recorded.
func (p *Person) Apply(a *agent.Agent) {
	a.Voice, a.Language, a.FirstMessage, a.Goodbye, a.Announcement = p.Voice, p.Language, p.FirstMessage, p.Goodbye, p.Announcement
	a.Pronunciation, a.VoiceNormalises, a.Follows, a.ListeningTone = spoken.NewDictionary(p.Pronunciation), p.VoiceNormalises, p.Follows, p.ListeningTone
	a.Tools = nil
	for _, name := range p.Tools {
		a.Tools = append(a.Tools, inference.Tool{Name: name})
	}
}

// NoteKind says what a Note notes.
type NoteKind uint8

// What is noted: what the call did, and inputs refer to.
const (
	NoteReply     NoteKind = iota + 1 // engines were asked for reply N: Text says for what
	NoteFunction                      // the function call Text was begun
	NoteUtterance                     // the recogniser's utterance N was opened
)

var noteNames = [...]string{"", "reply", "function", "utterance"}

func (k NoteKind) String() string { return noteNames[k] }

// Note is something that the call did, which later inputs refer to.
type Note struct {
	Kind NoteKind
	At   time.Duration // since the call's first moment
	N    int
	Text string
	Of   *Asked // NoteReply; it is not written to a file
}

// Asked is what engines are asked for.
type Asked struct {
	Agent   agent.Agent        // who replies
	Request *inference.Request // nil: the voice alone speaks Line. It must not be changed
	Line    string
}
