package pipeline

import (
	"context"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// Simulation conducts a call whose inputs are given by Feed, in place of a leg and engines:
// recorded ones, or those of a simulated caller. It starts no goroutine and reads no clock, so the same
// inputs give the same events. It belongs to one goroutine.
type Simulation struct {
	c      *Call
	world  *journal.Replayed
	agents map[int]*agent.Agent // of the replies, by number
}

// NewReplay returns a call that began as o says, before its first input. change may
// change its configuration; nil: nothing changes. sink takes its events and notes.
func NewReplay(o *journal.Origin, change func(*Config), sink journal.Sink) *Simulation {
	cfg := configOf(o)
	if change != nil {
		change(&cfg)
	}
	return simulate(o.Start, o.Format, cfg, sink)
}

// NewSimulation returns a call of which nothing has happened yet: Feed plays
// the caller, the engines and the functions. Of the model only the name is asked; the
// recogniser and the voice need not be there. sink takes events and notes; those of replies say
// what the engines are asked for. It must not feed the call.
func NewSimulation(start time.Time, f media.Format, cfg Config, sink journal.Sink) *Simulation {
	cfg.ASR, cfg.TTS = journal.Engine{Name: simulatedName}, journal.Engine{Name: simulatedName}
	s := simulate(start, f, cfg, sink)
	s.world.Part()
	a := &s.c.agent
	for n := range turn.Announcement + 1 {
		for _, p := range reply.Pieces(a.Filler(n), a.Language) {
			rate, samples := journal.Voice(p, a.Speed)
			s.c.replies.Maker.Keep(a, p, []inference.Chunk{{Samples: make([]int16, samples), Rate: rate}})
		}
	}
	return s
}

// simulatedName is the name of simulated engines.
const simulatedName = "simulated"

func simulate(start time.Time, f media.Format, cfg Config, sink journal.Sink) *Simulation {
	s := &Simulation{world: journal.NewReplayed(start, f), agents: map[int]*agent.Agent{}}
	cfg.FrontEnd = s.world
	c := New(cfg)
	s.c, c.observer, c.crew.Closed = c, journal.NewObserver(journal.NoteAgents(sink, s.agents), s.world), true
	c.crew.Life, c.crew.Kill = context.WithCancelCause(context.Background())
	if c.cfg.ASR != nil {
		c.attach(s.world.Recognition())
	}
	c.begin(s.world.Leg())
	return s
}

// Over says that the call has ended and wants no more inputs but Concluded, Late and
// Closed.
func (s *Simulation) Over() bool { return s.c.ended != nil }

// Ended is why it has; zero before.
func (s *Simulation) Ended() media.Ended {
	if s.c.ended == nil {
		return media.Ended{}
	}
	return *s.c.ended
}

// Part has the call go its own way: what was recorded beside the inputs does not count from here on.
func (s *Simulation) Part() { s.world.Part() }

// Parted says whether it does.
func (s *Simulation) Parted() bool { return s.world.Parted() }

// Close releases what the call holds.
func (s *Simulation) Close() { s.c.crew.Kill(nil) }

// Opened is the recogniser's latest utterance.
func (s *Simulation) Opened() int { return s.c.state.Utterance() }

// Update changes the agent at a time, from its next reply on. As with Feed, times must not go back.
func (s *Simulation) Update(at time.Duration, change func(*agent.Agent)) {
	s.tell(at, message{kind: msgUpdate, update: change})
}

// TakeOver has another agent conduct the call from a time on, as HandOver would: next is what a call of that agent's is made from.
func (s *Simulation) TakeOver(at time.Duration, to *agent.Successor, next Config) {
	next.ASR, next.TTS = journal.Engine{Name: simulatedName}, journal.Engine{Name: simulatedName}
	s.tell(at, message{kind: msgSuccessor, text: to.Name, brief: to.Summarised(), next: &next})
	s.tell(at, message{kind: msgRecogniser, asr: s.world.Recognition()})
}

func (s *Simulation) tell(at time.Duration, m message) {
	s.world.Next(&journal.Input{Kind: journal.Received, At: at}, false)
	s.c.receive(m, journal.Received, s.c.deliver)
	s.world.Done()
}

// Feed has the call deal with one input. Times must not go back.
func (s *Simulation) Feed(in *journal.Input) {
	c := s.c
	s.world.Next(in, c.state.Phase == turn.Bridged)
	c.observer.NoSpeculation.Store(in.NoSpeculation)
	switch in.Kind {
	case journal.Began:
		c.converse()
	case journal.Ticked:
		c.tick()
	case journal.Received:
		if m, ok := s.replayed(in.Message); ok {
			c.receive(m, journal.Received, c.deliver)
		}
	case journal.Stopped:
		c.stop(turn.Event{Kind: turn.Stop, Reason: in.Stop.Reason, Detail: in.Stop.Detail, Line: in.Stop.Line})
	case journal.Keyed:
		e := media.LegEvent{Kind: in.Hold}
		if in.Digit != 0 {
			e = media.LegEvent{Kind: media.LegDigit, Digit: in.Digit}
		}
		c.legEvent(e)
	case journal.Concluded:
		if c.ended == nil {
			c.ended = in.Ended
		}
		c.conclusion(nil)
	case journal.Late:
		if m, ok := s.replayed(in.Message); ok {
			c.receive(m, journal.Late, c.takeLate)
		}
	case journal.Closed:
		c.over()
	}
	s.world.Done()
}
