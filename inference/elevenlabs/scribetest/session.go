package scribetest

import (
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// leastCommit is how much audio a commit needs.
const leastCommit = 300 * time.Millisecond

// silent is why a session ends whose client sends no chunks.
const silent = "there was no audio for too long"

// session is one connection.
type session struct {
	*hearingtest.Hearer
	query
	server *Server
	out    *loopbacktest.Queue

	words []hearingtest.Word // since the last commit
	from  time.Duration      // the last commit, in audio
	state state
}

// state is what may come.
type state uint8

const (
	first   state = iota // the first chunk, which alone may have previous_text
	running              // chunks
	ended                // what the client had sent before it heard of an error
)

func newSession(s *Server, k *loopbacktest.Socket) *session {
	return &session{server: s, out: s.Queue(k)}
}

// begin tells the client what it has asked for.
func (c *session) begin(q query) {
	c.query = q
	c.Hearer = c.server.dialogue.Listen(c.server, q.format.coding, q.format.rate)
	c.out.Add(loopbacktest.Outgoing{Message: map[string]any{"message_type": "session_started", "session_id": loopbacktest.ID(),
		"config": map[string]any{"model_id": "scribe_v2_realtime", "audio_format": q.name, "sample_rate": q.format.rate, "vad_commit_strategy": q.vad}}})
}

// serve reads until the connection ends.
func (c *session) serve(k *loopbacktest.Socket) {
	k.IdleAfter(c.server.script.Idle)
	for {
		kind, data, err := k.Read()
		switch {
		case errors.Is(err, loopbacktest.ErrIdle):
			c.server.Violate("there was no chunk for %v", c.server.script.Idle)
			_ = k.Write(failure("insufficient_audio_activity", silent))
			k.Close(websocket.ClosePolicyViolation, silent)
			return
		case err != nil:
			return
		case c.state == ended:
		case kind != websocket.TextMessage:
			c.fail("a binary message")
		default:
			c.chunk(data)
		}
	}
}

// end reports an error and ends the connection.
func (c *session) end(name, text string) {
	c.state = ended
	c.out.Add(loopbacktest.Outgoing{Message: failure(name, text)})
	c.out.Add(loopbacktest.Outgoing{Code: websocket.ClosePolicyViolation, Reason: text})
}

// fail is end for a mistake of the client.
func (c *session) fail(mistake string) {
	c.server.Violate("%s", mistake)
	c.end("input_error", mistake)
}

// chunk hears a message, and commits if it says so.
func (c *session) chunk(data []byte) {
	var m struct {
		Type     string  `json:"message_type"`
		Audio    *string `json:"audio_base_64"`
		Rate     int     `json:"sample_rate"`
		Previous *string `json:"previous_text"`
		Commit   bool
	}
	if err := loopbacktest.Strict(data, &m); err != nil {
		c.fail(err.Error())
		return
	}
	switch {
	case m.Type != "input_audio_chunk":
		c.fail(fmt.Sprintf("message_type %.40q is not known", m.Type))
		return
	case m.Audio == nil:
		c.fail("audio_base_64 is missing")
		return
	case m.Rate != c.format.rate:
		c.fail(fmt.Sprintf("sample_rate %d is not that of %s", m.Rate, c.name))
		return
	case m.Previous != nil && c.state != first:
		c.fail("previous_text is not in the first chunk")
		return
	}
	c.state = running
	audio, err := base64.StdEncoding.DecodeString(*m.Audio)
	if err != nil || len(audio)%c.format.coding.Width() != 0 {
		c.fail(fmt.Sprintf("audio_base_64 is no base64 of whole samples: %d bytes", len(audio)))
		return
	}
	c.Hear(audio, c.step)
	switch {
	case m.Commit:
		c.server.Note(func(b *Books) { b.Finishes++ })
		c.commitNow()
	case len(audio) == 0:
		c.server.Note(func(b *Books) { b.KeepAlives++ })
	}
}

// step says what follows from one frame.
func (c *session) step(got hearingtest.Heard) {
	if len(got.Words) > 0 {
		c.words = append(c.words, got.Words...)
		c.out.Add(loopbacktest.Outgoing{Due: c.AfterWord(c.server.script.Delays.Word),
			Message: map[string]any{"message_type": "partial_transcript", "text": c.partial()}})
	}
	if c.vad && len(c.words) > 0 && !got.Loud && c.Now-c.LastLoud >= c.silence {
		c.commit()
	}
}

// partial is the text of the segment so far. The punctuation of the last word depends on what follows.
func (c *session) partial() string {
	last := len(c.words) - 1
	text := hearingtest.Text(c.words[:last], false)
	if last > 0 {
		text += " "
	}
	return text + hearingtest.Plain(c.words[last].Text)
}

// commitNow commits because the client wants it, if there is enough to commit.
func (c *session) commitNow() {
	if fresh := c.Now - c.from; fresh < leastCommit {
		if !c.vad { // otherwise the vendor's commit may have crossed the client's
			c.server.Violate("a commit of %v of audio, it needs %v", fresh, leastCommit)
		}
		c.out.Add(loopbacktest.Outgoing{Message: failure("commit_throttled",
			fmt.Sprintf("Commit request ignored: %.2fs of audio, at least %.1fs is needed", fresh.Seconds(), leastCommit.Seconds()))})
		return
	}
	c.words = append(c.words, c.Cut()...)
	if len(c.words) == 0 && c.server.script.Traps.CommitUnanswered {
		c.from = c.Now
		return
	}
	c.commit()
}

// commit ends the segment, in two messages where the second has more to say.
func (c *session) commit() {
	words := c.words
	c.words, c.from = nil, c.Now
	shown := hearingtest.Shown(words)
	last := loopbacktest.Outgoing{Due: c.AfterSound(c.server.script.Delays.Final),
		Message: map[string]any{"message_type": "committed_transcript", "text": hearingtest.Text(shown, false)}}
	if c.times || c.detects {
		c.out.Add(last)
		m := map[string]any{"message_type": "committed_transcript_with_timestamps", "text": hearingtest.Text(shown, false), "language_code": nil, "words": nil}
		if len(words) > 0 {
			m["language_code"] = words[0].Language()
		}
		if c.times {
			m["words"] = items(shown)
		}
		last.Message = m
	}
	last.Sent = func() { c.server.dialogue.Final(words) }
	c.out.Add(last)
}

// items are words with their times and, between them, spaces.
func items(words []hearingtest.Word) []map[string]any {
	list := []map[string]any{}
	add := func(text, kind string, start, end time.Duration) {
		list = append(list, map[string]any{"text": text, "type": kind, "start": start.Seconds(), "end": end.Seconds(), "logprob": -.03})
	}
	for i, w := range words {
		if i > 0 {
			add(" ", "spacing", words[i-1].End, w.Start)
		}
		add(w.Text, "word", w.Start, w.End)
	}
	return list
}
