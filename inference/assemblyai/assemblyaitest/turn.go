package assemblyaitest

import (
	"strings"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

const (
	earlyAfter     = 750 * time.Millisecond // of speech until the first partial of Pro
	continuousEach = time.Second            // of speech between those that follow in long speech

	sure   = .85 // that a turn is over
	unsure = .25 // likewise, in a pause

	confidence = .97 // of a word
)

// step says what follows from one frame.
func (c *session) step(got hearingtest.Heard) {
	if c.state == between && got.Loud {
		c.state, c.started, c.told = speech, c.Now-hearingtest.Frame, 0
		if c.pro != nil && !c.server.script.Traps.SpeechStartedMissing {
			c.send(map[string]any{"type": "SpeechStarted", "timestamp": c.started.Milliseconds(), "confidence": .9})
		}
	}
	if len(got.Words) > 0 {
		c.words = append(c.words, got.Words...)
		c.state = turn
	}
	switch {
	case c.state == speech && !got.Loud && c.Quiet >= hearingtest.OverAfter:
		c.state = between // it was a noise
	case c.state != turn:
	case c.pro != nil:
		c.proStep(got)
	default:
		c.universalStep(got)
	}
}

// universalStep sends each word, the ends of utterances, and those of turns.
func (c *session) universalStep(got hearingtest.Heard) {
	if len(got.Words) > 0 {
		c.partial(unsure/100, "")
	}
	if got.Loud || c.Quiet == 0 {
		return
	}
	likely := unsure
	if c.Over() {
		likely = sure
	}
	switch {
	case c.Quiet >= c.turns.most, c.Quiet >= c.turns.least && likely >= c.turns.threshold:
		c.endTurn(likely)
	case c.Quiet >= c.turns.least && c.uttered < len(c.words):
		utterance := hearingtest.Text(c.words[c.uttered:], true)
		c.uttered = len(c.words)
		c.partial(likely, utterance)
	}
}

// proStep sends an early partial, one in each pause, and the ends of turns, which are where the
// text has an end or the pause is long.
func (c *session) proStep(got hearingtest.Heard) {
	quiet := time.Duration(0)
	if !got.Loud {
		quiet = c.Quiet
	}
	last := c.words[len(c.words)-1].Text
	switch {
	case quiet > 0 && (quiet >= c.turns.most || quiet >= c.turns.least && strings.ContainsAny(last[len(last)-1:], ".?!")):
		c.endTurn(1)
	case quiet > 0 && quiet >= c.turns.least && c.uttered < len(c.words):
		c.uttered = len(c.words)
		c.partial(unsure, "")
	case len(got.Words) == 0:
	case c.told == 0 && c.Now-c.started >= earlyAfter, c.told > 0 && c.pro.continuous && c.Now-c.told >= continuousEach:
		c.partial(unsure, "")
	}
}

// partial tells about the open turn. On Universal the newest word is not final before another one
// or the end of its utterance comes, and the transcript has the final ones.
func (c *session) partial(likely float64, utterance string) {
	c.told = c.Now
	final, plain := max(c.uttered, len(c.words)-1), true
	shown := c.words[:final]
	if c.pro != nil {
		shown, final, plain = c.words, 0, false
	}
	m := c.message(shown, c.words, final, plain)
	m["utterance"], m["end_of_turn_confidence"] = utterance, likely
	c.out.Add(loopbacktest.Outgoing{Due: c.AfterWord(c.server.script.Delays.Word), Message: m})
}

// force ends the turn that is open; without one it is not answered.
func (c *session) force() {
	c.words = append(c.words, c.Cut()...)
	if len(c.words) > 0 {
		c.endTurn(1)
	}
}

// endTurn ends the turn, on Universal twice if turns are formatted.
func (c *session) endTurn(likely float64) {
	words := c.words
	all, utterance := hearingtest.Shown(words), hearingtest.Shown(words[c.uttered:])
	if c.pro != nil {
		utterance = all
	}
	end := func(formatted bool) map[string]any {
		m := c.message(all, all, len(all), !formatted)
		m["end_of_turn"], m["turn_is_formatted"], m["end_of_turn_confidence"] = true, formatted, likely
		m["utterance"] = hearingtest.Text(utterance, !formatted)
		if c.labels.language {
			m["language_code"], m["language_confidence"] = words[0].Language(), .99
		}
		return m
	}
	due := c.AfterSound(c.server.script.Delays.Final)
	sent := func() { c.server.dialogue.Final(words) }
	c.out.Add(loopbacktest.Outgoing{Due: due, Message: end(c.pro != nil), Sent: sent})
	if c.pro == nil && c.formats && !c.server.script.Traps.FormattedMissing {
		c.out.Add(loopbacktest.Outgoing{Due: due.Add(loopbacktest.Draw(c.server.script.Delays.Formatted)), Message: end(true)})
	}
	c.words, c.uttered, c.state = nil, 0, between
	c.order++
}

// message is a Turn that has not ended, with a transcript of some words and the list of all, of
// which so many are final.
func (c *session) message(transcript, words []hearingtest.Word, final int, plain bool) map[string]any {
	list := []map[string]any{}
	for i, w := range words {
		list = append(list, map[string]any{"text": hearingtest.Text(words[i:i+1], plain), "start": w.Start.Milliseconds(), "end": w.End.Milliseconds(),
			"confidence": confidence, "word_is_final": i < final})
	}
	m := map[string]any{
		"type": "Turn", "turn_order": c.order, "turn_is_formatted": false, "end_of_turn": false,
		"transcript": hearingtest.Text(transcript, plain), "words": list,
	}
	if c.labels.speaker {
		m["speaker_label"] = "A"
	}
	return m
}
