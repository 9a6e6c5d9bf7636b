package pipeline

import (
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/turn"
)

// hear takes every frame that is ready.
func (c *Call) hear(now time.Time) {
	for f, ok := c.leg.Read(now); ok; f, ok = c.leg.Read(now) {
		clean, a := c.cfg.Listener.Hear(f)
		c.ear.push(clean)
		c.wallAt = now
		if a.Speech {
			c.levels.add(a.Level)
			c.active = now
		}
		e := turn.Event{Kind: turn.Frame, Speech: a.Speech, Loud: c.levels.loud(a.Level)}
		if r := c.reply; r != nil && r.live {
			e.Tail = turn.Unfinished
			if r.made {
				e.Tail = c.mouth.left() + c.mouth.written - c.leg.Played(now)
				e.Question = r.asks()
			}
		}
		c.step(e)
	}
}

// speak writes every frame that is due.
func (c *Call) speak(now time.Time) {
	c.mouth.advance(c.leg.Played(now))
	for n := c.leg.Due(now); n > 0; n-- {
		f, finished, ok := c.mouth.next()
		for ; finished > 0; finished-- {
			c.sentencePlayed()
		}
		if !ok {
			if !c.format.Continuous {
				break
			}
			c.leg.Write(media.Frame{Samples: silence[:c.format.Out.FrameSamples()], Rate: c.format.Out})
			c.mouth.wrote(false)
			continue
		}
		c.announce()
		c.leg.Write(f)
		c.mouth.wrote(true)
		c.active = now
		if r := c.reply; !r.spoken && c.mouth.last.gen == r.gen {
			r.spoken = true
			c.timed(r, now)
		}
	}
	c.mouth.advance(c.leg.Played(now))
	if r := c.reply; r != nil && r.live && r.made && c.mouth.silent() {
		c.conclude(false)
		c.step(turn.Event{Kind: turn.Drained})
	}
}

// silence is what a continuous leg carries when nobody speaks.
var silence [media.MaxFrameSamples]int16

// sentencePlayed lets the next sentence be made.
func (c *Call) sentencePlayed() {
	select {
	case <-c.reply.making:
	default: // it belonged to a reply that is gone
	}
}

// announce tells which sentence the next frame begins.
func (c *Call) announce() {
	r := c.reply
	if c.mouth.last.gen != r.gen || c.mouth.last.seg < r.caption {
		return
	}
	r.caption = c.mouth.last.seg + 1
	c.emit(Event{Kind: AgentPartial, Turn: r.turn, Generation: r.number, Text: r.texts[c.mouth.last.seg].text})
}

// timed reports where the time of a turn went.
func (c *Call) timed(r *reply, now time.Time) {
	if r.line != turn.NoLine {
		return
	}
	t := Timing{Endpoint: r.endpoint, Total: r.endpoint + now.Sub(r.asked)}
	if !r.modelAt.IsZero() {
		t.Model = r.modelAt.Sub(r.asked)
	}
	t.Voice = r.voiceAt.Sub(r.asked) - t.Model
	t.Overhead = now.Sub(r.asked) - t.Model - t.Voice
	c.emit(Event{Kind: Timed, Turn: r.turn, Generation: r.number, Timing: t})
}

// limits ends what has taken too long.
func (c *Call) limits(now time.Time) {
	c.expireTools(now)
	if c.cfg.MaxDuration > 0 && now.Sub(c.start) >= c.cfg.MaxDuration {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.MaxDuration, Line: turn.Goodbye})
	}
	if c.cfg.Quiet > 0 && now.Sub(c.active) >= c.cfg.Quiet {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.AgentHangup, Detail: "idle"})
	}
}

func (c *Call) legEvent(e media.LegEvent) {
	if e.Kind == media.LegDigit {
		c.active = time.Now()
		c.step(turn.Event{Kind: turn.Digit})
	}
}

// take handles one message. What belongs to a reply that is no longer made is
// dropped here, whatever its engine thinks.
func (c *Call) take(m message) {
	switch m.kind {
	case msgResult:
		c.recognised(m.result)
		return
	case msgToolResult:
		c.toolEnded(m.id, m.text, "ok")
		return
	case msgTyped:
		c.active = time.Now()
		c.step(turn.Event{Kind: turn.Typed, Text: m.text})
		return
	case msgInterrupt:
		c.step(turn.Event{Kind: turn.Interrupt})
		return
	case msgStop:
		c.step(m.stop)
		return
	case msgUpdate:
		m.update(&c.agent)
		return
	case msgWritten:
		c.written(m)
		return
	}
	r := c.reply
	if r == nil || r.gen != m.gen || !r.live {
		return
	}
	switch m.kind {
	case msgSentence:
		s := &sentence{gen: m.gen, seg: m.seg, text: m.text}
		r.texts = append(r.texts, s)
		c.mouth.add(s)
		if m.seg == 0 {
			r.modelAt = m.at
		}
	case msgAudio:
		c.audio(r, m)
	case msgSpoken:
		if s := c.mouth.sentence(m.gen, m.seg); s != nil {
			s.complete = true
		}
	case msgTool:
		c.called(r, m.call)
	case msgDone:
		c.made(r, m.err)
	}
}

func (c *Call) audio(r *reply, m message) {
	s := c.mouth.sentence(m.gen, m.seg)
	if s == nil {
		return
	}
	if len(m.chunk.Phones) > 0 {
		before := time.Duration(0)
		for _, t := range r.texts[:m.seg] {
			before += t.rate.Duration(t.total).Duration()
		}
		for i := range m.chunk.Phones {
			m.chunk.Phones[i].Start += before
			m.chunk.Phones[i].End += before
		}
		c.emit(Event{Kind: Phones, Generation: r.number, Phones: m.chunk.Phones})
	}
	s.append(m.chunk)
	if !r.audible && len(m.chunk.Samples) > 0 {
		r.audible, r.voiceAt = true, m.at
		if !r.joins {
			c.emit(Event{Kind: Speaking, Turn: r.turn, Generation: r.number})
		}
		c.step(turn.Event{Kind: turn.FirstAudio})
	}
}

// made is the end of a reply's making.
func (c *Call) made(r *reply, err error) {
	r.made = true
	for _, s := range r.texts {
		s.complete = true
	}
	if err == nil {
		err = r.err
	}
	if err == nil {
		c.step(turn.Event{Kind: turn.ReplyDone})
		return
	}
	c.emit(Event{Kind: Fault, Turn: r.turn, Generation: r.number, Err: err})
	r.failed = true
	if !r.audible {
		c.conclude(false)
	}
	c.step(turn.Event{Kind: turn.ReplyFailed})
}

// recognised takes a result of the recogniser.
func (c *Call) recognised(res inference.Result) {
	if res.Err != nil {
		c.emit(Event{Kind: Fault, Err: res.Err})
		return
	}
	e := turn.Event{Kind: turn.Partial, Utt: res.Utterance, Last: res.Last, Text: res.Text,
		Unsure: res.Confidence >= 0 && res.Confidence < 0.5}
	if res.Final {
		e.Kind = turn.Final
	}
	c.step(e)
	if text := c.state.Heard(); text != "" && text != c.shown {
		c.shown = text
		c.emit(Event{Kind: UserPartial, Turn: c.state.Turn(), Text: text})
	}
}

// written is the end of the model's part of a reply, alive or dead.
func (c *Call) written(m message) {
	r := c.owed[m.gen]
	if r == nil {
		return
	}
	u := m.usage
	r.tokens, r.written = &u, true
	if m.err != nil {
		r.err = m.err
	}
	c.account(r)
	if r == c.reply {
		c.toolsDone()
	}
}
