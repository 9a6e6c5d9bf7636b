package cartesiatest

import (
	"net/http"
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
	idle   *time.Timer

	contexts map[string]*utterance // all that ever were; the reader's own

	mu     sync.Mutex
	active int
}

func newSocket(s *Server, k *loopbacktest.Socket) *socket {
	return &socket{server: s, wire: k, contexts: map[string]*utterance{}}
}

// serve reads until the connection ends.
func (k *socket) serve() {
	k.idle = time.AfterFunc(k.server.script.Idle, func() { k.wire.Close(websocket.CloseNormalClosure, "connection idle timeout") })
	defer k.cut()
	for {
		kind, data, err := k.wire.Read()
		if err != nil {
			return
		}
		k.change(0)
		if kind != websocket.TextMessage {
			k.mistake("", "a binary message")
			continue
		}
		r, unknown, err := parse(data)
		if err != nil {
			k.mistake("", "no JSON of a request: "+err.Error())
			continue
		}
		for _, name := range unknown {
			k.server.Violate("a request has the unknown field %s", name)
		}
		if r.Cancel {
			k.cancel(&r)
		} else {
			k.generate(&r, data)
		}
	}
}

// cut ends all contexts with the connection.
func (k *socket) cut() {
	for _, c := range k.contexts {
		c.cut()
	}
	k.idle.Stop()
}

// change counts contexts that began or ended, and starts to wait for an idle end.
func (k *socket) change(by int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.active += by; k.active > 0 {
		k.idle.Stop()
	} else if k.wire.Context().Err() == nil {
		k.idle.Reset(k.server.script.Idle)
	}
}

// mistake notes one of the client's, and answers with an error.
func (k *socket) mistake(context, message string) {
	k.server.Violate("%s", message)
	k.fail(http.StatusBadRequest, context, message)
}

func (k *socket) fail(status int, context, message string) {
	_ = k.wire.Write(Failure(status, context, message))
}

// cancel ends a context. One that has ended by itself is cancelled without harm.
func (k *socket) cancel(r *request) {
	k.server.Note(func(b *Books) { b.Cancels++ })
	c, ok := k.contexts[r.Context]
	if !ok {
		k.mistake(r.Context, "cancel of a context that never was")
		return
	}
	c.cancel()
}

// generate says more in a context, or begins it.
func (k *socket) generate(r *request, body []byte) {
	c, known := k.contexts[r.Context]
	var err error
	if known {
		if refusal := c.refuses(r); refusal != "" {
			k.mistake(r.Context, refusal)
			return
		}
	} else if err = r.check(); err != nil {
		k.mistake(r.Context, err.Error())
		return
	} else if status, message := k.server.found(r); status != 0 {
		k.fail(status, r.Context, message)
		return
	} else if !k.server.Enter(k.server.script.Contexts) {
		k.fail(http.StatusTooManyRequests, r.Context, "too many concurrent requests")
		return
	} else {
		c = newUtterance(k, r)
		k.contexts[r.Context] = c
		k.change(1)
	}
	k.server.Note(func(b *Books) {
		b.Requests++
		b.Characters += utf8.RuneCountInString(*r.Transcript)
		b.Body = body
	})
	if c.say(r) {
		k.server.Violate("context %s: %q follows a sentence without a space", r.Context, *r.Transcript)
	}
}

// glued says whether a sentence begins where another ended without a space between.
func glued(before, after string) bool {
	return before != "" && after != "" && strings.ContainsRune(".!?", rune(before[len(before)-1])) && after[0] >= 'A' && after[0] <= 'Z'
}
