package pipeline

import (
	"parley/inference"
	"parley/pipeline/journal"
	"parley/pipeline/reply"
	"parley/pipeline/turn"
)

// Speculative (preemptive) replies. A reply is begun in a pause that is likely the end of
// the caller's turn (turn.Speculate). Until the turn is committed the reply has no effects:
// the messages of its engines are parked, and nothing of it is heard, shown, run or
// remembered. What it consumed is reported like any completion's.

// NoSpeculation says whether the call must begin no speculative replies. Safe for use from any
// goroutine; it never blocks.
func (c *Call) NoSpeculation(on bool) { c.observer.NoSpeculation.Store(on) }

// speculate begins a reply to a turn that may go on.
func (c *Call) speculate(a turn.Action) {
	c.dropSpeculative(reply.Discarded)
	request := c.request()
	request.NoTools = false
	request.Messages = c.replies.History.With(a.Text, a.Again)
	o := reply.Order{Agent: c.agent, Request: request}
	if c.cfg.Speculation == reply.SpeculateSpeech || c.observer.ObserveBool(journal.Local, c.cfg.TTS.Info().Local) {
		o.Ahead = 1 // the first sentence gets its voice, too
	}
	c.asksModel(c.replies.Speculate(c.crew.Life, a.Turn, o, c.now()), o)
}

// park keeps what the engines of the speculative reply made.
func (c *Call) park(p reply.Part) {
	if !c.replies.Park(p) {
		c.dropSpeculative(reply.Failed)
	}
}

// dropSpeculative drops the speculative reply, if there is one.
func (c *Call) dropSpeculative(outcome reply.Outcome) {
	if c.replies.Speculative != nil {
		c.account(c.replies.Drop(outcome))
	}
}

// promote makes the speculative reply the answer: what its engines have made counts now.
func (c *Call) promote(r *reply.Reply) {
	parked := c.replies.Commit(c.now())
	c.playout.Follow(r.Gen)
	for _, p := range parked {
		c.takeReply(r, p)
	}
}

// compose begins to make a reply that is heard as it comes. A nil request speaks text as
// it stands.
func (c *Call) compose(r *reply.Reply, request *inference.Request, text string) {
	o := reply.Order{Agent: c.agent, Request: request, Text: text, Ahead: reply.SentencesAhead}
	c.replies.Begin(c.crew.Life, r, o, c.now())
	c.asksModel(r, o)
	c.replies.Latest = r
	c.playout.Follow(r.Gen)
}
