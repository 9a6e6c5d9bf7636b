package rimetest

import (
	"encoding/base64"
	"errors"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// socket is one connection. Its one reader takes texts; its queue speaks.
type socket struct {
	server *Server
	query  query
	out    *loopbacktest.Queue

	mu       sync.Mutex
	all      []*utterance
	last     *utterance // that got text
	held     string     // of it, until a sentence ends or a flush
	waiting  []*synthesis
	speaking bool
	closing  bool // the client asked for the end
	round    int  // how often it was cleared
}

// utterance is all text of one contextId.
type utterance struct {
	*speakingtest.Speaker
	id   *string // nil: none
	owed int     // bytes of text that were not spoken; above 0 it is busy
}

// synthesis is text that is spoken in one go.
type synthesis struct {
	of   *utterance
	text string
}

// request is one message of a client.
type request struct {
	Text      *string
	Context   *string `json:"contextId"`
	Operation *string
}

// serve reads until the connection ends.
func serve(s *Server, wire *loopbacktest.Socket, q query) {
	k := &socket{server: s, query: q, out: s.Queue(wire)}
	defer k.drop("cut")
	for {
		kind, data, err := wire.Read()
		if err != nil {
			return
		}
		var r request
		if err = loopbacktest.Strict(data, &r); kind != websocket.TextMessage {
			err = errors.New("a binary message")
		} else if err == nil && (r.Text == nil) == (r.Operation == nil) {
			err = errors.New("a message has either text or operation")
		}
		switch {
		case k.closing:
			s.Violate("a message after eos")
		case err != nil:
			k.mistake(err.Error())
		case r.Text != nil:
			k.say(&r, data)
		default:
			k.operate(*r.Operation)
		}
	}
}

// mistake notes one of the client's, and answers with an error.
func (k *socket) mistake(message string) {
	k.server.Violate("%s", message)
	k.out.Add(loopbacktest.Outgoing{Message: failure("Malformed message: " + message)})
}

// utteranceLocked is that of a contextId, which may be nil.
func (k *socket) utteranceLocked(id *string) *utterance {
	for _, u := range k.all {
		if id == nil && u.id == nil || id != nil && u.id != nil && *id == *u.id {
			return u
		}
	}
	name := ""
	if id != nil {
		name = *id
	}
	u := &utterance{Speaker: k.server.Speaker(name, k.out, k.server.script.Delays), id: id}
	k.all = append(k.all, u)
	return u
}

// say takes the text of a message.
func (k *socket) say(r *request, body []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	u, text := k.utteranceLocked(r.Context), *r.Text
	if k.held != "" && u != k.last {
		k.server.Violate("context %s begins although text of another one was not flushed: it is spoken as its own", u.ID)
	}
	k.server.Note(func(b *Books) {
		b.Characters += utf8.RuneCountInString(text)
		b.Body = body
	})
	k.server.Change(func() {
		u.Text += text
		if u.owed == 0 && text != "" {
			u.End = ""
			k.server.Enter(0)
		}
	})
	u.owed += len(text)
	k.last, k.held = u, k.held+text
	switch k.query.segment {
	case "never":
	case "immediate":
		k.speakLocked(len(k.held))
	default:
		k.speakLocked(loopbacktest.Sentences(k.held))
	}
}

// operate obeys an operation.
func (k *socket) operate(name string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch name {
	case "flush":
		k.server.Note(func(b *Books) { b.Finishes++ })
		k.speakLocked(len(k.held))
	case "clear":
		k.clearLocked()
	case "eos":
		k.closing = true
		k.speakLocked(len(k.held))
		k.nextLocked()
	default:
		k.mistake("unknown operation " + name)
	}
}

// speakLocked has so many bytes of what is held spoken: now or, when something is being spoken, after that, and then
// together with all else of its context that waits.
func (k *socket) speakLocked(n int) {
	text, u, w := k.held[:n], k.last, len(k.waiting)
	k.held = k.held[n:]
	switch {
	case strings.TrimSpace(text) == "":
		k.spokenLocked(u, n)
	case w > 0 && k.waiting[w-1].of == u:
		k.waiting[w-1].text += text
	default:
		k.waiting = append(k.waiting, &synthesis{u, text})
		k.nextLocked()
	}
}

// nextLocked begins with what waits, unless something is being spoken.
func (k *socket) nextLocked() {
	if k.speaking {
		return
	}
	if len(k.waiting) == 0 {
		if k.closing {
			k.out.Add(loopbacktest.Outgoing{Code: websocket.CloseNormalClosure})
		}
		return
	}
	y, round := k.waiting[0], k.round
	k.waiting, k.speaking = k.waiting[1:], true
	k.server.Note(func(b *Books) { b.Requests++ })
	k.audioLocked(y)
	k.out.Add(loopbacktest.Outgoing{Message: func() any {
		if k.over(y, round) {
			return k.done(y.of)
		}
		return nil
	}})
}

// audioLocked queues what a text sounds like, and when its words are said.
func (k *socket) audioLocked(y *synthesis) {
	u := y.of
	voice := speakingtest.Voice{Coding: k.query.coding, Rate: k.query.rate, Speed: k.query.speed}
	for _, c := range voice.Chunks(y.text) {
		u.Say(c, map[string]any{"type": "chunk", "data": base64.StdEncoding.EncodeToString(c.Audio), "contextId": u.id})
		if len(c.Words) > 0 {
			words, starts, ends := speakingtest.Times(c.Words)
			k.out.Add(loopbacktest.Outgoing{Message: map[string]any{"type": "timestamps", "contextId": u.id,
				"word_timestamps": map[string]any{"words": words, "start": starts, "end": ends}}})
		}
	}
}

// over notes that a synthesis is over, unless it was cleared, and says whether the client hears of that: of each where
// the client says when to speak, otherwise of the last that waited.
func (k *socket) over(y *synthesis, round int) (isDone bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.round != round {
		return false
	}
	k.speaking = false
	k.spokenLocked(y.of, len(y.text))
	isDone = len(k.waiting) == 0 || k.query.segment == "never"
	k.nextLocked()
	return isDone
}

// spokenLocked counts bytes of text that were spoken.
func (k *socket) spokenLocked(u *utterance, n int) {
	if n == 0 {
		return
	}
	if u.owed -= n; u.owed == 0 {
		u.Over("done")
	}
}

func (k *socket) done(u *utterance) map[string]any {
	m := map[string]any{"type": "done", "contextId": u.id}
	if k.server.script.Traps.BareDone {
		delete(m, "contextId")
	}
	return m
}

// clearLocked forgets all text, of whatever context.
func (k *socket) clearLocked() {
	dropped := k.dropLocked("cleared")
	k.out.Cut(k.server.script.LateChunks)
	k.server.Note(func(b *Books) { b.Cancels += dropped })
	if dropped > 0 && k.server.script.Traps.DoneAfterClear {
		k.out.Add(loopbacktest.Outgoing{Message: k.done(k.last)})
	}
}

// drop ends the contexts that are busy.
func (k *socket) drop(how string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.dropLocked(how)
}

// dropLocked is drop, and says how many there were.
func (k *socket) dropLocked(how string) (dropped int) {
	k.round++
	k.held, k.waiting, k.speaking = "", nil, false
	for _, u := range k.all {
		if u.owed > 0 {
			u.owed = 0
			u.Over(how)
			dropped++
		}
	}
	return dropped
}
