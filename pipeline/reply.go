package pipeline

import (
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/event"
	"parley/pipeline/playout"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// conclude closes the books of the reply, which the far end hears up to h.
func (c *Call) conclude(outcome reply.Outcome, h playout.Position) {
	r := c.replies.Latest
	text := r.Conclude(outcome, h, c.playout.Heard().Seg)
	if outcome == reply.Cut {
		c.interruptTools()
		if c.cfg.Interrupted != nil {
			c.cfg.Interrupted(r.PlayedBy(h).Duration())
		}
	}
	c.replies.Remember(&c.agent, text, h)
	if text != "" {
		said, unheard := playout.Said(r.Texts(), h)
		if outcome == reply.Cut {
			said.Interrupted, said.Cut, said.Unheard = true, c.moment(), unheard
		}
		c.emit(event.Event{Kind: event.AgentLine, Turn: r.Turn, Generation: r.Number, Text: text, Said: said})
	}
	c.account(r)
}

// supersede concludes a reply that is still in the books when another begins. It
// waits for functions, whose results still count, and nothing of it was heard.
func (c *Call) supersede() {
	if r := c.replies.Latest; r.Live() && len(r.Calls) > 0 {
		c.discard(reply.Committed)
		return
	}
	c.discard(reply.Discarded)
}

// discard drops a reply of which nothing was heard.
func (c *Call) discard(outcome reply.Outcome) {
	if c.replies.Latest.Live() {
		c.playout.Forget(c.replies.Latest.Gen)
		c.conclude(outcome, playout.Position{})
	}
}

// cut stops the voice now.
func (c *Call) cut() {
	now := c.now()
	c.flush(now)
	h := c.heardBy(now)
	c.playout.Cut(c.leg.Format().Continuous)
	c.emit(event.Event{Kind: event.Interrupted})
	if c.replies.Latest.Live() {
		c.conclude(reply.Cut, h)
	}
	c.emit(event.Event{Kind: event.Listening})
	c.setDuck(false)
}

// flush takes back what was written and is not played yet.
func (c *Call) flush(now time.Time) {
	d := c.leg.Flush(now)
	c.playout.Flushed(d)
	c.caller.Flushed(d)
}

// lastSentence bounds what is still played of a sentence when the call is ended.
const lastSentence = 3 * media.Second

// finishSentence ends the reply with the sentence being spoken.
func (c *Call) finishSentence() {
	if !c.replies.Latest.Live() {
		return
	}
	end := c.playout.Finish(lastSentence)
	if end.Off == 0 {
		c.discard(reply.Discarded)
		return
	}
	c.replies.Latest.Finishing = true
	end.Off += playout.HeardMargin
	c.conclude(reply.Committed, end)
}

// account reports what a completion consumed, once the reply is done and the
// count is known.
func (c *Call) account(r *reply.Reply) {
	if u, ok := c.replies.Usage(r); ok {
		c.emit(event.Event{Kind: event.Used, Turn: r.Turn, Generation: r.Number, Usage: u})
	}
}

// stalled gives up a reply of which nothing more comes, neither from its engines
// nor from a function. The turn machine does so while nothing of it was heard.
func (c *Call) stalled(r *reply.Reply, now time.Time) {
	if c.state.Phase == turn.Thinking || c.playout.Unplayed() || c.tools.Running() || now.Sub(r.MovedAt) < c.cfg.Turn.Think.Duration() {
		return
	}
	c.finishMaking(r, c.slow(r))
}

// slow gives up a reply that stopped coming. It returns the fault of the engine
// whose turn it was.
func (c *Call) slow(r *reply.Reply) error {
	r.Making.Cancel(inference.ErrStalled)
	name := c.cfg.TTS.Info().Name
	if !r.Written() {
		name = c.cfg.LLM.Info().Name
	}
	return &inference.Error{Engine: name, Fault: inference.ErrFailed, Err: inference.ErrStalled}
}

// written is the end of the model's part of a reply, alive or dead.
func (c *Call) written(p reply.Part) {
	r := c.replies.Written(p)
	if r == nil {
		return
	}
	if p.Engine != "" {
		c.serves(agent.StageLLM, p.Engine, c.cfg.LLM)
	}
	if p.Err != nil && r == c.replies.Speculative {
		c.dropSpeculative(reply.Failed)
	}
	c.account(r)
	c.toolsDone()
}

// takeReply takes what an engine made of the reply in progress.
func (c *Call) takeReply(r *reply.Reply, p reply.Part) {
	switch p.Kind {
	case reply.Sentence:
		c.playout.Add(r.Begin(p, c.agent.Language, c.now()))
	case reply.Audio:
		c.audio(r, p)
	case reply.Spoken:
		if s := c.playout.Sentence(p.Gen, p.Seg); s != nil {
			s.Complete = true
		}
	case reply.Call:
		c.called(r, p.Call, p.Own)
	case reply.Broken:
		c.broken(r, p)
	case reply.Finished:
		c.finishMaking(r, p.Err)
	}
}

// broken has the rest of a sentence spoken again, whose voice broke or was stopped.
func (c *Call) broken(r *reply.Reply, p reply.Part) {
	defer close(p.Again)
	if left, ok := r.Retry(p.Seg, c.now()); ok {
		c.emit(event.Event{Kind: event.Recovered, Turn: r.Turn, Generation: r.Number, Err: p.Err})
		p.Again <- left
	}
}

// audio takes a piece of the voice.
func (c *Call) audio(r *reply.Reply, p reply.Part) {
	s := c.playout.Sentence(p.Gen, p.Seg)
	if s == nil || r.Stopped(p.Seg) {
		return
	}
	if len(p.Chunk.Phones) > 0 {
		c.emit(event.Event{Kind: event.Phones, Turn: r.Turn, Generation: r.Number, Phones: r.Phones(p.Seg, p.Chunk.Phones)})
	}
	s.Append(p.Chunk)
	if len(p.Chunk.Samples) > 0 {
		c.serves(agent.StageTTS, p.Chunk.Engine, c.cfg.TTS)
	}
	if !r.Sound(p) {
		return
	}
	if !r.Joins {
		c.emit(event.Event{Kind: event.Speaking, Turn: r.Turn, Generation: r.Number})
	}
	c.step(turn.Event{Kind: turn.FirstAudio})
}

// finishMaking takes the end of a reply's engines, with an error where one failed.
func (c *Call) finishMaking(r *reply.Reply, err error) {
	if r.Made() {
		return
	}
	if err = r.Finish(err); err == nil {
		return
	}
	audible := r.Audible()
	c.emit(event.Event{Kind: event.Fault, Turn: r.Turn, Generation: r.Number, Err: err})
	if !audible {
		c.discard(reply.Failed)
	}
	c.step(turn.Event{Kind: turn.ReplyFailed})
	if !audible && c.state.Ending() != "" { // the last words failed: the call ends without them
		c.step(turn.Event{Kind: turn.Drained})
	}
}
