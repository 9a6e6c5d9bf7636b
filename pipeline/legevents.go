package pipeline

import (
	"time"

	"parley/inference"
	"parley/media"
	"parley/pipeline/journal"
	"parley/pipeline/turn"
)

// legEvent takes what the leg reports beside audio: keys, which go to whom the caller was connected to, and that the caller holds the call.
func (c *Call) legEvent(e media.LegEvent) {
	if c.state.Phase == turn.Bridged {
		passKey(e, c.bridge.leg)
		return
	}
	in := journal.Input{Kind: journal.Keyed, Digit: e.Digit}
	if e.Kind != media.LegDigit {
		in.Hold = e.Kind
	}
	c.observer.Next(in)
	switch e.Kind {
	case media.LegDigit:
		c.active = c.now()
		if c.key(e.Digit, c.active) {
			return
		}
		c.stray(e.Digit, c.active)
		c.step(turn.Event{Kind: turn.Digit})
	case media.LegHold:
		c.putOnHold()
	case media.LegResume:
		c.resumed()
	}
}

// putOnHold stops everything that waits for the caller. The leg takes no audio meanwhile.
func (c *Call) putOnHold() {
	if c.heldAt.IsZero() {
		c.heldAt = c.now()
		c.step(turn.Event{Kind: turn.Held})
	}
}

// resumed goes on after a hold. A sentence that it interrupted is said again.
func (c *Call) resumed() {
	if c.heldAt.IsZero() {
		return
	}
	now := c.now()
	if k := &c.tools.keys; !k.by.IsZero() {
		k.by = k.by.Add(now.Sub(c.heldAt))
	}
	c.heldAt, c.active = time.Time{}, now
	if r := c.reply; r != nil {
		r.movedAt, r.voice.quietAt = now, now
	}
	c.playout.Rewind()
	c.step(turn.Event{Kind: turn.Resumed})
}

// Keys that no function waits for. The model learns of them like of words, with the
// caller's next turn or, when nothing follows, after keysAfter as a turn of their own.
const (
	keysAfter = 1500 * time.Millisecond
	maxStray  = 32 // keys of one turn; what is more is dropped
)

// pressed are the keys that the model has not learnt of.
type pressed struct {
	keys []byte
	at   time.Time // of the last one
}

// stray takes a key that no function waits for.
func (c *Call) stray(digit byte, now time.Time) {
	p := &c.pressed
	if p.at = now; len(p.keys) < maxStray {
		p.keys = append(p.keys, digit)
	}
}

// takeKeys is the text that stands for the keys, which count as told; empty: there are
// none.
func (c *Call) takeKeys() string {
	if len(c.pressed.keys) == 0 {
		return ""
	}
	text := "[pressed " + string(c.pressed.keys) + "]"
	c.pressed = pressed{}
	return text
}

// tellKeys puts the keys before what the caller says next.
func (c *Call) tellKeys() {
	if text := c.takeKeys(); text != "" {
		c.history.add(inference.Message{Role: inference.RoleUser, Text: text})
		c.emit(Event{Kind: UserLine, Turn: c.state.Turn(), Text: text})
	}
}

// answerKeys makes the keys a turn when nothing has followed them.
func (c *Call) answerKeys(now time.Time) {
	if len(c.pressed.keys) > 0 && now.Sub(c.pressed.at) >= keysAfter && c.heldAt.IsZero() &&
		c.state.Phase == turn.Listening && !c.state.WithMachine() {
		c.step(turn.Event{Kind: turn.Typed, Text: c.takeKeys()})
	}
}
