package pipeline

import (
	"strings"
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
	case s.complete || s.broken || s.stop == nil:
	case c.mouth.head < c.mouth.tail:
		r.quietAt = now
	case now.Sub(r.quietAt) >= silentMost:
		s.broken = true
		s.stop(inference.ErrStalled)
	}
}

// broken decides what becomes of a sentence whose voice broke, or was stopped: what has
// no audio is spoken again. An error at the first sound is the reply's: every engine was
// tried.
func (c *Call) broken(r *reply, m message) {
	defer close(m.again)
	s := r.texts[m.seg]
	silent := s.broken
	s.broken = true
	if r.again || !silent && s.total == 0 {
		return
	}
	r.again = true
	s.last = true // it ends with the audio that is there
	said := s.heard(s.length())
	left := strings.TrimSpace(strings.TrimPrefix(s.text, said))
	s.text, s.form, s.marks, s.complete = said, nil, nil, true
	r.movedAt = c.now()
	c.emit(Event{Kind: Recovered, Turn: r.turn, Generation: r.number, Err: m.err})
	m.again <- left
}
