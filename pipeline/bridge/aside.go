package bridge

import (
	"time"

	"parley/media"
	"parley/pipeline/playout"
)

// A supervisor may say something to the second that the caller does not hear: in writing, which the agent's voice says, or with their
// own voice. The second hears the caller under it.

// maxWhispers bounds the whispers that wait for their audio. Another one is dropped.
const maxWhispers = 4

// aside is what only the second hears. It belongs to the conductor, but for its channels.
type aside struct {
	texts  chan string
	spoken chan []*playout.Sentence // the audio of the next whisper
	begun  bool                     // a goroutine makes the audio of texts
	voice  playout.Playout          // the agent's
	coach  *Supervisor              // nil: nobody is
	mixed  [media.MaxFrameSamples]int16
}

func newAside(out media.Rate) (a aside) {
	a.texts, a.spoken = make(chan string, maxWhispers), make(chan []*playout.Sentence, 1)
	a.voice.Begin(out)
	return a
}

// over mixes what is said aside over f. The result is valid until the next call. It allocates only when a whisper begins. A nil aside
// returns f.
func (a *aside) over(f media.Frame, now time.Time) media.Frame {
	if a == nil {
		return f
	}
	if a.voice.Drained() {
		select {
		case said := <-a.spoken:
			for _, sentence := range said {
				a.voice.Add(sentence)
			}
		default:
		}
	}
	agent, _, _ := a.voice.Next(0)
	if agent.Samples != nil {
		f = together(&a.mixed, f, agent)
	}
	if a.coach != nil && a.coach.Ready(now) {
		f = together(&a.mixed, f, a.coach.Next())
	}
	return f
}

// Whisper has the agent's voice say a text to the second alone, after the whispers before it. It returns at once. Nothing is heard
// where the voice fails, or where maxWhispers wait already.
func (b *Bridge) Whisper(text string) {
	c, a := b.second.caller, &b.aside
	if c == nil {
		return
	}
	select {
	case a.texts <- text:
	default:
		return
	}
	if !a.begun {
		a.begun = true
		texts, spoken, gone := a.texts, a.spoken, b.second.gone
		c.Start(func() { c.utterAll(texts, spoken, gone) })
	}
}

// utterAll makes the audio of texts, one after the other, until the second or the call is gone.
func (c *Transferee) utterAll(texts <-chan string, spoken chan<- []*playout.Sentence, gone <-chan struct{}) {
	for {
		var text string
		select {
		case text = <-texts:
		case <-gone:
			return
		case <-c.Life.Done():
			return
		}
		said, err := c.Utter(c.Life, text)
		if err != nil {
			continue
		}
		select {
		case spoken <- said:
		case <-gone:
			return
		case <-c.Life.Done():
			return
		}
	}
}

// Coach lets s speak to the second alone, or tells s why not. In a replay s is nil.
func (b *Bridge) Coach(s *Supervisor) {
	switch {
	case s == nil:
	case b.aside.coach != nil:
		s.Decide(ErrSupervised)
	default:
		s.Begin(b.second.leg.Format().Out)
		b.aside.coach = s
		s.Decide(nil)
	}
}

// Leave ends what Coach began.
func (b *Bridge) Leave(s *Supervisor) {
	if b.aside.coach == s {
		b.aside.coach = nil
	}
}
