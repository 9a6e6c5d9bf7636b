package pipeline

import (
	"time"

	"parley/media"
	"parley/pipeline/journal"
	"parley/pipeline/listen"
	"parley/pipeline/playout"
	"parley/pipeline/turn"
)

// The way of a 20 ms frame: from the leg through package listen, which says what it holds, and package turn, which decides
// what follows from that (apply.go carries it out); and from package playout back to the leg. Beside it, what has taken too long is
// looked for.

// tick hears and speaks what is due now, or carries it to whom the caller was connected to.
func (c *Call) tick() {
	c.observer.Next(journal.Input{Kind: journal.Ticked})
	now := c.now()
	if c.state.Phase == turn.Bridged {
		c.relay(now)
		return
	}
	c.hear(now)
	c.speak(now)
	c.limits(now)
}

// hear takes every frame that is ready.
func (c *Call) hear(now time.Time) {
	for f, ok := c.leg.Read(now); ok; f, ok = c.leg.Read(now) {
		if c.state.Screens() {
			c.answer.who.Listen(f)
		}
		// The recogniser is asked when the turn could rest on what it has heard.
		behind := c.state.Phase == turn.Pause && c.state.Owed() && c.caller.Behind()
		h := c.caller.Hear(f)
		c.wallAt = now
		if h.Speech {
			c.active = now
		}
		c.observer.Frame(journal.Heard{Speech: h.Speech, Echo: h.Echo, Level: h.Level, Behind: behind})
		e := turn.Event{Kind: turn.Frame, Speech: speechOf(h), Behind: behind}
		if r := c.reply; r != nil {
			c.heardMeanwhile(&e, r, now)
		}
		e.MaySpeculate = c.maySpeculate()
		c.step(e)
		if c.state.Screens() {
			c.answeredBy(h.Activity)
		}
	}
}

func speechOf(h listen.Heard) turn.Speech {
	switch {
	case !h.Speech:
		return turn.NoSpeech
	case h.Loud:
		return turn.CallerSpeech
	}
	return turn.DistantSpeech
}

// heardMeanwhile tells the turn machine how far the agent's reply is: what it asks, from when its last sentence
// is being said; whether its first one was not heard to its end; how much of it follows.
func (c *Call) heardMeanwhile(e *turn.Event, r *reply, now time.Time) {
	if !r.live() {
		e.Question = r.question
		return
	}
	heard, last := c.playout.Heard(), c.playout.Last()
	e.First = r.lead == 0 || heard.Gen != r.gen || heard.Seg < r.lead
	e.Tail = turn.Unfinished
	if r.made() {
		e.Tail = c.playout.Remaining(c.leg.Played(now))
		if last.Gen == r.gen && last.Seg >= len(r.texts)-1 {
			e.Question = r.question
		}
	}
}

// maySpeculate says whether a speculative reply may be begun now.
func (c *Call) maySpeculate() bool {
	return c.cfg.Speculation != SpeculationOff && c.observer.MaySpeculate() && c.heldAt.IsZero() && len(c.tools.waiting) == 0 && c.playout.Silent()
}

// step gives the turn machine an event and carries out what it decides. Carrying
// out may cause further events; they wait their turn.
func (c *Call) step(e turn.Event) {
	c.pending = append(c.pending, e)
	if c.stepping {
		return
	}
	c.stepping = true
	for i := 0; i < len(c.pending); i++ {
		e := c.pending[i]
		if e.Now = c.caller.End(); e.Kind != turn.Frame {
			// A frame ends when it ends: with the microseconds since it came, a
			// timer would be due one frame late.
			e.Now = c.clock()
		}
		c.state, c.acts = turn.Step(&c.cfg.Turn, c.state, e, c.acts[:0])
		for _, a := range c.acts {
			c.apply(a)
		}
		if c.cfg.Inspect && c.bridge == nil {
			c.inspect()
		}
	}
	c.pending = c.pending[:0]
	c.stepping = false
}

// speak writes every frame that is due.
func (c *Call) speak(now time.Time) {
	played := c.leg.Played(now)
	c.playout.Advance(played)
	for n := c.leg.Due(now); n > 0; n-- {
		f, finished, ok := c.playout.Next(c.hearing(n, played))
		for ; finished > 0; finished-- {
			select {
			case <-c.reply.making: // the next sentence may be made
			default: // it belonged to a reply that is gone
			}
		}
		if !ok && !c.format.Continuous {
			break
		}
		text, sounds := "", ok
		if !ok {
			f, sounds = c.pause(now)
		} else if c.active = now; c.reply.live() && c.playout.Last().Gen == c.reply.gen {
			text = c.spoken(c.reply, now)
		}
		c.caller.Sent(f, sounds, text, now)
		c.leg.Write(f)
	}
	h := c.heardBy(now)
	if r := c.reply; r.live() && r.made() && c.playout.Silent() {
		c.played(h)
		c.step(turn.Event{Kind: turn.Drained})
	}
}

// heardBy is what the far end has heard of the reply that is followed.
func (c *Call) heardBy(now time.Time) playout.Position {
	c.playout.Advance(c.leg.Played(now))
	return c.playout.Heard()
}

// hearing is when the next of n frames that are due is heard: on a continuous leg now, but
// for those that are late; on another when what was written before it is played.
func (c *Call) hearing(n int, played media.Time) media.Time {
	if c.format.Continuous {
		return c.moment() - media.Time(n-1)*media.FrameTime
	}
	return c.moment() + c.playout.Written() - played
}

// spoken follows the reply by the frame that is about to be written: it tells when
// it becomes audible, and which sentence begins. It returns the text of the sentence.
func (c *Call) spoken(r *reply, now time.Time) (text string) {
	r.movedAt = now
	seg := c.playout.Last().Seg
	text = r.texts[seg].Text
	if before := r.caption; seg >= before {
		r.caption = seg + 1
		c.emit(Event{Kind: AgentPartial, Turn: r.turn, Generation: r.number, Text: text})
		if before == 0 {
			c.timed(r, now)
		}
	}
	return text
}

// checkDuration ends a call that has reached its longest.
func (c *Call) checkDuration(now time.Time) {
	if c.cfg.MaxDuration > 0 && now.Sub(c.start) >= c.cfg.MaxDuration {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.MaxDuration, Line: turn.Goodbye})
	}
}

// limits ends what has taken too long.
func (c *Call) limits(now time.Time) {
	c.tend(now)
	if r := c.reply; r.live() && !r.made() && c.heldAt.IsZero() {
		c.listenForVoice(r, now)
		c.stalled(r, now)
	}
	c.checkDuration(now)
	if c.cfg.Quiet > 0 && c.heldAt.IsZero() && now.Sub(c.active) >= c.cfg.Quiet {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.AgentHangup, Detail: "idle"})
	}
}
