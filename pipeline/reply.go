package pipeline

import (
	"context"
	"errors"
	"strings"
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/turn"
)

// reply is one completion on its way from the model to the far end's ear, or a
// line of the agent's own. It belongs to the conductor.
type reply struct {
	gen     int // which completion
	number  int // public generation
	turn    int
	line    turn.Line
	cancel  context.CancelCauseFunc
	making  chan struct{} // a token for each sentence made and not yet played
	texts   []*sentence
	calls   []inference.ToolCall
	noTools bool // it was told to call none
	joins   bool // it follows a sentence that is still being played
	live    bool // not concluded
	audible bool // its first audio was ready
	spoken  bool // and written
	written bool // the model is done
	made    bool // the voice is done
	caption int  // sentences announced

	err     error // the model's
	failed  bool  // an engine failed
	outcome Outcome
	tokens  *inference.Usage

	endpoint time.Duration // of the turn it answers
	asked    time.Time
	modelAt  time.Time
	voiceAt  time.Time
	movedAt  time.Time // when something last came of it
}

// errConcluded is why the engines of a reply are stopped in the ordinary way.
var errConcluded = errors.New("the reply is over")

// conclude closes the books of the reply: text is what the far end hears of it.
func (c *Call) conclude(outcome Outcome, text string) {
	r := c.reply
	r.live, r.outcome = false, outcome
	r.cancel(errConcluded)
	if outcome == Cut {
		c.cancelTools()
	}
	if text != "" || len(r.calls) > 0 {
		c.history.add(inference.Message{Role: inference.RoleAgent, Text: text, Interrupted: outcome == Cut, ToolCalls: r.calls})
	}
	if text != "" {
		c.emit(Event{Kind: AgentLine, Turn: r.turn, Generation: r.number, Text: text})
	}
	if r.line == turn.Greeting {
		c.lines.greeted()
	}
	c.account(r)
}

// played concludes a reply that has been played to its end.
func (c *Call) played() {
	outcome := Committed
	if c.reply.failed {
		outcome = FailedReply
	}
	c.conclude(outcome, c.reply.heardText(c.mouth.heard))
}

// supersede concludes a reply that is still in the books when another begins. It
// waits for functions, whose results still count, and nothing of it was heard.
func (c *Call) supersede() {
	r := c.reply
	if r == nil || !r.live {
		return
	}
	outcome := Discarded
	if len(r.calls) > 0 {
		outcome = Committed
	}
	c.discard(outcome)
}

// discard drops a reply of which nothing was heard.
func (c *Call) discard(outcome Outcome) {
	r := c.reply
	if r == nil || !r.live {
		return
	}
	c.mouth.forget(r.gen)
	c.conclude(outcome, "")
}

// cut stops the voice now.
func (c *Call) cut() {
	now := time.Now()
	c.mouth.flushed(c.leg.Flush(now))
	c.mouth.advance(c.leg.Played(now))
	c.mouth.cut(c.format.Continuous)
	c.emit(Event{Kind: Interrupted})
	if r := c.reply; r != nil && r.live {
		c.conclude(Cut, r.heardText(c.mouth.heard))
	}
	c.emit(Event{Kind: Listening})
	c.setDuck(false)
}

// lastSentence bounds what is still played of a sentence when the call is ended.
const lastSentence = 3 * media.Second

// finishSentence ends the reply with the sentence being spoken.
func (c *Call) finishSentence() {
	r := c.reply
	if r == nil || !r.live {
		return
	}
	end := c.mouth.finish(lastSentence)
	if end.off == 0 {
		c.discard(Discarded)
		return
	}
	c.lastWords = true
	end.off += heardMargin
	c.conclude(Committed, r.heardText(end))
}

// account reports what a completion consumed, once its fate and its count are
// both known.
func (c *Call) account(r *reply) {
	if r.outcome == "" || r.tokens == nil || c.owed[r.gen] == nil {
		return
	}
	delete(c.owed, r.gen)
	c.emit(Event{Kind: Used, Turn: r.turn, Generation: r.number,
		Usage: Usage{Generation: r.gen, Kind: "reply", Outcome: r.outcome, Tokens: *r.tokens}})
}

// stalled gives up a reply of which nothing more comes, neither from its engines
// nor from a function. The turn machine does so while nothing of it was heard.
func (c *Call) stalled(now time.Time) {
	r := c.reply
	if r == nil || !r.live || r.made || c.state.Phase == turn.Thinking || c.mouth.unplayed() || len(c.tools.waiting) > 0 ||
		now.Sub(r.movedAt) < c.cfg.Turn.Think.Duration() {
		return
	}
	c.made(r, c.slow(r))
}

// slow gives up a reply that stopped coming. It returns the fault of the engine
// whose turn it was.
func (c *Call) slow(r *reply) error {
	r.cancel(inference.ErrStalled)
	name := c.cfg.TTS.Info().Name
	if !r.written {
		name = c.cfg.LLM.Info().Name
	}
	return &inference.Error{Engine: name, Fault: inference.ErrFailed, Err: inference.ErrStalled}
}

// asks says whether the reply ends with a question.
func (r *reply) asks() bool {
	return len(r.texts) > 0 && strings.HasSuffix(r.texts[len(r.texts)-1].text, "?")
}

// heardText is the part of the reply that is heard when playing has come to h.
// What has no audio was not heard.
func (r *reply) heardText(h trail) string {
	var b strings.Builder
	for i, s := range r.texts {
		if i > h.seg || h.gen != r.gen {
			break
		}
		t := s.text
		if i == h.seg {
			t = s.heard(h.off)
		}
		if t == "" || s.total == 0 {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(t)
	}
	return b.String()
}
