package deepgramtest

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
	"parley/inference/enginetest/speakingtest"
)

// session is one socket of a voice. Unless it says otherwise, what is in it is its reader's own.
type session struct {
	server *Server
	wire   *loopbacktest.Socket
	query  voiceQuery
	voice  speakingtest.Voice
	id     string
	out    *playout

	speeches []*Speech
	current  *Speech // that gets the next text
	held     string  // of the current speech, until a sentence ends or a flush
	silent   bool    // the current speech has no audio yet
	loose    bool    // text was sent after the last flush
	state    sessionState

	over     atomic.Bool // its end is in order; of all goroutines
	released sync.Once
}

// sessionState is whether more messages may come.
type sessionState uint8

const (
	serving sessionState = iota
	closing              // the client asked for the end
	failed               // it made a mistake that ends the connection
)

func newSession(s *Server, k *loopbacktest.Socket, q voiceQuery, id string) *session {
	return &session{server: s, wire: k, query: q, voice: speakingtest.Voice{Coding: q.coding, Rate: q.rate}, id: id, out: newPlayout(s, k)}
}

// order is one message of a client.
type order struct {
	Type   string
	Text   *string
	Speed  *float64
	Offset *struct {
		Type  string
		Value int
	} `json:"playback_offset"`
}

// serve reads until the connection ends. fields are those that each type of message has besides
// its type.
func (v *session) serve(fields map[string][]string, obey func(*order)) {
	for {
		kind, data, err := v.wire.Read()
		if err != nil {
			return
		}
		var o order
		var all map[string]json.RawMessage
		known := false
		if json.Unmarshal(data, &o) == nil && json.Unmarshal(data, &all) == nil {
			_, known = fields[o.Type]
		}
		switch {
		case v.state == closing:
			v.server.Violate("a message after Close")
			continue
		case v.state == failed:
			continue
		case kind != websocket.TextMessage:
			v.fatal("a binary message")
			continue
		case !known:
			v.fatal("a voice knows no message of this type")
			continue
		}
		for name := range all {
			if name != "type" && !slices.Contains(fields[o.Type], name) {
				v.server.Violate("%s has the unknown field %s", o.Type, name)
			}
		}
		obey(&o)
	}
}

// fatal notes a mistake of the client and ends the connection.
func (v *session) fatal(description string) {
	v.server.Violate("%s", description)
	v.state = failed
	v.over.Store(true)
	v.out.Cut(0)
	v.out.tell(map[string]any{"type": "Error", "code": "MESSAGE-0000", "description": description})
	v.out.Add(loopbacktest.Outgoing{Code: websocket.ClosePolicyViolation})
}

// finish ends the connection as the client asked for.
func (v *session) finish() {
	v.state = closing
	if !v.loose {
		v.over.Store(true)
	}
	v.out.Add(loopbacktest.Outgoing{Code: websocket.CloseNormalClosure, Before: v.release}) // before the client hears of it
}

// take takes the text of a Speak, and says whether it began a speech.
func (v *session) take(o *order, newID func() string) (begun, ok bool) {
	if o.Text == nil || *o.Text == "" {
		v.server.Violate("Speak without text")
		return false, false
	}
	if begun = v.current == nil; begun {
		v.current = v.server.Begin(newID())
		v.silent = true
		v.speeches = append(v.speeches, v.current)
		v.server.Enter(0)
	}
	v.server.Note(func(b *Books) {
		if begun {
			b.Requests++
		}
		b.Characters += utf8.RuneCountInString(*o.Text)
		b.Body = []byte(*o.Text)
	})
	v.server.Change(func() { v.current.Text += *o.Text })
	v.held += *o.Text
	v.loose = true
	return begun, true
}

// sayUntil queues the audio of so many bytes of what is held.
func (v *session) sayUntil(n int) {
	text := v.held[:n]
	v.held = v.held[n:]
	if strings.TrimSpace(text) == "" {
		return
	}
	v.voice.Speed = v.query.speed
	for _, c := range v.voice.Chunks(text) {
		delay := v.server.script.Voice.Delays.Chunk
		if v.silent {
			delay, v.silent = v.server.script.Voice.Delays.FirstAudio, false
		}
		v.out.say(v.current, c, delay)
	}
}

// drop takes back what was not sent, but for audio that is late, and forgets what is held.
func (v *session) drop() {
	v.held, v.current, v.loose = "", nil, false
	v.out.Cut(v.server.script.Voice.LateChunks)
}

// live are the speeches that have not ended.
func (v *session) live() (list []*Speech) {
	v.server.Change(func() {
		for _, sp := range v.speeches {
			if sp.End == "" {
				list = append(list, sp)
			}
		}
	})
	return list
}
