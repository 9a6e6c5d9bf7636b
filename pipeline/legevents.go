package pipeline

import (
	"parley/inference"
	"parley/media"
	"parley/pipeline/event"
	"parley/pipeline/journal"
	"parley/pipeline/turn"
)

// legEvent takes what the leg reports beside audio: keys, which go to whom the caller was connected to, and that the caller holds the call.
func (c *Call) legEvent(e media.LegEvent) {
	if c.state.Phase == turn.Bridged {
		c.bridge.FromCaller(e)
		return
	}
	in := journal.Input{Kind: journal.Keyed, Digit: e.Digit}
	if e.Kind != media.LegDigit {
		in.Hold = e.Kind
	}
	c.observer.Next(in)
	switch e.Kind {
	case media.LegDigit:
		c.times.active = c.now()
		c.step(turn.Event{Kind: turn.Digit, Key: e.Digit})
	case media.LegHold:
		c.step(turn.Event{Kind: turn.Held}) // the leg takes no audio meanwhile
		c.recall()
	case media.LegResume:
		c.resumed()
	}
}

// recall takes back what a leg was written ahead of real time, which a far end that is away does not play.
func (c *Call) recall() {
	if c.leg.Format().Continuous {
		return
	}
	now := c.now()
	c.flush(now)
	c.heardBy(now)
	c.playout.Recall()
}

// resumed goes on after a hold. A sentence that it interrupted is said again.
func (c *Call) resumed() {
	if !c.state.Held() {
		return
	}
	now := c.now()
	c.times.active = now
	if r := c.replies.Latest; r != nil {
		r.Resume(now)
	}
	c.playout.Rewind()
	c.step(turn.Event{Kind: turn.Resumed})
}

// noteKeys has the model and the observer learn of keys that the caller pressed; an empty
// text is none.
func (c *Call) noteKeys(text string) {
	if text != "" {
		c.replies.History.Add(inference.Message{Role: inference.RoleUser, Text: text})
		c.emit(event.Event{Kind: event.UserLine, Turn: c.state.Turn(), Text: text})
	}
}
