package pipeline

import (
	"context"

	"parley/pipeline/journal"
)

// A call goes on in another process: this one says how far it is (Pause), and another call begins there (Config.Resume).

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
