package inworldtest

import (
	"bytes"
	"encoding/base64"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
	"parley/media"
	"parley/media/wav"
)

// utterance is one context.
type utterance struct {
	*speakingtest.Speaker
	socket *socket
	config *create
	timer  *time.Timer // speaks what was held for too long

	mu   sync.Mutex
	held string // until there is enough, a flush, or the timer
}

func newUtterance(k *socket, id string, c *create) *utterance {
	u := &utterance{Speaker: k.server.Speaker(id, k.server.Queue(k.wire), k.server.script.Delays), socket: k, config: c}
	u.timer = time.AfterFunc(time.Hour, func() { u.speak(false) })
	u.timer.Stop()
	u.tell("contextCreated", c)
	return u
}

// tell queues a result.
func (u *utterance) tell(name string, what any) {
	u.Out.Add(loopbacktest.Outgoing{Message: result(u.ID, status(0, ""), map[string]any{name: what})})
}

// say takes a text.
func (u *utterance) say(text string, body []byte) {
	s := u.socket.server
	s.Note(func(b *Books) {
		b.Characters += utf8.RuneCountInString(text)
		b.Body = body
	})
	s.Change(func() { u.Text += text })
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held += text
	u.generateLocked(u.config.ready(u.held), false)
	if u.held != "" {
		u.timer.Reset(time.Duration(u.config.Delay) * time.Millisecond)
	}
}

// flush speaks what is held.
func (u *utterance) flush() {
	u.socket.server.Note(func(b *Books) { b.Finishes++ })
	u.speak(true)
}

// speak speaks all that is held. always has it say so when that is nothing.
func (u *utterance) speak(always bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.generateLocked(len(u.held), always)
}

// generateLocked queues the audio of so many bytes of what is held.
func (u *utterance) generateLocked(n int, always bool) {
	text := u.held[:n]
	u.held = u.held[n:]
	isBlank := strings.TrimSpace(text) == ""
	if isBlank && !always {
		return
	}
	u.timer.Stop()
	if !isBlank {
		u.socket.server.Note(func(b *Books) { b.Requests++ })
	}
	voice := speakingtest.Voice{Coding: codings[u.config.Audio.Encoding], Rate: u.config.Audio.Rate}
	if u.config.Audio.Speed != nil {
		voice.Speed = *u.config.Audio.Speed
	}
	if isBlank {
		text = ""
	}
	for _, c := range voice.Chunks(text) {
		u.Say(c, result(u.ID, status(0, ""), map[string]any{"audioChunk": u.chunk(c)}))
	}
	u.tell("flushCompleted", struct{}{})
}

// chunk is some audio as the vendor sends it.
func (u *utterance) chunk(c speakingtest.Chunk) map[string]any {
	var file bytes.Buffer
	if u.config.Audio.Encoding == linear16 {
		_ = wav.WriteHeader(&file, media.Rate(u.config.Audio.Rate), int64(len(c.Audio)/2)) // it fits, and a buffer takes it
	}
	file.Write(c.Audio)
	m := map[string]any{"audioContent": base64.StdEncoding.EncodeToString(file.Bytes())}
	if u.config.Timestamps == "WORD" && len(c.Words) > 0 {
		words, starts, ends := speakingtest.Times(c.Words)
		m["timestampInfo"] = map[string]any{"wordAlignment": map[string]any{"words": words, "wordStartTimeSeconds": starts, "wordEndTimeSeconds": ends}}
	}
	return m
}

// close speaks what is held and ends the context.
func (u *utterance) close() {
	u.speak(false)
	if late := u.socket.server.script.LateChunks; late != 0 {
		u.Out.Cut(max(0, late))
	}
	u.Out.Add(loopbacktest.Outgoing{Last: true, Message: func() any {
		u.end("closed") // before the client hears of it
		return result(u.ID, status(0, ""), map[string]any{"contextClosed": struct{}{}})
	}})
}

// end notes that the context has ended.
func (u *utterance) end(how string) {
	if u.Over(how) {
		u.socket.server.Change(func() { u.socket.active-- })
	}
}
