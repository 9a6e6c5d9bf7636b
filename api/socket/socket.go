// Package socket is what the WebSockets of the API share: the upgrade, one writer with a
// bounded queue, a reader that never writes, pings, the closing handshake, error frames,
// how many sockets an account may have open, and how all of them end when the server does.
//
//	sock, err := set.Upgrade(w, r, socket.Object)
//	if err != nil {
//		return // the client has its answer
//	}
//	sock.Run(socket.Incoming{Text: take}, work)
//
// Jobs wait for room in the queue: who produces audio should not run ahead of a client who
// does not take it. Conversations cannot wait. They open their sockets with a longer queue and
// offer messages to it; a client that lets it fill up is disconnected.
package socket

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/media/isolate"
)

// Close codes (RFC 6455 section 7.4.1 and the registry it opened). Conversations end with
// them whatever carries their messages.
const (
	Normal      = websocket.CloseNormalClosure
	GoingAway   = websocket.CloseGoingAway
	TooBig      = websocket.CloseMessageTooBig
	Policy      = websocket.ClosePolicyViolation
	ServerError = websocket.CloseInternalServerErr
	Restart     = websocket.CloseServiceRestart
	TryLater    = websocket.CloseTryAgainLater
)

// Bounds of a socket.
const (
	// MaxText is the longest text message of a client, in bytes: a text of 5,000
	// code points fits in, each written as two JSON escapes.
	MaxText = 64 << 10
	// queueSize is how many messages of jobs may wait for the writer.
	queueSize = 8
	maxReason = 123 // bytes of a close reason (RFC 6455 section 5.5)
	pingEvery = 20 * time.Second
	readWait  = 60 * time.Second // two pings missed
	// writeWait is how long the client of a job may take for one message. It may let
	// audio wait while it plays what it has, but not for ever.
	writeWait = 20 * time.Second
	// flushWait is how long what is queued may take to be sent before the end,
	// closeWait how long the closing handshake may take then.
	flushWait = 2 * time.Second
	closeWait = time.Second
)

// Why a socket has ended: the cause of its context, which is context.Canceled when
// the client has gone.
var (
	ErrSlow    = errors.New("socket: the client does not read")
	ErrTooLong = errors.New("socket: the client's message is too long")
	ErrClosed  = errors.New("socket: closed by the server")
	ErrCut     = errors.New("socket: cut off because the server stops")
)

// Socket is one client's connection. Its methods may be called from any goroutine
// while Run runs, but from the reader's callbacks only those that do not block.
type Socket struct {
	conn  *websocket.Conn
	set   *Set // nil: none
	form  Form
	owner string        // the account
	wait  time.Duration // how long the client may take for one message

	queue chan item
	pongs chan string   // capacity 1: the latest ping's text
	sent  chan struct{} // closed when the writer has ended
	deaf  chan struct{} // closed when nothing is read any more
	ends  atomic.Int32  // of these two, those that have ended

	ctx    context.Context // ends when nothing more will be sent but the goodbye
	cancel context.CancelCauseFunc
	once   sync.Once
	// Set before ctx ends.
	code int // of the goodbye; 0: the client has gone
	why  string
	lost bool // the connection broke, or went away with a proxy
}

// item is one entry of the writer's queue: a message, a mark to close when all
// before it was written, or both.
type item struct {
	kind int
	data []byte
	late Late
	mark chan struct{}
}

// Late is a message whose bytes are wanted when its turn comes.
type Late interface {
	// Bytes are what is to be sent, as a text message or a binary one; nil: nothing any more.
	Bytes() (data []byte, text bool)
	// Written says that the writer is done with the bytes.
	Written()
}

func newSocket(ctx context.Context, conn *websocket.Conn, set *Set, form Form, queue int, wait time.Duration) *Socket {
	s := &Socket{conn: conn, set: set, form: form, owner: api.PrincipalOf(ctx).Account, wait: wait,
		queue: make(chan item, queue), pongs: make(chan string, 1),
		sent: make(chan struct{}), deaf: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	return s
}

// Incoming takes the client's messages. Its functions are called one after the
// other by the reader, may not keep the slice, and should not block: while they
// do, it is not noticed that the client has gone. A nil function ignores.
type Incoming struct {
	Text   func([]byte)
	Binary func([]byte)
	// MaxText and MaxBinary are the longest messages in bytes; 0: the constant MaxText. A
	// longer one ends the socket with code 1009.
	MaxText, MaxBinary int64
}

// Run reads and writes until the socket has ended and nothing of it is left. work
// runs in the calling goroutine, with the request's values in a context that ends
// when the socket has; its cause says why. When work returns the socket is closed. The connection is closed
// earlier when the socket has ended and work goes on without it.
func (s *Socket) Run(in Incoming, work func(context.Context)) {
	if s.set != nil {
		defer s.set.leave(s)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer s.conn.Close()
	wg.Add(2)
	broke := func(cause error) { s.end(websocket.CloseInternalServerErr, "Something went wrong on our side.", cause) }
	isolate.Go("api/socket/writer", broke, s.write, func() { close(s.sent) }, s.half, wg.Done)
	isolate.Go("api/socket/reader", broke, func() { s.read(in) }, func() { close(s.deaf) }, s.half, wg.Done)
	work(s.ctx)
	s.Close(Normal, "")
	s.linger()
}

// half notes that nothing is written any more, or nothing read. After both nobody needs the connection.
func (s *Socket) half() {
	if s.ends.Add(1) == 2 {
		s.conn.Close()
	}
}

// linger waits for the closing handshake. A connection closed with something
// unread in it is reset, and a reset takes from the client what it has not read
// yet: the last words and the reason.
func (s *Socket) linger() {
	t := time.NewTimer(closeWait)
	defer t.Stop()
	for _, done := range []chan struct{}{s.sent, s.deaf} {
		select {
		case <-done:
		case <-t.C:
			return
		}
	}
}

// Gone is closed when the socket has ended.
func (s *Socket) Gone() <-chan struct{} { return s.ctx.Done() }

// Cause is why the socket has ended; nil: it has not.
func (s *Socket) Cause() error { return context.Cause(s.ctx) }

// Lost says that the socket has ended without a word of the client's that it wants no more: the connection broke, the
// client did not read, or it went away (RFC 6455, section 7.4.1: 1001).
func (s *Socket) Lost() bool {
	return s.ctx.Err() != nil && (s.lost || errors.Is(s.Cause(), ErrSlow))
}

// Draining is closed when the server wants its sockets to end: those without work
// at once, the others after it.
func (s *Socket) Draining() <-chan struct{} { return s.set.draining }

// SendText queues a text message, which the socket keeps. It waits while the queue
// is full, and says false when the socket has ended.
func (s *Socket) SendText(b []byte) bool { return s.put(item{kind: websocket.TextMessage, data: b}) }

// SendBinary is SendText for binary messages.
func (s *Socket) SendBinary(b []byte) bool {
	return s.put(item{kind: websocket.BinaryMessage, data: b})
}

// Offer queues a message without waiting for room.
func (s *Socket) Offer(m Late) { s.offer(item{late: m}) }

// OfferText is SendText without waiting for room.
func (s *Socket) OfferText(b []byte) { s.offer(item{kind: websocket.TextMessage, data: b}) }

// offer queues an item, or ends the socket where there is no room.
func (s *Socket) offer(i item) {
	select {
	case s.queue <- i:
	default:
		s.Drop(ErrSlow)
	}
}

// Drop ends the socket at once and without a goodbye.
func (s *Socket) Drop(cause error) { s.end(0, "", cause) }

// Replace says goodbye at once, before what is queued, and does not wait: another socket has taken this one's place.
func (s *Socket) Replace(code int, why string) { s.end(code, why, ErrClosed) }

// Deliver queues a binary message, which the socket keeps, and waits until it has
// been written. It says false when it was not, and the socket has ended.
func (s *Socket) Deliver(b []byte) bool {
	mark := make(chan struct{})
	if !s.put(item{kind: websocket.BinaryMessage, data: b, mark: mark}) {
		return false
	}
	select {
	case <-mark:
		return true
	case <-s.ctx.Done():
	}
	// The writer may be at it, or done with it: a client that goes when it has read
	// the message is as quick as we are.
	t := time.NewTimer(closeWait)
	defer t.Stop()
	select {
	case <-mark:
	case <-s.sent:
	case <-t.C:
	}
	select {
	case <-mark:
		return true
	default:
		return false
	}
}

// SendJSON sends v as a text message; v must be of a type that always marshals.
func (s *Socket) SendJSON(v any) bool {
	b, err := json.Marshal(v)
	return err == nil && s.SendText(b)
}

// Error sends the client an error frame about err.
func (s *Socket) Error(err error) bool { return s.SendJSON(s.form(api.ProblemOf(err))) }

// Refuse sends an error frame about err and closes: with 1008, which clients
// take as final, or with a code after which they connect again when that helps.
func (s *Socket) Refuse(err error) {
	api.Refused(s.ctx, err)
	s.Error(err)
	s.Close(Refusal(err))
}

// Refusal is the close code and the sentence for a client that is refused. Clients connect
// again after every code but the policy one.
func Refusal(err error) (code int, why string) {
	p := api.ProblemOf(err)
	switch {
	case errors.Is(err, api.ErrDraining):
		return GoingAway, p.Message
	case p.Status == http.StatusServiceUnavailable:
		return TryLater, p.Message
	case p.Status >= 500:
		return ServerError, p.Message
	}
	return Policy, p.Message
}

func (s *Socket) put(i item) bool {
	if s.ctx.Err() != nil {
		return false
	}
	select {
	case s.queue <- i:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// Flush waits until everything queued before has been written, and says false when
// the socket has ended instead.
func (s *Socket) Flush() bool {
	mark := make(chan struct{})
	if !s.put(item{mark: mark}) {
		return false
	}
	select {
	case <-mark:
		return true
	case <-s.ctx.Done():
		return false
	}
}

// Close says goodbye after what is queued, with a sentence for people, which is
// cut to what a close frame holds. It returns when the socket has ended, at once
// when it had ended before.
func (s *Socket) Close(code int, why string) {
	late := time.AfterFunc(flushWait, func() { s.end(code, why, ErrClosed) })
	defer late.Stop()
	s.Flush()
	s.end(code, why, ErrClosed)
}

// end ends the socket at once, by the first who calls it. It does not block.
func (s *Socket) end(code int, why string, cause error) { s.over(code, why, false, cause) }

// over is end for a socket whose connection may be lost.
func (s *Socket) over(code int, why string, lost bool, cause error) {
	s.once.Do(func() {
		s.code, s.why, s.lost = code, reason(why), lost
		s.cancel(cause)
	})
}

// reason is why cut to what a close frame holds, between two characters.
func reason(why string) string {
	if len(why) <= maxReason {
		return why
	}
	n := maxReason
	for !utf8.RuneStart(why[n]) {
		n--
	}
	return why[:n]
}
