package pipeline

import (
	"slices"
	"time"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/playout"
	"parley/pipeline/turn"
)

// A voice that takes a text and says nothing is given up after silentMost, and what was
// not said is spoken again, by the next engine where there is one: once in a reply, for
// a voice that is only slow would never be heard otherwise.
const silentMost = 1500 * time.Millisecond

// listenForVoice stops the voice that owes audio when nothing has been heard of the reply
// for silentMost.
func (c *Call) listenForVoice(r *reply, now time.Time) {
	if r.again || len(r.texts) == 0 {
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

// begins takes a sentence that its voice begins to speak.
func (c *Call) begins(r *reply, m message) {
	s := &playout.Sentence{Gen: m.gen, Seg: m.seg, Text: m.text, Form: m.form}
	r.quietAt = c.now()
	r.texts, r.stop = append(r.texts, s), m.stop
	r.question = turn.Asks(c.agent.Language, m.text)
	if r.lead == 0 && endsSentence(m.text) {
		r.lead = len(r.texts)
	}
	c.playout.Add(s)
	if m.seg == 0 {
		r.modelAt, r.wholeAt = m.at, m.whole
		r.waits.model = span{m.sent, m.at}
	}
	if !r.audible {
		r.waits.sentence = span{r.modelAt, m.whole}
	}
}

// audio takes a piece of the voice.
func (c *Call) audio(r *reply, m message) {
	s := c.playout.Sentence(m.gen, m.seg)
	if s == nil || r.stop == nil && m.seg == len(r.texts)-1 {
		return
	}
	if len(m.chunk.Phones) > 0 {
		before := time.Duration(0)
		for _, t := range r.texts[:m.seg] {
			before += t.Length().Duration()
		}
		phones := slices.Clone(m.chunk.Phones) // those of a line are kept with its audio
		for i := range phones {
			phones[i].Start += before
			phones[i].End += before
		}
		c.emit(Event{Kind: Phones, Turn: r.turn, Generation: r.number, Phones: phones})
	}
	s.Append(m.chunk)
	if len(m.chunk.Samples) > 0 {
		c.serves(agent.StageTTS, &c.serving.tts, m.chunk.Engine, c.cfg.TTS)
	}
	if !r.audible && len(m.chunk.Samples) > 0 {
		r.audible, r.voiceAt = true, m.at
		r.waits.voice = span{m.sent, m.at}
		if !r.joins {
			c.emit(Event{Kind: Speaking, Turn: r.turn, Generation: r.number})
		}
		c.step(turn.Event{Kind: turn.FirstAudio})
	}
}

// made is the end of a reply's making.
func (c *Call) made(r *reply, err error) {
	if r.made {
		return
	}
	r.made = true
	for _, s := range r.texts {
		s.Ended = true
	}
	if err == nil {
		err = r.err
	}
	if err == nil {
		return
	}
	r.failed = true
	c.emit(Event{Kind: Fault, Turn: r.turn, Generation: r.number, Err: err})
	if !r.audible {
		c.discard(FailedReply)
	}
	c.step(turn.Event{Kind: turn.ReplyFailed})
	if !r.audible && c.state.Ending() != "" {
		// Last words that nobody will hear: the call ends without them.
		c.step(turn.Event{Kind: turn.Drained})
	}
}
