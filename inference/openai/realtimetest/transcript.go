package realtimetest

import (
	"slices"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/replytest"
)

// Types of events about a transcript.
const (
	delta     = "conversation.item.input_audio_transcription.delta"
	completed = "conversation.item.input_audio_transcription.completed"
	failed    = "conversation.item.input_audio_transcription.failed"
)

// heardEach is the audio of the caller that is one token.
const heardEach = 100 * time.Millisecond

// logprob is that of every token.
const logprob = -.03

// stream sends the words that were not sent.
func (c *input) stream() {
	for ; c.deltas < len(c.words); c.deltas++ {
		due := c.hear.AfterWord(c.server.script.Delays.Word)
		c.events.Add(loopbacktest.Outgoing{Due: due, Message: c.delta(c.next(), c.deltas)})
	}
}

// delta is a word of what is committed next.
func (c *input) delta(item string, i int) map[string]any {
	text := c.words[i].Text
	if i > 0 {
		text = " " + text
	}
	m := map[string]any{"type": delta, "event_id": c.server.id("event_"), "item_id": item, "content_index": 0, "delta": text}
	if len(c.settings.include) > 0 {
		m["logprobs"] = probabilities(c.words[i : i+1])
	}
	return m
}

// transcript is what more is sent about what is committed. Its due is that of now: what comes later does not change it.
func (c *input) transcript() (list []loopbacktest.Outgoing) {
	number := c.server.item()
	if c.settings.transcription == nil {
		c.server.dialogue.Final(c.words)
		return nil
	}
	for i := c.deltas; i < len(c.words); i++ {
		list = append(list, loopbacktest.Outgoing{Due: c.hear.AfterSound(c.server.script.Delays.Final), Message: c.delta(c.item, i)})
	}
	last := c.last(number)
	if slices.Contains(c.server.script.Traps.Late, number) {
		c.held = append(c.held, last...)
		return list
	}
	list = append(append(list, last...), c.held...)
	c.held = nil
	return list
}

// last is how a transcript ends.
func (c *input) last(number int) []loopbacktest.Outgoing {
	traps, model := c.server.script.Traps, c.settings.transcription
	if slices.Contains(traps.Unanswered, number) {
		return nil
	}
	o := loopbacktest.Outgoing{Due: c.hear.AfterSound(c.server.script.Delays.Final)}
	m := map[string]any{"type": completed, "event_id": c.server.id("event_"), "item_id": c.item, "content_index": 0}
	o.Message = m
	if slices.Contains(traps.Failed, number) {
		m["type"] = failed
		m["error"] = map[string]any{"type": "transcription_error", "code": "audio_unintelligible", "message": "The audio could not be transcribed.", "param": nil}
		return []loopbacktest.Outgoing{o}
	}
	words := c.words
	shown := hearingtest.Shown(words)
	text := hearingtest.Text(shown, false)
	m["transcript"] = text
	if len(c.settings.include) > 0 {
		m["logprobs"] = probabilities(shown)
	}
	if model.Model == live {
		m["languages"] = hearingtest.Languages(shown)
	}
	in, out := 0, 0
	if model.timed() {
		m["usage"] = map[string]any{"type": "duration", "seconds": float64(c.buffered.Milliseconds()) / 1000}
	} else {
		audio, prompt := heard(c.buffered), replytest.Tokens(model.Prompt)
		in, out = audio+prompt, replytest.Tokens(text)
		m["usage"] = map[string]any{"type": "tokens", "input_tokens": in, "output_tokens": out, "total_tokens": in + out,
			"input_token_details": map[string]any{"audio_tokens": audio, "text_tokens": prompt}}
	}
	o.Sent = func() {
		c.server.dialogue.Final(words)
		c.tells.transcribed(in, out)
	}
	return []loopbacktest.Outgoing{o}
}

// heard is how many tokens the caller's audio is.
func heard(d time.Duration) int { return int((d + heardEach - 1) / heardEach) }

// probabilities are those of words.
func probabilities(words []hearingtest.Word) []map[string]any {
	list := []map[string]any{}
	for _, w := range words {
		values := []int{}
		for _, b := range []byte(w.Text) {
			values = append(values, int(b))
		}
		list = append(list, map[string]any{"token": w.Text, "bytes": values, "logprob": logprob})
	}
	return list
}
