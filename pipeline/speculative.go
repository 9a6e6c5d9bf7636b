package pipeline

import (
	"context"

	"parley/inference"
	"parley/pipeline/agent"
	"parley/pipeline/journal"
	"parley/pipeline/turn"
)

// Speculative (preemptive) replies. A reply is begun in a pause that is likely the end of
// the caller's turn (turn.Speculate). Until the turn is committed the reply has no effects:
// the messages of its engines are parked, and nothing of it is heard, shown, run or
// remembered. What it consumed is reported like any completion's.

// Speculation says what is done for a speculative reply before its turn is committed.
type Speculation uint8

// How far speculative replies go.
const (
	SpeculationOff  Speculation = iota // there are none
	SpeculateText                      // the model writes them; a voice that is Local speaks the first sentence
	SpeculateSpeech                    // any voice speaks the first sentence
)

// With is the speculation that an agent's settings ask for; s is what counts where they say
// nothing.
func (s Speculation) With(a *agent.Settings) Speculation {
	switch on, voice := a.Speculate(s != SpeculationOff), a.SpeculativeVoice; {
	case !on:
		return SpeculationOff
	case voice == nil:
		return max(s, SpeculateText)
	case *voice:
		return SpeculateSpeech
	}
	return SpeculateText
}

// speculation is what a speculative reply keeps until its turn is committed.
type speculation struct {
	parked   []message // of its engines
	calls    int       // functions that it asks for
	held     int       // tokens of making that it may not have yet
	revision int       // of the conversation that it answers
}

// Kinds of completions.
const (
	kindReply       = "reply"
	kindSpeculative = "speculative" // which did not become the answer
)

// NoSpeculation says whether the call must begin no speculative replies. Safe for use from any
// goroutine; it never blocks.
func (c *Call) NoSpeculation(on bool) { c.observer.NoSpeculation.Store(on) }

// speculate begins a reply to a turn that may go on.
func (c *Call) speculate(a turn.Action) {
	c.dropSpeculative(Discarded)
	request := c.request()
	request.NoTools = false
	request.Messages = c.history.with(a.Text, a.Again)
	r := &reply{turn: a.Turn, stage: speculative, speculation: &speculation{revision: c.revision(), held: sentencesAhead}}
	if c.cfg.Speculation == SpeculateSpeech || c.observer.ObserveBool(journal.Local, c.cfg.TTS.Info().Local) {
		r.speculation.held-- // the first sentence gets its voice, too
	}
	c.speculative = r
	c.engage(r, request, "")
}

// revision changes with all that a reply depends on besides the caller's words: the
// history, the functions' results, the agent.
func (c *Call) revision() int { return c.history.revision + c.updates }

// park keeps a message of the speculative reply's engines.
func (c *Call) park(r *reply, m message) {
	s := r.speculation
	switch m.kind {
	case msgTool:
		if s.calls++; s.calls > maxToolCalls {
			return
		}
	case msgDone:
		if m.err != nil {
			c.dropSpeculative(FailedReply)
			return
		}
	}
	s.parked = append(s.parked, m)
}

// dropSpeculative drops the speculative reply, if there is one.
func (c *Call) dropSpeculative(outcome Outcome) {
	r := c.speculative
	if r == nil {
		return
	}
	c.speculative = nil
	r.stage, r.outcome, r.speculation.parked = done, outcome, nil
	r.cancel(errConcluded)
	c.account(r)
}

// takeSpeculative takes the speculative reply to what is being committed; nil when there is
// none, or the conversation has changed under it.
func (c *Call) takeSpeculative(a turn.Action) *reply {
	r := c.speculative
	if !a.Ready || r == nil || r.speculation.revision != c.revision() {
		c.dropSpeculative(Discarded)
		return nil
	}
	c.speculative = nil
	return r
}

// promote makes the speculative reply the answer: its parked messages are handled now.
func (c *Call) promote(r *reply) {
	now, s := c.now(), r.speculation
	r.stage, r.speculation, r.timing.asked, r.movedAt = composing, nil, now, now
	c.adopt(r)
	for range s.held {
		<-r.making
	}
	for _, m := range s.parked {
		c.takeReply(r, m)
	}
}

// engage has the engines make a reply: the model for a request, without one the voice
// alone for text.
func (c *Call) engage(r *reply, request *inference.Request, text string) {
	c.replies++
	now := c.now()
	r.gen, r.timing.asked, r.movedAt = c.replies, now, now
	r.making = make(chan struct{}, sentencesAhead)
	if r.speculation != nil {
		for range r.speculation.held {
			r.making <- struct{}{}
		}
	}
	ctx, cancel := context.WithCancelCause(c.life)
	r.cancel = cancel
	queue := make(chan piece, sentenceQueue)
	gen, agent := r.gen, c.agent
	c.noteReply(&agent, gen, request, text)
	if request == nil {
		c.spawn("pipeline/recite", func() { recite(ctx, text, agent.Language, queue) }, func() { close(queue) })
	} else {
		r.completion = &completion{mostCalls: maxToolCalls}
		if request.NoTools {
			r.completion.mostCalls = 0
		}
		c.owed[r.gen] = r
		c.asksModel(r, request)
		w := newWriting(c, ctx, gen, request, queue)
		c.spawn("pipeline/model", w.run, w.end)
	}
	c.spawn("pipeline/voice", func() { c.speakAll(ctx, gen, &agent, r.making, queue) },
		func() { cancel(errConcluded) }) // a voice that failed stops the model
}

// adopt makes r the reply that is heard next.
func (c *Call) adopt(r *reply) {
	c.reply = r
	c.playout.Follow(r.gen)
}
