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
	gen         int // which completion
	number      int // public generation
	turn        int
	line        turn.Line
	prompts     string // the function call that it is the prompt of; empty: none
	joins       bool   // it follows a sentence that is still being played
	stage       stage
	outcome     Outcome      // when done
	speculation *speculation // nil: it was not begun before the end of its turn, or is the answer to it
	completion  *completion  // nil: the text is given, no model writes it
	cancel      context.CancelCauseFunc
	making      chan struct{} // a token for each sentence made and not yet played
	texts       []*playout.Sentence
	voice       voice
	calls       []inference.ToolCall
	question    turn.Question // what its last sentence asks
	lead        int           // pieces of its first sentence; 0: not known yet
	caption     int           // sentences announced
	err         error         // why it failed
	movedAt     time.Time     // when an engine or the playout last made progress
	timing      replyTiming
}

// stage is how far a reply is.
//
//	stage               what happens                                        next
//	speculative         its turn is committed with the same words           composing
//	                    its turn goes on, or an engine fails                done
//	composing           the first audio comes                               speaking
//	                    everything is made, and there is no audio           silent
//	                    an engine fails, or the turn goes on                done
//	speaking            everything is made, or an engine fails              draining
//	draining, silent    everything is played                                done
//	all but speculative a barge-in, another reply or the end of the call    done
type stage uint8

const (
	composing   stage = iota // it is made, nothing of it is audible
	speculative              // the same, in a pause of the caller's: it has no effects
	speaking                 // it is made and heard
	draining                 // it is made: its audio is played to its end
	silent                   // it is made, without audio
	done                     // its books are closed, except for usage
)

// live says that the reply is not done; a nil reply is.
func (r *reply) live() bool { return r != nil && r.stage != done }

// made says that its engines have finished.
func (r *reply) made() bool { return r.stage >= draining }

// audible says that its first audio is ready.
func (r *reply) audible() bool { return r.stage == speaking || r.stage == draining }

// written says that the whole text is known.
func (r *reply) written() bool { return r.completion == nil || r.completion.usage != nil }

// completion is the model's part of a reply.
type completion struct {
	mostCalls int              // functions that it may call
	usage     *inference.Usage // nil: the model has not finished
	engine    string           // that wrote it
}

// errConcluded is why the engines of a reply are stopped in the ordinary way.
var errConcluded = errors.New("the reply is over")

// conclude closes the books of the reply, which the far end hears up to h.
func (c *Call) conclude(outcome Outcome, h playout.Position) {
	r := c.reply
	text := playout.Heard(r.texts, h)
	r.stage, r.outcome = done, outcome
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
	if c.reply.err != nil {
		outcome = FailedReply
	}
	c.conclude(outcome, h)
}

// supersede concludes a reply that is still in the books when another begins. It
// waits for functions, whose results still count, and nothing of it was heard.
func (c *Call) supersede() {
	r := c.reply
	if !r.live() {
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
	if !r.live() {
		return
	}
	c.playout.Forget(r.gen)
	c.conclude(outcome, playout.Position{})
}

// cut stops the voice now.
func (c *Call) cut() {
	now := c.now()
	d := c.leg.Flush(now) // of what was written and is not played yet
	c.playout.Flushed(d)
	c.caller.Flushed(d)
	h := c.heardBy(now)
	c.playout.Cut(c.format.Continuous)
	c.emit(Event{Kind: Interrupted})
	if c.reply.live() {
		c.conclude(Cut, h)
	}
	c.emit(Event{Kind: Listening})
	c.setDuck(false)
}

// lastSentence bounds what is still played of a sentence when the call is ended.
const lastSentence = 3 * media.Second

// finishSentence ends the reply with the sentence being spoken.
func (c *Call) finishSentence() {
	if !c.reply.live() {
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

// account reports what a completion consumed, once the reply is done and the
// count is known.
func (c *Call) account(r *reply) {
	if r.stage != done || !r.written() || c.owed[r.gen] == nil {
		return
	}
	delete(c.owed, r.gen)
	kind := kindReply
	if r.speculation != nil {
		kind = kindSpeculative
	}
	c.emit(Event{Kind: Used, Turn: r.turn, Generation: r.number,
		Usage: Usage{Generation: r.gen, Kind: kind, Outcome: r.outcome, Tokens: *r.completion.usage, Engine: r.completion.engine}})
}

// stalled gives up a reply of which nothing more comes, neither from its engines
// nor from a function. The turn machine does so while nothing of it was heard.
func (c *Call) stalled(r *reply, now time.Time) {
	if c.state.Phase == turn.Thinking || c.playout.Unplayed() || c.tools.running() || now.Sub(r.movedAt) < c.cfg.Turn.Think.Duration() {
		return
	}
	c.finishMaking(r, c.slow(r))
}

// slow gives up a reply that stopped coming. It returns the fault of the engine
// whose turn it was.
func (c *Call) slow(r *reply) error {
	r.cancel(inference.ErrStalled)
	name := c.cfg.TTS.Info().Name
	if !r.written() {
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
	usage := m.usage
	if r.completion.usage, r.completion.engine = &usage, m.engine; m.engine != "" {
		c.serves(agent.StageLLM, &c.serving.llm, m.engine, c.cfg.LLM)
	}
	switch {
	case m.err == nil:
	case r.stage == speculative:
		c.dropSpeculative(FailedReply)
	case !r.made():
		r.err = m.err
	}
	c.account(r)
	c.toolsDone()
}
