package inworldtest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest/loopbacktest"
)

// socket is one connection with its contexts. Its one reader begins them; each speaks in a queue of
// its own.
type socket struct {
	server *Server
	wire   *loopbacktest.Socket

	open   map[string]*utterance // by contextId; the reader's own
	all    []*utterance          // likewise
	active int                   // contexts whose contextClosed was not sent; under the lock of the log
}

// serve reads until the connection ends.
func serve(s *Server, wire *loopbacktest.Socket) {
	k := &socket{server: s, wire: wire, open: map[string]*utterance{}}
	defer k.cut()
	wire.IdleAfter(s.script.Idle)
	for {
		kind, data, err := wire.Read()
		if errors.Is(err, loopbacktest.ErrIdle) {
			wire.Close(websocket.CloseNormalClosure, "inactivity")
			continue
		}
		if err != nil {
			return
		}
		var r request
		if err = loopbacktest.Strict(data, &r); kind != websocket.TextMessage {
			err = errors.New("a binary message")
		}
		if err == nil {
			err = r.one()
		}
		if err != nil {
			s.Violate("%v", err)
			_ = wire.Write(map[string]any{"error": status(codeInvalid, err.Error())})
			continue
		}
		k.obey(&r, data)
	}
}

// one says why a message is not exactly one request.
func (r *request) one() error {
	n := 0
	for _, there := range []bool{r.Create != nil, r.Send != nil, r.Flush != nil, r.Close != nil} {
		if there {
			n++
		}
	}
	if n != 1 {
		return fmt.Errorf("a message has %d requests, not one", n)
	}
	return nil
}

// obey does what a message asks for.
func (k *socket) obey(r *request, body []byte) {
	if r.Create != nil {
		k.create(r.Context, r.Create)
		return
	}
	keepAlive := r.Send != nil && r.Send.Text == "" && r.Send.Flush == nil
	if keepAlive {
		k.server.Note(func(b *Books) { b.KeepAlives++ })
	}
	u, ok := k.open[r.Context]
	switch {
	case !ok && !keepAlive && !slices.ContainsFunc(k.all, func(u *utterance) bool { return u.ID == r.Context }):
		k.refuse(r.Context, codeNotFound, "Context not found: it never was")
	case !ok: // it may have been closed meanwhile
		k.tell(r.Context, codeNotFound, "Context not found")
	case r.Close != nil:
		delete(k.open, r.Context)
		u.close()
	case r.Flush != nil:
		u.flush()
	case utf8.RuneCountInString(r.Send.Text) > MaxText:
		k.refuse(r.Context, codeInvalid, fmt.Sprintf("text has %d characters, %d at most", utf8.RuneCountInString(r.Send.Text), MaxText))
	default:
		u.say(r.Send.Text, body)
		if r.Send.Flush != nil {
			u.flush()
		}
	}
}

// create begins a context.
func (k *socket) create(id string, c *create) {
	active := 0
	k.server.Change(func() { active = k.active })
	err := c.check()
	_, exists := k.open[id]
	switch {
	case err != nil:
		k.refuse(id, codeInvalid, err.Error())
	case exists:
		k.refuse(id, codeExists, "the context exists already")
	case active >= ContextsPerSocket:
		k.refuse(id, codeExhausted, fmt.Sprintf("more than %d contexts at a time on one socket", ContextsPerSocket))
	case !slices.Contains(k.server.script.Voices, c.Voice):
		k.tell(id, codeInvalid, "Unknown voice: "+c.Voice)
	case !k.server.Enter(k.server.script.Contexts):
		k.tell(id, codeExhausted, "too many concurrent generations")
	default:
		k.server.Change(func() { k.active++ })
		u := newUtterance(k, id, c)
		k.open[id], k.all = u, append(k.all, u)
	}
}

// refuse answers a mistake of the client's, and notes it.
func (k *socket) refuse(id string, code int, message string) {
	k.server.Violate("context %q: %s", id, message)
	k.tell(id, code, message)
}

// tell sends at once how something went.
func (k *socket) tell(id string, code int, message string) {
	_ = k.wire.Write(result(id, status(code, message), nil))
}

// result is what the vendor says of a context.
func result(id string, status, what map[string]any) map[string]any {
	m := map[string]any{"contextId": id, "status": status}
	maps.Copy(m, what)
	return map[string]any{"result": m}
}

// cut ends all contexts with the connection.
func (k *socket) cut() {
	for _, u := range k.all {
		u.timer.Stop()
		u.end("cut")
	}
}
