package deepgramtest

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// voiceChunk is the audio of one chunk of a voice; the last of a text is shorter. voiceLevel is
// the peak of its tone in dBFS.
const (
	voiceChunk = 80 * time.Millisecond
	voiceLevel = -12
)

// session is one socket of a voice. Unless it says otherwise, what is in it is its reader's own.
type session struct {
	server *Server
	wire   *loopbacktest.Socket
	query  voiceQuery
	id     string
	out    *playout

	speeches []*Speech
	current  *Speech // that gets the next text
	held     string  // of the current speech, until a sentence ends or a flush
	silent   bool    // the current speech has no audio yet
	loose    bool    // text was sent after the last flush
	state    sessionState

	end  float64 // until when texts go, in seconds of audio
	made int     // samples

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
	return &session{server: s, wire: k, query: q, id: id, out: newPlayout(s, k, q.rate)}
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
	v.out.cut(0)
	v.out.tell(map[string]any{"type": "Error", "code": "MESSAGE-0000", "description": description})
	v.out.add(&piece{code: websocket.ClosePolicyViolation})
}

// finish ends the connection as the client asked for.
func (v *session) finish() {
	v.state = closing
	if !v.loose {
		v.over.Store(true)
	}
	v.out.add(&piece{code: websocket.CloseNormalClosure, message: func() any {
		v.release() // before the client hears of it
		return nil
	}})
}

// take takes the text of a Speak, and says whether it began a speech.
func (v *session) take(o *order, newID func() string) (begun, ok bool) {
	if o.Text == nil || *o.Text == "" {
		v.server.Violate("Speak without text")
		return false, false
	}
	if begun = v.current == nil; begun {
		v.current = &Speech{ID: newID()}
		v.silent = true
		v.speeches = append(v.speeches, v.current)
		v.server.Enter(0)
		v.server.note(func() { v.server.speeches = append(v.server.speeches, v.current) })
	}
	v.server.Note(func(b *Books) {
		if begun {
			b.Requests++
		}
		b.Characters += utf8.RuneCountInString(*o.Text)
		b.Body = []byte(*o.Text)
	})
	v.server.note(func() { v.current.Text += *o.Text })
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
	v.end += float64(utf8.RuneCountInString(text)) * CharacterTime.Seconds() / v.query.speed
	until := int(math.Round(v.end * float64(v.query.rate)))
	size := int(voiceChunk.Seconds() * float64(v.query.rate))
	for v.made < until {
		n := min(size, until-v.made)
		one := &piece{speech: v.current, samples: n, delay: v.server.script.Voice.Delays.Chunk,
			audio: v.query.coding.Encode(loopbacktest.Tone(n, v.made, v.query.rate, voiceLevel))}
		if v.silent {
			one.delay, v.silent = v.server.script.Voice.Delays.FirstAudio, false
		}
		v.made += n
		v.out.add(one)
	}
}

// drop takes back what was not sent, but for audio that is late, and forgets what is held.
func (v *session) drop() {
	v.held, v.current, v.loose = "", nil, false
	v.out.cut(v.server.script.Voice.LateChunks)
}

// live are the speeches that have not ended.
func (v *session) live() (list []*Speech) {
	v.server.mu.Lock()
	defer v.server.mu.Unlock()
	for _, sp := range v.speeches {
		if sp.End == "" {
			list = append(list, sp)
		}
	}
	return list
}
