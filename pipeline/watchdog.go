package pipeline

import (
	"time"

	"parley/inference"
)

// A voice that takes a text and says nothing is given up after silentMost, and what was
// not said is spoken again, by the next engine where there is one: once in a reply, for
// a voice that is only slow would never be heard otherwise.
const silentMost = 1500 * time.Millisecond

// listenForVoice stops the voice that owes audio when nothing has been heard of the reply
// for silentMost.
func (c *Call) listenForVoice(now time.Time) {
	r := c.reply
	if r == nil || !r.live || r.made || r.again || len(r.texts) == 0 {
		return
	}
	s := r.texts[len(r.texts)-1]
	switch {
	case s.Complete || r.stop == nil:
	case c.playout.Sounds():
		r.quietAt = now
	case now.Sub(r.quietAt) >= silentMost:
		r.stop(inference.ErrStalled)
		r.stop = nil
	}
}

// broken decides what becomes of a sentence whose voice broke, or was stopped: what has
// no audio is spoken again. An error at the first sound is the reply's: every engine was
// tried.
func (c *Call) broken(r *reply, m message) {
	defer close(m.again)
	s := r.texts[m.seg]
	silent := r.stop == nil
	r.stop = nil
	if r.again || !silent && s.Length() == 0 {
		return
	}
	r.again = true
	left := s.Truncate() // it ends with the audio that is there
	r.movedAt = c.now()
	c.emit(Event{Kind: Recovered, Turn: r.turn, Generation: r.number, Err: m.err})
	m.again <- left
}
