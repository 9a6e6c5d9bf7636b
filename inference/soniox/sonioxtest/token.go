package sonioxtest

import (
	"strings"
	"time"
	"unicode"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/hearingtest"
	"parley/inference/enginetest/loopbacktest"
)

// pieceLength is the letters of a token.
const pieceLength = 4

// Tokens that are no text.
const (
	endpoint  = "<end>"
	finalized = "<fin>"
)

// step says what follows from one frame.
func (c *session) step(got hearingtest.Heard) {
	c.pending = append(c.pending, got.Words...)
	if len(got.Words) > 0 {
		c.spoken = true
	}
	if c.Endpoints && c.spoken && !got.Loud && (c.Over() && c.Quiet >= c.server.script.EndAfter || c.Now-c.LastLoud >= c.maxDelay()) {
		c.spoken = false
		c.send(len(c.pending), endpoint, c.AfterSound(c.server.script.Delays.Final))
		return
	}
	old := c.Old(c.pending, c.server.script.FinalAfter)
	if len(got.Words) > 0 || old > 0 {
		c.send(old, "", c.AfterWord(c.server.script.Delays.Word))
	}
}

// finalize answers a request for the last words.
func (c *session) finalize() {
	c.pending = append(c.pending, c.Cut()...)
	if len(c.pending) == 0 && c.server.script.Traps.FinalizeUnanswered {
		return
	}
	c.spoken = c.spoken && c.server.script.Traps.EndAfterFin
	c.send(len(c.pending), finalized, c.AfterSound(c.server.script.Delays.Final))
}

// finish says the last words, and that nothing more comes.
func (c *session) finish() {
	c.state = finished
	if c.pending = append(c.pending, c.Cut()...); len(c.pending) > 0 {
		c.send(len(c.pending), "", c.AfterSound(c.server.script.Delays.Final))
	}
	c.out.Add(loopbacktest.Outgoing{Message: map[string]any{"tokens": []any{}, "final_audio_proc_ms": c.final, "total_audio_proc_ms": c.Now.Milliseconds(), "finished": true}})
	c.out.Add(loopbacktest.Outgoing{Code: websocket.CloseNormalClosure})
}

// send sends the first words that are pending as final tokens, then a mark if there is one, then
// the tokens of the others.
func (c *session) send(final int, mark string, due time.Time) {
	words := c.pending[:final:final]
	tokens := []map[string]any{}
	for i, w := range c.pending {
		begins := !c.begun
		if i < final {
			c.begun = true
			c.final = w.End.Milliseconds()
			if w.Of.EmptyFinal {
				continue
			}
		}
		text := w.Text
		if i >= final && i == len(c.pending)-1 {
			text = hearingtest.Plain(text) // its punctuation depends on what follows
		}
		tokens = append(tokens, c.tokens(text, w, begins && i == 0, i < final)...)
	}
	if mark != "" {
		tokens = append(tokens, map[string]any{"text": mark, "is_final": true})
		c.final = c.Now.Milliseconds()
	}
	c.pending = c.pending[final:]
	c.out.Add(loopbacktest.Outgoing{Due: due, Message: map[string]any{"tokens": tokens, "final_audio_proc_ms": c.final, "total_audio_proc_ms": c.Now.Milliseconds()},
		Sent: func() { c.server.dialogue.Final(words) }})
}

// tokens are the pieces of a word. All words but the first of a connection begin with a space.
func (c *session) tokens(text string, w hearingtest.Word, first, final bool) (list []map[string]any) {
	parts := pieces(text)
	each := (w.End - w.Start) / time.Duration(len(parts))
	for i, part := range parts {
		start := w.Start + time.Duration(i)*each
		if i == 0 && !first {
			part = " " + part
		}
		m := map[string]any{"text": part, "start_ms": start.Milliseconds(), "end_ms": (start + each).Milliseconds(), "confidence": .97, "is_final": final}
		if c.Languages {
			m["language"] = w.Language()
		}
		if c.Speakers {
			m["speaker"] = "1"
		}
		list = append(list, m)
	}
	return list
}

// pieces cuts a word into some letters each, and what punctuation ends it.
func pieces(word string) (parts []string) {
	letters := []rune(strings.TrimRightFunc(word, unicode.IsPunct))
	end := string([]rune(word)[len(letters):])
	for ; len(letters) > pieceLength; letters = letters[pieceLength:] {
		parts = append(parts, string(letters[:pieceLength]))
	}
	for _, part := range []string{string(letters), end} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
