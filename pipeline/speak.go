package pipeline

import (
	"slices"
	"time"

	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/turn"
)

// speak writes every frame that is due.
func (c *Call) speak(now time.Time) {
	played := c.playedBy(now)
	c.playout.Advance(played)
	for n := c.due(now); n > 0; n-- {
		f, finished, ok := c.playout.Next(c.hearing(n, played))
		for ; finished > 0; finished-- {
			c.sentencePlayed()
		}
		if !ok {
			if !c.format.Continuous {
				break
			}
			tone := false
			if f, tone = c.ring(now); !tone {
				f = media.Frame{Samples: silence[:c.format.Out.FrameSamples()], Rate: c.format.Out}
			}
			c.caller.Sent(f, tone, "", now)
			c.leg.Write(f)
			c.playout.Pass()
			continue
		}
		text := ""
		if r := c.reply; r.live && c.playout.Last().Gen == r.gen {
			text = c.spoken(r, now)
		}
		c.caller.Sent(f, true, text, now)
		c.leg.Write(f)
		c.active = now
	}
	h := c.heardBy(now)
	if r := c.reply; r != nil && r.live && r.made && c.playout.Silent() {
		c.played(h)
		c.step(turn.Event{Kind: turn.Drained})
	}
}

// hearing is when the next of n frames that are due is heard: on a continuous leg now, but
// for those that are late; on another when what was written before it is played.
func (c *Call) hearing(n int, played media.Time) media.Time {
	if c.format.Continuous {
		return c.moment() - media.Time(n-1)*media.FrameTime
	}
	return c.moment() + c.playout.Written() - played
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

// spoken follows the reply by the frame that is about to be written: it tells when
// it becomes audible, and which sentence begins. It returns the text of the sentence.
func (c *Call) spoken(r *reply, now time.Time) (text string) {
	r.movedAt = now
	seg := c.playout.Last().Seg
	text = r.texts[seg].Text
	if seg >= r.caption {
		r.caption = seg + 1
		c.emit(Event{Kind: AgentPartial, Turn: r.turn, Generation: r.number, Text: text})
	}
	if !r.spoken {
		r.spoken = true
		c.timed(r, now)
	}
	return text
}

// timed reports where the time of a turn went.
func (c *Call) timed(r *reply, now time.Time) {
	if r.line != turn.NoLine {
		return
	}
	t := Timing{Endpoint: r.endpoint, Total: r.endpoint + now.Sub(r.asked)}
	t.Model, t.Voice = r.waits.since(r.asked)
	t.Overhead = now.Sub(r.asked) - t.Model - t.Voice
	t.SpeechEnd = r.over.at
	t.FinalText, t.FirstToken, t.FirstSentence = r.over.since(r.over.settled), r.over.since(r.modelAt), r.over.since(r.wholeAt)
	t.FirstAudio, t.FirstPacket = r.over.since(r.voiceAt), r.over.since(now)
	c.emit(Event{Kind: Timed, Turn: r.turn, Generation: r.number, Timing: t})
}

// engineWaits are the times in which a reply waited for its engines: for the model's first
// text, for the rest of the sentence that was heard first, for that one's first audio.
type engineWaits struct{ model, sentence, voice span }

type span struct{ from, to time.Time }

// since is how long the model and the voice were waited for after a reply was asked for;
// it may have been begun in advance.
func (w *engineWaits) since(asked time.Time) (model, voice time.Duration) {
	if w.voice.from.IsZero() { // an older journal does not say when engines were asked
		w.model.from, w.voice.from = asked, w.sentence.to
	}
	return w.model.after(asked), w.sentence.after(asked) + w.voice.after(asked)
}

func (s span) after(t time.Time) time.Duration {
	if s.from.Before(t) {
		s.from = t
	}
	return max(0, s.to.Sub(s.from))
}

// turnOver is the end of the caller's turn.
type turnOver struct {
	at      media.Time // the last speech in it, or when it was typed
	wall    time.Time  // the same on the wall clock
	settled time.Time  // when the last of its text became final; zero: it did not
}

// since is how long after the turn's end something was; Never when it was not.
func (o *turnOver) since(t time.Time) time.Duration {
	if t.IsZero() || o.wall.IsZero() {
		return Never
	}
	return t.Sub(o.wall)
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

// written is the end of the model's part of a reply, alive or dead.
func (c *Call) written(m message) {
	r := c.owed[m.gen]
	if r == nil {
		return
	}
	u := m.usage
	if r.tokens, r.written, r.engine = &u, true, m.engine; m.engine != "" {
		c.serves(agent.StageLLM, &c.serving.llm, m.engine, c.cfg.LLM)
	}
	if m.err != nil {
		if r.err = m.err; r == c.ahead {
			c.dropAhead(FailedReply)
		}
	}
	c.account(r)
	c.toolsDone()
}

// limits ends what has taken too long.
func (c *Call) limits(now time.Time) {
	c.tend(now)
	c.answerKeys(now)
	if c.heldAt.IsZero() {
		c.listenForVoice(now)
		c.stalled(now)
	}
	if c.cfg.MaxDuration > 0 && now.Sub(c.start) >= c.cfg.MaxDuration {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.MaxDuration, Line: turn.Goodbye})
	}
	if c.cfg.Quiet > 0 && c.heldAt.IsZero() && now.Sub(c.active) >= c.cfg.Quiet {
		c.step(turn.Event{Kind: turn.Stop, Reason: media.AgentHangup, Detail: "idle"})
	}
}
