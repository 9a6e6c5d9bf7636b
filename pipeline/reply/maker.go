package reply

import (
	"context"
	"errors"
	"time"

	"parley/inference"
	"parley/inference/spoken"
	"parley/media/isolate"
	"parley/pipeline/agent"
)

// SentencesAhead is how many sentences of a reply are made ahead of the voice, so that a long
// answer neither waits between sentences nor piles up audio that may never be heard.
const SentencesAhead = 2

// sentenceQueue lets the model write ahead of the voice; then it waits.
const sentenceQueue = 16

// ErrConcluded is why the engines of a reply are stopped in the ordinary way.
var ErrConcluded = errors.New("the reply is over")

// PartKind says what a Part brings.
type PartKind uint8

// The parts of a reply.
const (
	Sentence PartKind = iota + 1 // Text begins to be spoken as sentence Seg: Form, Sent, At, Whole, Stop
	Audio                        // Chunk of sentence Seg: Sent, At
	Spoken                       // sentence Seg is complete
	Call                         // the model calls a function: Call, Own
	Written                      // the model has finished: Usage, Engine, Err
	Broken                       // the voice of sentence Seg failed with Err: Again
	Finished                     // all audio is made, or Err
)

// Part is something that the engines made of reply Gen.
type Part struct {
	Kind   PartKind
	Gen    int
	Seg    int
	Text   string
	Form   *spoken.Form
	Chunk  inference.Chunk
	Call   inference.ToolCall
	Own    []inference.Part // what the model wants back with the call
	Usage  inference.Usage
	Engine string // that wrote it; empty: nothing came
	Err    error
	Sent   time.Time // when the engine was asked
	At     time.Time // when the engine gave it
	Whole  time.Time // when the model had written all of the sentence
	Stop   context.CancelCauseFunc
	// Again takes what is left of a sentence to be spoken again; closed: nothing is.
	Again chan<- string
}

// Crew starts the goroutines of a call and delivers what they make. Its methods may be called
// from any goroutine.
type Crew interface {
	// Enter counts a goroutine that begins; false: none may begin.
	Enter() bool
	// Leave counts one that has ended.
	Leave()
	// Fail ends the call: a goroutine panicked.
	Fail(error)
	// Post delivers a part to the conductor, or returns false when ctx has ended first. It
	// blocks while the conductor's mailbox is full.
	Post(ctx context.Context, p Part) bool
}

// Maker makes the replies of a call. Its methods may be called from any goroutine.
type Maker struct {
	llm   inference.LLM
	tts   inference.TTS
	crew  Crew
	lines *lineCache
	// shared has lines of other calls; nil: none.
	shared *Lines
}

// NewMaker returns a Maker that has made nothing.
func NewMaker(llm inference.LLM, tts inference.TTS, shared *Lines, crew Crew) *Maker {
	return &Maker{llm: llm, tts: tts, crew: crew, lines: newLineCache(), shared: shared}
}

// Order is a reply to be made.
type Order struct {
	Gen     int // which completion
	Agent   agent.Agent
	Request *inference.Request // nil: Text is spoken as it stands
	Text    string
	Ahead   int // sentences that are spoken before the first is played; SentencesAhead at most
}

// Making is a reply that is being made. It belongs to the conductor.
type Making struct {
	Cancel context.CancelCauseFunc // stops its engines
	ahead  chan struct{}           // a token for each sentence that is made and not yet played
	held   int                     // tokens that release takes away
}

// Make begins a reply, which ends with ctx at the latest.
func (m *Maker) Make(ctx context.Context, o Order) *Making {
	ctx, cancel := context.WithCancelCause(ctx)
	k := &Making{Cancel: cancel, ahead: make(chan struct{}, SentencesAhead), held: SentencesAhead - o.Ahead}
	for range k.held {
		k.ahead <- struct{}{}
	}
	s := &speech{m: m, o: &o, ctx: ctx, k: k}
	if o.Request != nil {
		queue := make(chan piece, sentenceQueue)
		s.in = queue
		w := newWriting(m, ctx, o.Gen, o.Request, queue)
		m.spawn("pipeline/reply/model", w.run, w.end)
	}
	m.spawn("pipeline/reply/voice", s.run, func() { cancel(ErrConcluded) }) // a voice that failed stops the model
	return k
}

// release lets as many sentences be made ahead as for any reply.
func (k *Making) release() {
	for range k.held {
		<-k.ahead
	}
	k.held = 0
}

// Played notes that a sentence was played: the next may be made. It may be called from any goroutine.
func (k *Making) Played() {
	select {
	case <-k.ahead:
	default: // it belonged to an earlier reply
	}
}

// spawn starts a goroutine of the call. A panic in it ends the call; after is called when f
// has ended, in whatever way.
func (m *Maker) spawn(site string, f func(), after ...func()) {
	if m.crew.Enter() {
		isolate.Go(site, m.crew.Fail, f, append(after, m.crew.Leave)...)
	}
}
