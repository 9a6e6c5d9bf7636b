package livetest

import (
	"encoding/json"
	"slices"
	"time"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/replytest"
)

// tokenEach is the audio that is one token.
const tokenEach = 40 * time.Millisecond

// Content is one entry of a session's history. Audio, where there is any, is what the model reads of it.
type Content struct {
	Role  string // user, model, or function for a result
	Text  string // of a result, JSON
	Audio time.Duration
}

// memory is what a session goes on with when it is resumed.
type memory struct {
	contents []Content
	spoke    bool                 // the model has answered
	replies  int                  // that were given
	socket   *loopbacktest.Socket // of the connection that the session is on
}

// copy is the memory as it is now, on a connection.
func (m *memory) copy(k *loopbacktest.Socket) *memory {
	c := *m
	c.contents, c.socket = slices.Clone(m.contents), k
	return &c
}

// Usage is what a turn was paid for, in tokens.
type Usage struct{ TextIn, AudioIn, TextOut, AudioOut int }

// audioTokens is how many tokens audio is.
func audioTokens(d time.Duration) int { return int((d + tokenEach - 1) / tokenEach) }

// tokens is how many tokens a content is.
func (c Content) tokens() (text, audio int) {
	if c.Audio > 0 {
		return 0, audioTokens(c.Audio)
	}
	return replytest.Tokens(c.Text), 0
}

// reads is what the model reads before it answers.
func (s *session) reads() (u Usage) {
	if s.setup.System != nil {
		u.TextIn = replytest.Tokens(s.setup.System.text())
	}
	if len(s.setup.Tools) > 0 {
		tools, _ := json.Marshal(s.setup.Tools)
		u.TextIn += replytest.Tokens(string(tools))
	}
	for _, c := range s.memory.contents {
		text, audio := c.tokens()
		u.TextIn, u.AudioIn = u.TextIn+text, u.AudioIn+audio
	}
	return u
}

// object is a usage as the server describes it.
func (u Usage) object() map[string]any {
	details := func(text, audio int) (list []map[string]any) {
		for _, d := range []struct {
			modality string
			tokens   int
		}{{"TEXT", text}, {"AUDIO", audio}} {
			if d.tokens > 0 {
				list = append(list, map[string]any{"modality": d.modality, "tokenCount": d.tokens})
			}
		}
		return list
	}
	in, out := u.TextIn+u.AudioIn, u.TextOut+u.AudioOut
	return map[string]any{"promptTokenCount": in, "responseTokenCount": out, "totalTokenCount": in + out,
		"promptTokensDetails": details(u.TextIn, u.AudioIn), "responseTokensDetails": details(u.TextOut, u.AudioOut)}
}

// note adds what was paid for to the books.
func (u Usage) note(b *Books) {
	b.Requests++
	b.TokensIn += u.TextIn + u.AudioIn
	b.TokensOut += u.TextOut + u.AudioOut
	b.AudioTokensIn += u.AudioIn
	b.AudioTokensOut += u.AudioOut
}

// remember adds to the history.
func (s *session) remember(c Content) {
	s.server.note(func() { s.memory.contents = append(s.memory.contents, c) })
}

// offer gives the client a handle, where it wants any.
func (s *session) offer() {
	if s.setup.Resumption == nil {
		return
	}
	handle := s.server.Numbered("handle_")
	s.server.note(func() { s.server.handles[handle] = s.memory.copy(s.wire) })
	s.send(map[string]any{"sessionResumptionUpdate": map[string]any{"newHandle": handle, "resumable": true}})
}
