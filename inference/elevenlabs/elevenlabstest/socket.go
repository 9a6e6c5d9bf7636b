package elevenlabstest

import (
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// socket is one connection with its contexts. Its one reader begins them; each speaks in a
// queue of its own.
type socket struct {
	server *Server
	wire   *loopbacktest.Socket
	query  query
	idle   *time.Timer // runs while no contexts are open

	contexts map[string]*utterance // the last of each id; the reader's own
	all      []*utterance          // likewise

	mu      sync.Mutex
	active  int  // contexts that count against the limit
	open    int  // contexts whose isFinal is not on its way
	closing bool // no more may come: the end follows the last isFinal
}

func newSocket(s *Server, k *loopbacktest.Socket, q query) *socket {
	return &socket{server: s, wire: k, query: q, contexts: map[string]*utterance{}}
}

// serve reads until the connection ends.
func (k *socket) serve() {
	k.idle = time.AfterFunc(k.query.inactivity, func() { k.fatal("input_timeout_exceeded", "no new text within the inactivity timeout") })
	defer k.cut()
	for {
		kind, data, err := k.wire.Read()
		if err != nil {
			return
		}
		if k.touch() {
			k.server.Violate("a message after close_socket")
			continue
		}
		if kind != websocket.TextMessage {
			k.mistake("invalid_message", "a binary message")
			continue
		}
		r, unknown, err := parse(data)
		if err != nil {
			k.mistake("invalid_message", "no JSON of a request: "+err.Error())
			continue
		}
		for _, name := range unknown {
			k.server.Violate("a request has the unknown field %s", name)
		}
		switch {
		case r.CloseSocket:
			k.closeSocket()
		case r.CloseContext:
			k.closeContext(&r)
		default:
			k.say(&r, data)
		}
	}
}

// cut ends all contexts with the connection.
func (k *socket) cut() {
	k.idle.Stop()
	for _, c := range k.all {
		c.cut()
	}
}

// touch notes that the client is there, and says whether it must not be any more.
func (k *socket) touch() (late bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open == 0 && !k.closing {
		k.idle.Reset(k.query.inactivity)
	}
	return k.closing
}

// enter counts a context that begins, unless there are too many.
func (k *socket) enter() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.active >= ContextsPerSocket {
		return false
	}
	k.idle.Stop()
	k.active++
	k.open++
	k.server.Enter(0)
	return true
}

// left counts a context whose isFinal was sent, and ends the connection with the last if that
// was asked for.
func (k *socket) left() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.open--; k.open > 0 || k.wire.Context().Err() != nil {
		return
	}
	if k.closing {
		k.wire.Close(websocket.CloseNormalClosure, "")
	} else {
		k.idle.Reset(k.query.inactivity)
	}
}

// mistake notes one of the client's that the vendor does not forgive.
func (k *socket) mistake(name, message string) {
	k.server.Violate("%s", message)
	k.fatal(name, message)
}

// fatal reports an error and ends the connection.
func (k *socket) fatal(name, message string) {
	_ = k.wire.Write(failure(name, message))
	k.end(message)
}

// end ends the connection because of the client.
func (k *socket) end(reason string) {
	k.wire.Close(websocket.ClosePolicyViolation, reason)
}

// closeSocket ends all contexts and then the connection.
func (k *socket) closeSocket() {
	k.mu.Lock()
	k.closing = true
	k.idle.Stop()
	none := k.open == 0
	k.mu.Unlock()
	for _, c := range k.contexts {
		c.close()
	}
	if none {
		k.wire.Close(websocket.CloseNormalClosure, "")
	}
}

// closeContext ends a context. One that has ended by itself is closed without harm.
func (k *socket) closeContext(r *request) {
	c, ok := k.contexts[r.id()]
	switch {
	case !ok:
		k.server.Violate("close_context of the context %q that never was", r.id())
	case !c.close():
		k.server.Violate("close_context of the context %q that is closed already", r.id())
	}
}

// say says more in a context, or begins it.
func (k *socket) say(r *request, body []byte) {
	id, text := r.id(), r.text()
	if r.Text == nil && !r.Flush {
		k.server.Violate("a request without text, flush, close_context and close_socket")
		return
	}
	if text == "" && !r.Flush {
		k.server.Note(func(b *Books) { b.KeepAlives++ })
		if r.Context == nil {
			return // the socket is kept alive, and no context
		}
	}
	if r.Context == nil {
		k.server.Violate("a text without context_id goes to the default context")
	}
	c, ok := k.begin(r)
	if !ok {
		return
	}
	if text != "" && !strings.HasSuffix(text, " ") {
		k.server.Violate("context %s: the text %q does not end with a space", id, text)
	}
	isFirst := c.isNew()
	if isFirst && text == " " {
		text = ""
	}
	k.server.Note(func(b *Books) {
		if isFirst {
			b.Requests++
		}
		b.Characters += utf8.RuneCountInString(text)
		b.Body = body
	})
	c.say(text, r.Flush)
}

// begin is the context of a message, a new one if there is none. On false the message was
// refused.
func (k *socket) begin(r *request) (c *utterance, ok bool) {
	id := r.id()
	if c, ok = k.contexts[id]; ok {
		state := c.now()
		if state == open {
			if r.Settings == nil && r.Generation == nil {
				return c, true
			}
			k.server.Violate("context %s: settings after its first message", id)
			k.end("voice_settings and generation_config belong into the first message of a context")
			return nil, false
		}
		k.server.Violate("context %s goes on although it is %s: that begins another", id, state)
	}
	switch err := r.check(); {
	case r.Text == nil:
		k.server.Violate("flush of the context %q that is not open", id)
		return nil, false
	case *r.Text == "":
		k.server.Violate("context %s begins without text: an empty one keeps alive what is open, and opens what is not", id)
	case err != nil:
		k.mistake("invalid_voice_settings", err.Error())
		return nil, false
	}
	if !k.enter() {
		k.mistake("max_active_conversations", fmt.Sprintf("more than %d contexts at a time on one socket", ContextsPerSocket))
		return nil, false
	}
	c = newUtterance(k, r)
	k.contexts[id], k.all = c, append(k.all, c)
	return c, true
}
