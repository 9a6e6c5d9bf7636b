package realtimetest

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// Types of events about a transcript.
const (
	delta     = "conversation.item.input_audio_transcription.delta"
	completed = "conversation.item.input_audio_transcription.completed"
	failed    = "conversation.item.input_audio_transcription.failed"
)

// tokensEach is the audio that is one token.
const tokensEach = 100 * time.Millisecond

// logprob is that of every token.
const logprob = -.03

// errEmptyDetected goes with the trouble of a commit that comes when the server has committed already:
// that can happen to any client.
var errEmptyDetected = errors.New("the server commits")

// next is the id of what will be committed next.
func (c *session) next() string {
	if c.item == "" {
		c.item = c.server.id("item_")
	}
	return c.item
}

// step says what follows from one frame.
func (c *session) step(got hearingtest.Heard) {
	d := c.settings.detection
	if d != nil && !c.speaking && got.Loud {
		c.speaking, c.buffered = true, 0
		start := max(0, c.hear.Now-hearingtest.Frame-time.Duration(*d.Padding)*time.Millisecond)
		c.send(map[string]any{"type": "input_audio_buffer.speech_started", "audio_start_ms": start.Milliseconds(), "item_id": c.next()})
	}
	if d != nil && c.speaking {
		c.buffered += hearingtest.Frame
	}
	c.words = append(c.words, got.Words...)
	if c.settings.transcription.streams() {
		c.stream()
	}
	if d != nil && c.speaking && !got.Loud && c.hear.Now-c.hear.LastLoud >= time.Duration(*d.Silence)*time.Millisecond {
		c.send(map[string]any{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": c.hear.Now.Milliseconds(), "item_id": c.next()})
		c.take()
	}
}

// stream sends the words that were not sent.
func (c *session) stream() {
	for ; c.deltas < len(c.words); c.deltas++ {
		due := c.hear.AfterWord(c.server.script.Delays.Word)
		c.events.Add(loopbacktest.Outgoing{Due: due, Message: c.delta(c.next(), c.words, c.deltas)})
	}
}

// delta is a word of an item.
func (c *session) delta(item string, words []hearingtest.Word, i int) map[string]any {
	text := words[i].Text
	if i > 0 {
		text = " " + text
	}
	m := map[string]any{"type": delta, "event_id": c.server.id("event_"), "item_id": item, "content_index": 0, "delta": text}
	if len(c.settings.include) > 0 {
		m["logprobs"] = probabilities(words[i : i+1])
	}
	return m
}

// commit does what the client asks for.
func (c *session) commit() error {
	c.server.Note(func(b *Books) { b.Finishes++ })
	if c.buffered >= leastCommit {
		c.take()
		return nil
	}
	t := trouble{Code: "input_audio_buffer_commit_empty", Message: fmt.Sprintf("Error committing input audio buffer: buffer too small. "+
		"Expected at least 100ms of audio, but buffer only has %.2fms of audio.", c.buffered.Seconds()*1000)}
	if c.settings.detection != nil {
		return errors.Join(errEmptyDetected, t)
	}
	return t
}

// take commits what is buffered, and has it transcribed.
func (c *session) take() {
	c.words = append(c.words, c.hear.Cut()...)
	if c.settings.transcription.streams() {
		c.stream()
	}
	item, words, sent, length, number := c.next(), c.words, c.deltas, c.buffered, c.server.item()
	committed := map[string]any{"type": "input_audio_buffer.committed", "event_id": c.server.id("event_"), "item_id": item, "previous_item_id": nil}
	if c.previous != "" {
		committed["previous_item_id"] = c.previous
	}
	c.previous = item
	var transcript []loopbacktest.Outgoing // its due is that of now: what comes later does not change it
	for i := sent; i < len(words); i++ {
		transcript = append(transcript, loopbacktest.Outgoing{Due: c.hear.AfterSound(c.server.script.Delays.Final), Message: c.delta(item, words, i)})
	}
	last := c.last(number, item, words, length)
	late := slices.Contains(c.server.script.Traps.Late, number)
	if late {
		c.held = append(c.held, last...)
	} else {
		transcript = append(append(transcript, last...), c.held...)
		c.held = nil
	}
	c.events.Add(loopbacktest.Outgoing{Message: committed, Sent: func() {
		for _, o := range transcript {
			c.results.Add(o)
		}
	}})
	c.reset()
}

// last is how a transcript ends.
func (c *session) last(number int, item string, words []hearingtest.Word, length time.Duration) []loopbacktest.Outgoing {
	traps := c.server.script.Traps
	if slices.Contains(traps.Unanswered, number) {
		return nil
	}
	o := loopbacktest.Outgoing{Due: c.hear.AfterSound(c.server.script.Delays.Final)}
	m := map[string]any{"type": completed, "event_id": c.server.id("event_"), "item_id": item, "content_index": 0}
	o.Message = m
	if slices.Contains(traps.Failed, number) {
		m["type"] = failed
		m["error"] = map[string]any{"type": "transcription_error", "code": "audio_unintelligible", "message": "The audio could not be transcribed.", "param": nil}
		return []loopbacktest.Outgoing{o}
	}
	shown := hearingtest.Shown(words)
	text := hearingtest.Text(shown, false)
	m["transcript"] = text
	if len(c.settings.include) > 0 {
		m["logprobs"] = probabilities(shown)
	}
	if c.settings.transcription.Model == live {
		m["languages"] = hearingtest.Languages(shown)
	}
	in, out := 0, 0
	if c.settings.transcription.timed() {
		m["usage"] = map[string]any{"type": "duration", "seconds": float64(length.Milliseconds()) / 1000}
	} else {
		prompt := tokens(c.settings.transcription.Prompt)
		in, out = int((length+tokensEach-1)/tokensEach)+prompt, tokens(text)
		m["usage"] = map[string]any{"type": "tokens", "input_tokens": in, "output_tokens": out, "total_tokens": in + out,
			"input_token_details": map[string]any{"audio_tokens": in - prompt, "text_tokens": prompt}}
	}
	o.Sent = func() {
		c.server.dialogue.Final(words)
		c.server.Note(func(b *Books) { b.Requests, b.TokensIn, b.TokensOut = b.Requests+1, b.TokensIn+in, b.TokensOut+out })
	}
	return []loopbacktest.Outgoing{o}
}

// tokens is how many tokens a text is.
func tokens(text string) int { return (len([]rune(text)) + 3) / 4 }

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
