package inktest

import (
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// turns is the protocol that finds turns.
type turns struct {
	*session
	state state
}

// state is how far a turn is.
type state uint8

const (
	idle state = iota // between turns
	speaking
	eager // probably over
)

// The likelihood that the caller goes on falls by 1 a second of quiet, in a pause not below inPause.
const (
	whileSpeaking = .8
	inPause       = .3
)

func newTurns(c *session) protocol {
	c.send(loopbacktest.Outgoing{}, "connected", nil)
	return &turns{session: c}
}

// control implements protocol.
func (t *turns) control(message string) bool {
	var m struct{ Type string }
	if loopbacktest.Strict([]byte(message), &m) != nil || m.Type != "close" {
		return false
	}
	words := t.Cut()
	if t.state == idle && len(words) > 0 {
		t.tell("turn.start", "", time.Time{})
		t.state = speaking
	}
	if t.state == eager && len(words) > 0 {
		t.tell("turn.resume", "", time.Time{}) // the text of an eager end does not change without it
	}
	if t.words = append(t.words, words...); t.state != idle {
		t.end()
	}
	t.finish()
	return true
}

// step implements protocol.
func (t *turns) step(got hearingtest.Heard) {
	if t.state == eager && got.Loud {
		t.state = speaking
		t.tell("turn.resume", "", t.AfterWord(t.server.script.Delays.Word))
	}
	if t.words = append(t.words, got.Words...); len(got.Words) > 0 {
		due := t.AfterWord(t.server.script.Delays.Word)
		if t.state == idle {
			t.state = speaking
			t.tell("turn.start", "", due)
		}
		t.tell("turn.update", hearingtest.Text(t.words, false), due)
	}
	if t.state == speaking && t.likelihood() < t.turns.eager {
		t.state = eager
		t.tell("turn.eager_end", hearingtest.Text(t.words, false), t.AfterSound(t.server.script.Delays.Eager))
	}
	if t.state != idle && (t.likelihood() < t.turns.end || t.Now-t.LastLoud >= t.turns.timeout) {
		t.end()
	}
}

// likelihood is that the caller goes on.
func (t *turns) likelihood() float64 {
	lowest := 0.0
	if !t.Over() {
		lowest = inPause
	}
	return max(lowest, whileSpeaking-t.Quiet.Seconds())
}

// end ends the turn.
func (t *turns) end() {
	words := t.words
	t.send(loopbacktest.Outgoing{Due: t.AfterSound(t.server.script.Delays.Final), Sent: func() { t.server.dialogue.Final(words) }},
		"turn.end", map[string]any{"transcript": hearingtest.Text(hearingtest.Shown(words), false)})
	t.words, t.state = nil, idle
}

// tell sends an event of the turn, with its text unless that is empty.
func (t *turns) tell(event, transcript string, due time.Time) {
	var fields map[string]any
	if transcript != "" {
		fields = map[string]any{"transcript": transcript}
	}
	t.send(loopbacktest.Outgoing{Due: due}, event, fields)
}
