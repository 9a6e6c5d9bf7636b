package pipeline

import (
	"context"

	"parley/pipeline/journal"
	"parley/pipeline/toolbox"
	"parley/pipeline/turn"
)

// A call goes on in another process: this one says how far it is (Pause), and another call begins there (Config.Resume), in silence. When
// this process dies another one goes on from what it said last, and the agent says that it is there again (journal.Conversation.Lost).

// Pause says how far the call is, for another one to go on from; false while somebody speaks or waits, or something is under way, and
// when ctx or the call ends. The call itself goes on.
func (c *Call) Pause(ctx context.Context) (*journal.Conversation, bool) {
	said := make(chan *journal.Conversation, 1)
	if !c.crew.Send(ctx, message{kind: msgPause, paused: said}) {
		return nil, false
	}
	select {
	case at := <-said:
		return at, at != nil
	case <-ctx.Done():
	case <-c.crew.Life.Done():
	}
	return nil, false
}

// Resume has a call that was prepared, and does not run yet, go on from a later moment than that of its Config.Resume, in the same
// language.
func (c *Call) Resume(at *journal.Conversation) {
	c.cfg.Resume = at
	c.resume(at)
}

// conversation is how far the call is; nil while something is under way.
func (c *Call) conversation() *journal.Conversation {
	r := c.replies.Latest
	if !c.state.Rests() || r.Live() || c.replies.Speculative != nil || len(c.tools.Waiting) > 0 || !c.playout.Silent() ||
		c.between.Supervisor != nil || c.between.Filler.Playing != nil {
		return nil
	}
	at := &journal.Conversation{Heard: c.caller.End(), State: c.state, Language: c.agent.Language, Advice: c.agent.Advice}
	at.Number, at.Begun, at.Entries, at.Results = c.replies.Keep()
	return at
}

// resume goes on from how far another call was.
func (c *Call) resume(at *journal.Conversation) {
	c.state, c.agent.Advice = at.State, at.Advice
	c.replies.Restore(at.Number, at.Begun, at.Entries, at.Results)
	if at.Language != c.agent.Language {
		c.agent.Speak(at.Language, &c.cfg.Agent)
		c.cfg.Turn.Speak(at.Language)
		c.caller.Language = at.Language
	}
}

// opening is the line with which the agent begins to speak.
func (c *Config) opening() turn.Line {
	if c.Resume != nil && c.Resume.Lost {
		return turn.Reconnected
	}
	return turn.Greeting
}

// adopted goes on with a call whose process died. Functions that ran there are concluded, which those who follow the call see, too.
func (c *Call) adopted() {
	for _, call := range c.replies.History.Open() {
		c.carryOut([]toolbox.Event{toolbox.Abandon(call)})
	}
	e := turn.Event{Kind: turn.Adopted}
	if c.replies.History.Unanswered() {
		e.Wait = turn.AnswerWait
	}
	c.step(e)
}
