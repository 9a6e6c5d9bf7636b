package realtimetest

import (
	"encoding/base64"
	"fmt"
	"time"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

const (
	leastCommit = 100 * time.Millisecond
	maxAppend   = 15 << 20 // bytes of base64
)

// Types of events about the buffer.
const (
	bufferAppend = "input_audio_buffer.append"
	bufferCommit = "input_audio_buffer.commit"
	bufferClear  = "input_audio_buffer.clear"
)

// input is the input audio buffer of a session, and the transcripts of what is committed.
type input struct {
	server   *server
	settings settings
	events   *loopbacktest.Queue // at once
	results  *loopbacktest.Queue // of transcription, which do not hold events up
	tells    owner
	hear     *hearingtest.Hearer // nil: no audio has come

	item     string             // the id of what will be committed next; "": not chosen
	previous string             // the item before it; "": none
	words    []hearingtest.Word // of what will be committed next
	deltas   int                // how many of them were sent
	buffered time.Duration      // audio that will be committed next
	speaking bool               // the server's detection
	held     []loopbacktest.Outgoing
}

// owner is what hears of the input.
type owner interface {
	began()                                     // the caller speaks, says the detection
	committed(item string, audio time.Duration) // after its event, before its transcript
	ended()                                     // the detection has committed
	transcribed(in, out int)                    // a transcript of so many tokens was sent; in any goroutine
}

func newInput(s *server, k *loopbacktest.Socket, set settings, o owner) *input {
	return &input{server: s, settings: set, events: s.Queue(k), results: s.Queue(k), tells: o}
}

// send queues an event.
func (c *input) send(event map[string]any) {
	event["event_id"] = c.server.id("event_")
	c.events.Add(loopbacktest.Outgoing{Message: event})
}

// next is the id of what will be committed next.
func (c *input) next() string {
	if c.item == "" {
		c.item = c.server.id("item_")
	}
	return c.item
}

// change takes new settings.
func (c *input) change(set settings) error {
	if c.hear != nil && set.format != c.settings.format {
		return invalid("audio.input.format", "The format of the audio cannot change.")
	}
	c.settings = set
	return nil
}

// buffer does what an event about the buffer asks for.
func (c *input) buffer(kind string, data []byte) error {
	var m struct {
		Type  string `json:"type"`
		Event string `json:"event_id"`
		Audio string `json:"audio"`
	}
	if err := strict(data, &m); err != nil {
		return err
	}
	if m.Audio != "" && kind != bufferAppend {
		return trouble{Code: "unknown_parameter", Message: "Unknown parameter: 'audio'.", Param: "audio"}
	}
	switch kind {
	case bufferAppend:
		return c.append(m.Audio)
	case bufferCommit:
		return c.commit()
	}
	c.reset()
	c.send(map[string]any{"type": "input_audio_buffer.cleared"})
	return nil
}

// append hears audio.
func (c *input) append(text string) error {
	coding, rate := codings[c.settings.format.Type], rates[c.settings.format.Type]
	if c.hear == nil {
		c.hear = c.server.dialogue.Listen(c.server, coding, rate)
	}
	audio, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return trouble{Code: "invalid_value", Message: "Invalid 'audio'. Expected base64-encoded audio bytes.", Param: "audio"}
	case len(audio) == 0:
		return trouble{Code: "invalid_value", Message: "Invalid 'audio'. Expected a non-empty value.", Param: "audio"}
	case len(text) > maxAppend:
		return trouble{Code: "string_above_max_length", Message: "Invalid 'audio': string too long.", Param: "audio"}
	case len(audio)%coding.Width() != 0:
		return trouble{Code: "invalid_value", Message: fmt.Sprintf("Invalid 'audio'. %d bytes are no whole samples.", len(audio)), Param: "audio"}
	}
	if c.settings.detection == nil {
		c.buffered += time.Duration(len(audio)/coding.Width()) * time.Second / time.Duration(rate)
	}
	c.hear.Hear(audio, c.step)
	return nil
}

// reset forgets what would be committed next.
func (c *input) reset() {
	c.item, c.words, c.deltas, c.buffered, c.speaking = "", nil, 0, 0, false
}

// step says what follows from one frame.
func (c *input) step(got hearingtest.Heard) {
	d := c.settings.detection
	if d != nil && !c.speaking && got.Loud {
		c.speaking, c.buffered = true, 0
		start := max(0, c.hear.Now-hearingtest.Frame-d.padding())
		c.send(map[string]any{"type": "input_audio_buffer.speech_started", "audio_start_ms": start.Milliseconds(), "item_id": c.next()})
		c.tells.began()
	}
	if d != nil && c.speaking {
		c.buffered += hearingtest.Frame
	}
	c.words = append(c.words, got.Words...)
	if c.settings.transcription.streams() {
		c.stream()
	}
	if d != nil && c.speaking && !got.Loud && d.over(c.hear) {
		c.send(map[string]any{"type": "input_audio_buffer.speech_stopped", "audio_end_ms": c.hear.Now.Milliseconds(), "item_id": c.next()})
		c.take()
		c.tells.ended()
	}
}

// commit does what the client asks for.
func (c *input) commit() error {
	c.server.Note(func(b *Books) { b.Finishes++ })
	if c.buffered >= leastCommit {
		c.take()
		return nil
	}
	return trouble{Code: "input_audio_buffer_commit_empty", Message: fmt.Sprintf("Error committing input audio buffer: buffer too small. "+
		"Expected at least 100ms of audio, but buffer only has %.2fms of audio.", c.buffered.Seconds()*1000),
		Harmless: c.settings.detection != nil} // the server has committed
}

// take commits what is buffered, and has it transcribed.
func (c *input) take() {
	c.words = append(c.words, c.hear.Cut()...)
	if c.settings.transcription.streams() {
		c.stream()
	}
	item := c.next()
	event := map[string]any{"type": "input_audio_buffer.committed", "event_id": c.server.id("event_"), "item_id": item, "previous_item_id": optional(c.previous)}
	transcript := c.transcript()
	committed := loopbacktest.Outgoing{Message: event}
	if c.server.script.Delays.Final != nil {
		late := transcript
		transcript, committed.Sent = nil, func() {
			for _, o := range late {
				c.results.Add(o)
			}
		}
	}
	c.events.Add(committed)
	c.previous = item
	c.tells.committed(item, c.buffered)
	for _, o := range transcript {
		c.events.Add(o)
	}
	c.reset()
}
