package bridge

import (
	"context"
	"errors"
	"time"

	"parley/media"
	"parley/media/ring"
	"parley/pipeline/playout"
)

// Between is what sounds between the agent's sentences, and over them.
type Between struct {
	Filler     playout.Filler
	Ringback   Ringback
	Notice     Notice      // of those who listen in
	Supervisor *Supervisor // who speaks in the agent's place; nil: nobody does
}

// Enter has s speak to a far end that takes frames of a rate.
func (b *Between) Enter(s *Supervisor, out media.Rate) {
	s.Begin(out)
	if s.guest != nil && !s.guest.private {
		s.guest.tone = b.Notice
	}
	b.Supervisor = s
}

// Listens counts those who listen in, see Notice.Listens.
func (b *Between) Listens(by int) {
	b.Notice.Listens(by)
	if b.Supervisor != nil && b.Supervisor.guest != nil {
		b.Supervisor.guest.tone.Listens(by)
	}
}

// Why nobody steps in.
var (
	ErrSupervised = errors.New("bridge: a supervisor speaks already")
	ErrNotTalking = errors.New("bridge: the conversation has not begun, is being closed, or is over")
)

const (
	// supervisorFrames bounds what waits for the conductor of a supervisor's voice: 640 ms.
	supervisorFrames = 32
	// heardFrames bounds what waits to be written down: 1.28 s.
	heardFrames = 64
)

// Supervisor is a person who speaks to the caller in the agent's place. Say belongs to one goroutine; Decide, Begin, Ready, Next and
// Leave to the conductor.
type Supervisor struct {
	Name string     // the credential of the person
	Rate media.Rate // of their voice

	ask     func(s *Supervisor, in bool) bool
	life    context.Context
	decided chan error
	queue   *ring.Ring[spokenFrame]
	voice   *pipe
	heard   chan []int16
	gone    chan struct{}
	guest   *guest // they were called for the caller; nil: they are a supervisor
}

type spokenFrame [media.MaxFrameSamples]int16

// NewSupervisor returns a supervisor whose voice comes at a rate, in a call with that life. ask has its conductor take them in, or let
// them go, and says whether it will hear of it.
func NewSupervisor(name string, rate media.Rate, life context.Context, ask func(s *Supervisor, in bool) bool) *Supervisor {
	return &Supervisor{Name: name, Rate: rate, life: life, ask: ask, decided: make(chan error, 1), queue: ring.New[spokenFrame](supervisorFrames),
		heard: make(chan []int16, heardFrames), gone: make(chan struct{})}
}

// StepIn has them speak in the agent's place: the agent stops at once and answers nothing that is said meanwhile. It blocks until the
// conductor has decided, and may be called once. An error: they do not speak.
func (s *Supervisor) StepIn(ctx context.Context) error {
	if !s.ask(s, true) {
		return ErrNotTalking
	}
	select {
	case err := <-s.decided:
		return err
	case <-s.life.Done():
	case <-ctx.Done():
		s.StepOut() // the conductor may yet take them in
	}
	return ErrNotTalking
}

// StepOut gives the call back to the agent. It may be called again, from any goroutine.
func (s *Supervisor) StepOut() { s.ask(s, false) }

// Say takes a copy of 20 ms of the supervisor's voice. What finds no room is lost. It does not block.
func (s *Supervisor) Say(samples []int16) {
	if len(s.heard) < cap(s.heard) {
		s.heard <- append([]int16(nil), samples...)
	}
	if s.queue.Free() > 0 {
		copy(s.queue.Slot(0)[:], samples)
		s.queue.Put(1)
	}
}

// Heard is what they say, frame by frame, for who writes it down.
func (s *Supervisor) Heard() <-chan []int16 { return s.heard }

// Gone is closed when they speak no more.
func (s *Supervisor) Gone() <-chan struct{} { return s.gone }

// Leave says that they speak no more. It is called once.
func (s *Supervisor) Leave() { close(s.gone) }

// Decide says whether the supervisor speaks from now on, or why not. It is called once. In a replay there may be none.
func (s *Supervisor) Decide(err error) {
	if s != nil {
		s.decided <- err
	}
}

// Begin begins to speak to a far end that takes frames of a rate. What was said before is forgotten.
func (s *Supervisor) Begin(out media.Rate) {
	s.queue.Drop(s.queue.Len())
	s.voice = newPipe(s.Rate, out)
}

// Ready takes what was said and says whether the next frame has something of it.
func (s *Supervisor) Ready(now time.Time) bool {
	for ; s.queue.Len() > 0; s.queue.Drop(1) {
		s.voice.push(media.Frame{Samples: s.queue.Peek(0)[:s.Rate.FrameSamples()], Rate: s.Rate}, now)
	}
	return s.voice.n > 0 && (s.voice.flows || s.voice.n >= s.voice.late.frames())
}

// Next is the next frame, silence where Ready is false. It is valid until the next Ready.
func (s *Supervisor) Next() media.Frame { return s.voice.next() }
