package socket

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/wire"
	"parley/store"
)

// MaxOpen is how many sockets and event streams an account may have open at once.
const MaxOpen = 2000

// ErrTooMany refuses a socket to an account that has MaxOpen.
var ErrTooMany = api.Detail(store.ErrConcurrency, fmt.Sprintf("%d sockets and event streams are open", MaxOpen))

// Limits counts the open sockets and event streams of each account, or of others by their names. The zero Limits is ready; it may
// be used from several goroutines.
type Limits struct {
	Most int // of one; 0: MaxOpen. Set before use

	mu   sync.Mutex
	open map[string]int
}

// Open counts one more socket of the account, or returns false when it has
// as many as it may. Closed must follow a true.
func (l *Limits) Open(account string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[account] >= cmp.Or(l.Most, MaxOpen) {
		return false
	}
	if l.open == nil {
		l.open = map[string]int{}
	}
	l.open[account]++
	return true
}

// Closed counts one socket less.
func (l *Limits) Closed(account string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[account]--; l.open[account] <= 0 {
		delete(l.open, account)
	}
}

// cutPatience is how long sockets that were cut off may take to end.
const cutPatience = 5 * time.Second

// Set is the open sockets of a server. It may be used from several goroutines.
type Set struct {
	Limits   Limits
	draining chan struct{} // closed when no socket is to stay

	mu    sync.Mutex
	open  map[*Socket]struct{}
	last  bool          // no socket is taken in any more
	empty chan struct{} // closed when last and no socket is left
}

// NewSet returns a set without sockets.
func NewSet() *Set {
	return &Set{draining: make(chan struct{}), open: map[*Socket]struct{}{}, empty: make(chan struct{})}
}

// upgrader takes connections from any site: there are no cookies here, a page
// needs a credential to connect. Buffers for writing are shared, since most
// sockets are idle; messages are not compressed, audio does not shrink.
var upgrader = websocket.Upgrader{
	HandshakeTimeout: 5 * time.Second,
	CheckOrigin:      func(*http.Request) bool { return true },
	WriteBufferPool:  &sync.Pool{},
	Error: func(w http.ResponseWriter, _ *http.Request, _ int, _ error) {
		api.WriteError(w, api.Bad("this address takes WebSocket connections"))
	},
}

var errRefused = errors.New("socket: refused")

// Upgrade makes a socket of a request, whose error frames are made by form.
// The caller must Run it. An error means that the client has been answered: the
// request is no upgrade, the server stops, or the account has MaxOpen sockets.
func (s *Set) Upgrade(w http.ResponseWriter, r *http.Request, form Form) (*Socket, error) {
	conn, err := upgrader.Upgrade(w, r, handshake(r))
	if err != nil {
		return nil, err
	}
	sock := newSocket(r.Context(), conn, s, form, queueSize, writeWait)
	if err := s.enter(sock); err != nil {
		sock.Run(Incoming{}, func(context.Context) { sock.Refuse(err) })
		return nil, fmt.Errorf("%w: %w", errRefused, err)
	}
	return sock, nil
}

// Open makes a socket of a request that is in no set: the caller counts it, has it end when
// the server stops, and must Run it. queue is how many messages may wait for the writer, and
// wait how long the client may take for one. protocol is the subprotocol, which the caller has
// found among those of the client; empty: none. An error means that the client has been
// answered: the request is no upgrade.
func Open(w http.ResponseWriter, r *http.Request, queue int, wait time.Duration, protocol string) (*Socket, error) {
	h := handshake(r)
	if protocol != "" {
		h.Set("Sec-WebSocket-Protocol", protocol)
	}
	conn, err := upgrader.Upgrade(w, r, h)
	if err != nil {
		return nil, err
	}
	return newSocket(r.Context(), conn, nil, Object, queue, wait), nil
}

// handshake is the header of the answer that makes a request a socket: it names the request, as other answers do.
func handshake(r *http.Request) http.Header {
	h := http.Header{}
	if id := api.RequestIDOf(r.Context()); id != "" {
		h.Set(api.RequestHeader, id)
	}
	return h
}

// enter takes a socket in.
func (s *Set) enter(sock *Socket) error {
	if !s.Limits.Open(sock.owner) {
		return ErrTooMany
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last {
		s.Limits.Closed(sock.owner)
		return api.ErrDraining
	}
	s.open[sock] = struct{}{}
	return nil
}

// leave lets a socket go; one that never came in may go, too.
func (s *Set) leave(sock *Socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, in := s.open[sock]; !in {
		return
	}
	delete(s.open, sock)
	s.Limits.Closed(sock.owner)
	if s.last && len(s.open) == 0 {
		close(s.empty)
	}
}

// Open is how many sockets there are.
func (s *Set) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Drain refuses new sockets, asks those that are open to end, and returns when
// none is left. When ctx ends first the rest is cut off; an error says that some
// have not ended 5 s later.
func (s *Set) Drain(ctx context.Context) error {
	s.mu.Lock()
	if !s.last {
		s.last = true
		close(s.draining)
		if len(s.open) == 0 {
			close(s.empty)
		}
	}
	s.mu.Unlock()
	select {
	case <-s.empty:
		return nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	for sock := range s.open {
		sock.end(Restart, "The server is stopping.", ErrCut)
	}
	s.mu.Unlock()
	t := time.NewTimer(cutPatience)
	defer t.Stop()
	select {
	case <-s.empty:
		return nil
	case <-t.C:
		return fmt.Errorf("socket: %d did not end: %w", s.Open(), context.Cause(ctx))
	}
}

// Form makes the frame that tells a kind of client of an error.
type Form func(api.Problem) any

// Object is the form of clients that read an object: its data has the code, the
// sentence and what exactly was wrong. The sentence stands beside it once more,
// where some clients look for it.
func Object(p api.Problem) any {
	return struct {
		Type    string     `json:"type"`
		Data    wire.Fault `json:"data"`
		Message string     `json:"message"`
	}{"error", wire.Fault{Code: p.Code, Message: p.Message, Detail: p.Detail, Retryable: p.Retryable}, p.Message}
}

// Sentence is the form of clients that show the data as it is.
func Sentence(p api.Problem) any {
	return struct {
		Type      string `json:"type"`
		Data      string `json:"data"`
		Code      string `json:"code"`
		Detail    string `json:"detail"`
		Retryable bool   `json:"retryable"`
	}{"error", p.Message, p.Code, p.Detail, p.Retryable}
}
