package pipeline

import (
	"context"
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

// voice is the voice of a reply's last sentence.
type voice struct {
	stop    context.CancelCauseFunc // stops it; nil: it was stopped, or broke
	quietAt time.Time               // since when it owes audio, at the earliest
	retried bool                    // a sentence of the reply was spoken again
}

// listenForVoice stops the voice that owes audio when nothing has been heard of the reply
// for silentMost.
func (c *Call) listenForVoice(r *reply, now time.Time) {
	v := &r.voice
	if v.retried || len(r.texts) == 0 {
		return
	}
	s := r.texts[len(r.texts)-1]
	switch {
	case s.Complete || v.stop == nil:
	case c.playout.Sounds():
		v.quietAt = now
	case now.Sub(v.quietAt) >= silentMost:
		v.stop(inference.ErrStalled)
		v.stop = nil
	}
}

// broken has the rest of a sentence spoken again, whose voice broke or was stopped. An
// error before the first sound fails the reply: every engine was tried.
func (c *Call) broken(r *reply, m message) {
	defer close(m.again)
	s, v := r.texts[m.seg], &r.voice
	stopped := v.stop == nil
	v.stop = nil
	if v.retried || !stopped && s.Length() == 0 {
		return
	}
	v.retried = true
	left := s.Truncate() // it ends with the audio that is there
	r.movedAt = c.now()
	c.emit(Event{Kind: Recovered, Turn: r.turn, Generation: r.number, Err: m.err})
	m.again <- left
}

// begins takes a sentence that its voice begins to speak.
func (c *Call) begins(r *reply, m message) {
	s := &playout.Sentence{Gen: m.gen, Seg: m.seg, Text: m.text, Form: m.form}
	r.voice.stop, r.voice.quietAt = m.stop, c.now()
	r.texts = append(r.texts, s)
	r.question = turn.Asks(c.agent.Language, m.text)
	if r.lead == 0 && endsSentence(m.text) {
		r.lead = len(r.texts)
	}
	c.playout.Add(s)
	if m.seg == 0 {
		r.timing.modelAt, r.timing.wholeAt = m.at, m.whole
		r.timing.waits.model = span{m.sent, m.at}
	}
	if !r.audible() {
		r.timing.waits.sentence = span{r.timing.modelAt, m.whole}
	}
}

// audio takes a piece of the voice.
func (c *Call) audio(r *reply, m message) {
	s := c.playout.Sentence(m.gen, m.seg)
	if s == nil || r.voice.stop == nil && m.seg == len(r.texts)-1 {
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
	if r.stage == composing && len(m.chunk.Samples) > 0 {
		r.stage, r.timing.voiceAt = speaking, m.at
		r.timing.waits.voice = span{m.sent, m.at}
		if !r.joins {
			c.emit(Event{Kind: Speaking, Turn: r.turn, Generation: r.number})
		}
		c.step(turn.Event{Kind: turn.FirstAudio})
	}
}

// finishMaking takes the end of a reply's engines, with an error where one failed.
func (c *Call) finishMaking(r *reply, err error) {
	if r.made() {
		return
	}
	if r.stage == speaking {
		r.stage = draining
	} else {
		r.stage = silent
	}
	unheard := r.stage == silent
	for _, s := range r.texts {
		s.Ended = true
	}
	if err != nil {
		r.err = err
	}
	if r.err == nil {
		return
	}
	c.emit(Event{Kind: Fault, Turn: r.turn, Generation: r.number, Err: r.err})
	if unheard {
		c.discard(FailedReply)
	}
	c.step(turn.Event{Kind: turn.ReplyFailed})
	if unheard && c.state.Ending() != "" {
		// Last words that nobody will hear: the call ends without them.
		c.step(turn.Event{Kind: turn.Drained})
	}
}
