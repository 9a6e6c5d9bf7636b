package pipeline

import (
	"time"

	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/listen"
	"parley/pipeline/playout"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// The way of a 20 ms frame: from the leg through package listen, which says what it holds, to package turn, which decides
// what follows from that; and from package playout back to the leg. Beside it, what has taken too long is looked for.

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
		if c.between.Supervisor != nil {
			c.between.Supervisor.Carry(f, now)
		}
		if c.state.Screens() {
			c.answer.Who.Listen(f)
		}
		// The recogniser is asked when the turn could rest on what it has heard.
		behind := c.state.Phase == turn.Pause && c.state.Owed() && c.caller.Behind()
		h := c.caller.Hear(f)
		c.caller.Came(now)
		if h.Speech {
			c.times.active = now
		}
		c.observer.Frame(journal.Heard{Speech: h.Speech, Echo: h.Echo, Level: h.Level, Behind: behind, Tone: h.Tone})
		e := turn.Event{Kind: turn.Frame, Speech: speechOf(h), Tone: tones[h.Tone], Behind: behind}
		if r := c.replies.Latest; r != nil {
			c.heardMeanwhile(&e, r, now)
		}
		e.MaySpeculate = c.maySpeculate()
		c.step(e)
		if c.state.Screens() {
			c.answeredBy(h.Activity)
		}
	}
}

var tones = [...]turn.Tone{listen.Falling: turn.Falling, listen.Level: turn.Level}

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
func (c *Call) heardMeanwhile(e *turn.Event, r *reply.Reply, now time.Time) {
	if !r.Live() {
		e.Question = r.Question()
		return
	}
	e.First = r.InFirst(c.playout.Heard())
	e.Tail = turn.Unfinished
	if r.Made() {
		e.Tail = c.playout.Remaining(c.leg.Played(now))
		if r.InLast(c.playout.Last()) {
			e.Question = r.Question()
		}
	}
}

// maySpeculate says whether a speculative reply may be begun now.
func (c *Call) maySpeculate() bool {
	return c.cfg.Speculation != reply.SpeculationOff && c.observer.MaySpeculate() && !c.state.Held() && len(c.tools.Waiting) == 0 && c.playout.Silent()
}

// step gives the turn machine an event and has what it decides carried out (conduct.go). Carrying out may cause
// further events; they wait their turn.
func (c *Call) step(e turn.Event) {
	q := &c.steps
	if !q.Add(e) {
		return
	}
	for i := 0; i < len(q.Events); i++ {
		e := q.Events[i]
		if e.Now = c.caller.End(); e.Kind != turn.Frame {
			// A frame ends when it ends: with the microseconds since it came, a
			// timer would be due one frame late.
			e.Now = c.clock()
		}
		c.state, q.Actions = turn.Step(&c.cfg.Turn, c.state, e, q.Actions[:0])
		for _, a := range q.Actions {
			c.act(a)
		}
		if c.cfg.Inspect && c.bridge == nil {
			c.inspect()
		}
	}
	q.Events = q.Events[:0]
}

// speak writes every frame that is due.
func (c *Call) speak(now time.Time) {
	played := c.leg.Played(now)
	c.playout.Advance(played)
	for n := c.leg.Due(now); n > 0; n-- {
		f, finished, ok := c.playout.Next(c.hearing(n, played))
		for ; finished > 0; finished-- {
			c.replies.Latest.Making.Played()
		}
		tone := c.between.Notice.On && c.between.Notice.Sounds(now)
		if !ok && !tone && !c.leg.Format().Continuous && !c.supervisorReady(now) {
			break
		}
		text, sounds := "", ok
		if !ok {
			f, sounds = c.pause(now)
		} else if c.times.active = now; c.replies.Latest.Live() && c.playout.Last().Gen == c.replies.Latest.Gen {
			text = c.spoken(c.replies.Latest, now)
		}
		if tone {
			f, sounds = c.between.Notice.Over(f), true
		}
		c.caller.Sent(f, sounds, text, now)
		c.leg.Send(f, c.between.Supervisor != nil && c.between.Supervisor.Private())
	}
	h := c.heardBy(now)
	if r := c.replies.Latest; r.Live() && r.Made() && c.playout.Silent() {
		c.conclude(r.Played(), h)
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
	if c.leg.Format().Continuous {
		return c.moment() - media.Time(n-1)*media.FrameTime
	}
	return c.moment() + c.playout.Written() - played
}

// spoken follows the reply by the frame that is about to be written: it tells when
// it becomes audible, and which sentence begins. It returns the text of the sentence.
func (c *Call) spoken(r *reply.Reply, now time.Time) string {
	r.MovedAt = now
	text, begins := r.Caption(c.playout.Last().Seg)
	if begins > 0 {
		c.emit(event.Event{Kind: event.AgentPartial, Turn: r.Turn, Generation: r.Number, Text: text})
	}
	if begins == 1 && r.Line == turn.NoLine {
		c.emit(event.Event{Kind: event.Timed, Turn: r.Turn, Generation: r.Number, Timing: r.Clock.Report(now)})
	}
	return text
}

// now is when the input came that is being dealt with.
func (c *Call) now() time.Time { return c.observer.Now() }

// supervisorReady says that a leg which is not continuous is to have a frame of the supervisor's.
func (c *Call) supervisorReady(now time.Time) bool {
	return c.between.Supervisor != nil && c.observer.ObserveBool(journal.Supervised, c.between.Supervisor.Ready(now))
}

// pause is a frame between sentences: of the supervisor's voice or of the tone, which sound, or silence.
func (c *Call) pause(now time.Time) (f media.Frame, sounds bool) {
	c.playout.Pass()
	switch {
	case c.between.Supervisor != nil:
		sounds = c.between.Supervisor.Ready(now)
		return c.between.Supervisor.Next(), sounds
	case len(c.tools.Waiting) > 0:
		f, sounds = c.ring(now)
	}
	if !sounds {
		f = media.Silence(c.leg.Format().Out)
	}
	return f, sounds
}

// wait has the turn machine check what the caller waits for.
func (c *Call) wait() {
	if f := &c.between.Filler; f.Playing != nil && c.playout.Silent() {
		c.filled(f.Playing.Text)
	}
	e := turn.Event{Kind: turn.Tick, Output: c.output()}
	switch {
	case len(c.tools.Waiting) == 0:
	case c.rings() != nil:
		e.Wait = turn.TransferWait
	case c.tools.Running():
		e.Wait = turn.FunctionWait
	}
	c.step(e)
}

// output is what the far end hears of the agent.
func (c *Call) output() turn.Output {
	switch {
	case c.between.Filler.Playing != nil:
		return turn.Filling
	case !c.playout.Silent():
		return turn.Sounding
	case c.replies.Latest.Live():
		return turn.Preparing
	}
	return turn.Resting
}

// times are the moments that the limits of a call count from.
type times struct {
	start  time.Time
	active time.Time // when either side last spoke
}

// clock is the call's media time, which does not go back.
func (c *Call) clock() media.Time {
	return c.caller.Clock(c.now())
}

// moment is the same without effect on later readings.
func (c *Call) moment() media.Time { return c.caller.Moment(c.now()) }

// checkDuration ends a call that has reached its longest.
func (c *Call) checkDuration(now time.Time) {
	if c.cfg.MaxDuration > 0 && now.Sub(c.times.start) >= c.cfg.MaxDuration {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.MaxDuration, Line: turn.Goodbye})
	}
}

// limits ends what has taken too long.
func (c *Call) limits(now time.Time) {
	if len(c.tools.Waiting) > 0 {
		c.tend(now)
	}
	c.wait()
	if r := c.replies.Latest; r.Live() && !r.Made() && !c.state.Held() {
		r.CheckVoice(c.playout.Sounds(), now)
		c.stalled(r, now)
	}
	c.checkDuration(now)
	if c.cfg.Quiet > 0 && !c.state.Held() && c.between.Supervisor == nil && now.Sub(c.times.active) >= c.cfg.Quiet {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.AgentHangup, Detail: "idle"})
	}
}
