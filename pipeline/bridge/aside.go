package bridge

import (
	"time"

	"parley/media"
	"parley/pipeline/playout"
)

// A supervisor may say something to the person to whom the caller was connected, which the caller does not hear: in writing, and then the
// agent's voice says it, or by their own voice. The caller is heard under it.

// whispersMost bounds whispers that wait for the conductor. Who makes another one waits.
const whispersMost = 4

// aside is what the second alone hears. It belongs to the conductor, but for spoken.
type aside struct {
	spoken chan []*playout.Sentence
	voice  playout.Playout // the agent's
	coach  *Supervisor     // nil: nobody is
	mixed  [media.MaxFrameSamples]int16
}

func newAside(out media.Rate) (a aside) {
	a.spoken = make(chan []*playout.Sentence, whispersMost)
	a.voice.Begin(out)
	return a
}

// over is f with what is said aside over it. It is valid until the next call, and does not allocate, but for a whisper that begins. nil:
// nothing is said aside.
func (a *aside) over(f media.Frame, now time.Time) media.Frame {
	if a == nil {
		return f
	}
	select {
	case said := <-a.spoken:
		for _, sentence := range said {
			a.voice.Add(sentence)
		}
	default:
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

// Whisper has the agent's voice say a text to the second alone. It returns at once; where the voice fails nothing is heard.
func (b *Bridge) Whisper(text string) {
	c, spoken, gone := b.second.caller, b.aside.spoken, b.second.gone
	if c == nil {
		return
	}
	c.Start(func() {
		said, err := c.Utter(c.Life, text)
		if err != nil {
			return
		}
		select {
		case spoken <- said:
		case <-gone:
		case <-c.Life.Done():
		}
	})
}

// Coach has s speak to the second alone, or tells them why not. nil: it is a replay.
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

// Leave says that s speaks no more.
func (b *Bridge) Leave(s *Supervisor) {
	if b.aside.coach == s {
		b.aside.coach = nil
	}
}
