package pipeline

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/media"
	"parley/pipeline/agent"
	"parley/pipeline/playout"
	"parley/pipeline/turn"
)

// reply is one completion on its way from the model to the far end, or a
// line of the agent's own. It belongs to the conductor.
type reply struct {
	gen     int // which completion
	number  int // public generation
	turn    int
	line    turn.Line
	cancel  context.CancelCauseFunc
	making  chan struct{} // a token for each sentence made and not yet played
	texts   []*playout.Sentence
	stop    context.CancelCauseFunc // stops the voice of the last of them; nil: it was stopped, or broke
	calls   []inference.ToolCall
	noTools bool // it was told to call none
	// A speculative reply: its engines' messages, parked, how many functions it asks for,
	// the tokens of making that it may not have yet, and what it depends on.
	speculative bool
	parked      []message
	wishes      int
	held        int
	revision    int
	question    turn.Question // what its last sentence asks
	lead        int           // pieces of its first sentence; 0: not known yet
	prompts     string        // the function call that it is the prompt of; empty: none
	joins       bool          // it follows a sentence that is still being played
	live        bool          // not concluded
	audible     bool          // its first audio was ready
	written     bool          // the model is done
	made        bool          // the voice is done
	caption     int           // sentences announced

	err     error // the model's
	failed  bool  // an engine failed
	outcome Outcome
	tokens  *inference.Usage
	engine  string // that wrote it

	endpoint time.Duration // of the turn it answers
	over     turnOver      // the end of that turn
	asked    time.Time
	waits    engineWaits
	modelAt  time.Time // its first words
	wholeAt  time.Time // its first sentence
	voiceAt  time.Time
	movedAt  time.Time // when something last came of it
	quietAt  time.Time // since when its voice owes audio, at the earliest
	again    bool      // a sentence of it was spoken again
}

// errConcluded is why the engines of a reply are stopped in the ordinary way.
var errConcluded = errors.New("the reply is over")

// conclude closes the books of the reply, which the far end hears up to h.
func (c *Call) conclude(outcome Outcome, h playout.Position) {
	r := c.reply
	text := playout.Heard(r.texts, h)
	r.live, r.outcome = false, outcome
	r.cancel(errConcluded)
	if outcome == Cut {
		c.interruptTools()
	}
	if (text != "" || len(r.calls) > 0) && !c.history.prompted(r.prompts, text, outcome == Cut) {
		c.history.add(inference.Message{Role: inference.RoleAgent, Text: text, Interrupted: outcome == Cut, ToolCalls: r.calls})
	}
	if text != "" {
		said, unheard := playout.Said(r.texts, h)
		if outcome == Cut {
			said.Interrupted, said.Cut, said.Unheard = true, c.moment(), unheard
		}
		c.emit(Event{Kind: AgentLine, Turn: r.turn, Generation: r.number, Text: text, Said: said})
	}
	if outcome == Cut && c.playout.Heard().Seg < len(r.texts)-1 {
		r.question = turn.NoQuestion
	}
	if r.line == turn.Greeting {
		c.greeted(outcome, text, h)
	}
	c.account(r)
}

// played concludes a reply that has been played to its end, which is at h.
func (c *Call) played(h playout.Position) {
	outcome := Committed
	if c.reply.failed {
		outcome = FailedReply
	}
	c.conclude(outcome, h)
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
	c.playout.Forget(r.gen)
	c.conclude(outcome, playout.Position{})
}

// cut stops the voice now.
func (c *Call) cut() {
	now := c.now()
	d := media.Time(c.told(AnsweredFlush, int64(c.leg.Flush(now)))) // of what was written and is not played yet
	c.playout.Flushed(d)
	c.caller.Flushed(d)
	h := c.heardBy(now)
	c.playout.Cut(c.format.Continuous)
	c.emit(Event{Kind: Interrupted})
	if r := c.reply; r != nil && r.live {
		c.conclude(Cut, h)
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
	end := c.playout.Finish(lastSentence)
	if end.Off == 0 {
		c.discard(Discarded)
		return
	}
	c.lastWords = true
	end.Off += playout.HeardMargin
	c.conclude(Committed, end)
}

// account reports what a completion consumed, once its fate and its count are
// both known.
func (c *Call) account(r *reply) {
	if r.outcome == "" || r.tokens == nil || c.owed[r.gen] == nil {
		return
	}
	delete(c.owed, r.gen)
	kind := kindReply
	if r.speculative {
		kind = kindSpeculative
	}
	c.emit(Event{Kind: Used, Turn: r.turn, Generation: r.number,
		Usage: Usage{Generation: r.gen, Kind: kind, Outcome: r.outcome, Tokens: *r.tokens, Engine: r.engine}})
}

// stalled gives up a reply of which nothing more comes, neither from its engines
// nor from a function. The turn machine does so while nothing of it was heard.
func (c *Call) stalled(r *reply, now time.Time) {
	if c.state.Phase == turn.Thinking || c.playout.Unplayed() || c.tools.running() || now.Sub(r.movedAt) < c.cfg.Turn.Think.Duration() {
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

// endsSentence says that a text has come to the end of a sentence, a quoted one too.
func endsSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, "\"'”’»)] "))
	return strings.ContainsRune(".!?…", last)
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
		if r.err = m.err; r == c.speculative {
			c.dropSpeculative(FailedReply)
		}
	}
	c.account(r)
	c.toolsDone()
}
