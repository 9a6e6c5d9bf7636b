package pipeline

import (
	"time"

	"parley/inference"
	"parley/pipeline/turn"
)

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
