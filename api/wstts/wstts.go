// Package wstts is streaming speech synthesis over a WebSocket: each text message
// of the client is a job, whose audio comes back as it is made. Jobs of a socket
// run one after the other, for no message says which job it belongs to. A socket
// without a job costs nothing.
package wstts

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"parley/api"
	"parley/api/socket"
	"parley/api/tts"
)

const (
	// queueSize is how many jobs may wait behind the one that runs: clients send
	// one at a time, a few send ahead.
	queueSize = 16
	// idleMax is how long a socket may be without a job: some clients keep one in
	// reserve for minutes.
	idleMax = 10 * time.Minute
	// keepAliveEvery is how long a job may be silent: some clients give up after
	// two seconds without a message.
	keepAliveEvery = time.Second
)

// Handler serves the sockets. Mount adds it to an API.
type Handler struct {
	Speech  *tts.Service
	Books   api.Books
	Sockets *socket.Set
	// Admit says at the opening of a socket whether the account may start anything
	// now, or why not. Nil: it may.
	Admit func(context.Context, api.Principal) error
	Log   *slog.Logger // nil: nothing is logged
}

// ServeHTTP upgrades and serves one socket. It returns when it has ended.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	sock, err := h.Sockets.Upgrade(w, r, socket.Object)
	if err != nil {
		return // answered where this was found
	}
	s := &session{Handler: h, sock: sock, who: api.PrincipalOf(r.Context()),
		jsonEnd: r.URL.Query().Get("eos") == "json", queue: newQueue()}
	sock.Run(socket.Incoming{Text: s.ask, Binary: s.misplaced}, s.work)
}

// session is one socket's.
type session struct {
	*Handler
	sock    *socket.Socket
	who     api.Principal
	jsonEnd bool // the client wants the end of a job as JSON, too
	queue   *queue
}

// ask takes a request. It runs on the reader. What is wrong with a request is reported
// when its turn comes, or it would be taken for the end of another job.
func (s *session) ask(b []byte) {
	r := &request{at: time.Now()}
	a, err := tts.ParseAsk(b)
	if err == nil {
		r.Request, err = s.Speech.Check(a, tts.Streaming)
	}
	r.refused = err
	s.queue.put(r)
}

// misplaced takes a binary message, which is never right.
func (s *session) misplaced([]byte) {
	s.queue.put(&request{refused: api.Bad("a text message with a JSON object is expected")})
}

// work does the jobs until the socket has ended.
func (s *session) work(ctx context.Context) {
	if s.Admit != nil {
		if err := s.Admit(ctx, s.who); err != nil {
			s.sock.Refuse(err)
			return
		}
	}
	idle := time.NewTimer(idleMax)
	defer idle.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.sock.Draining():
			s.sock.Close(socket.GoingAway, "The server is stopping.")
			return
		case <-idle.C:
			s.sock.Close(socket.Normal, "No request has come for ten minutes.")
			return
		case <-s.queue.ready:
		}
		if r := s.queue.take(); r != nil {
			s.answer(ctx, r)
			idle.Reset(idleMax)
		}
	}
}

// errFull refuses a request for which there was no room.
var errFull = api.Detail(api.ErrJobs, "16 requests are waiting on this connection")

// answer does a job and tells the client how it ended, by one message.
func (s *session) answer(ctx context.Context, r *request) {
	err := r.refused
	if err == nil {
		err = s.do(ctx, r)
	}
	switch {
	case ctx.Err() != nil: // nobody is there
		return
	case err != nil:
		s.sock.Error(err)
	default:
		if s.jsonEnd {
			s.sock.SendText([]byte(`{"type":"eos"}`))
		}
		s.sock.SendText([]byte("EOS"))
	}
	for range s.queue.overflow(r) {
		s.sock.Error(errFull)
	}
}

// failed notes that a job failed on our side. A client that went, or that may not do
// what it asked for, is no failure.
func (s *session) failed(ctx context.Context, err error) {
	if s.Log != nil && !errors.Is(err, context.Canceled) && api.ProblemOf(err).Status >= 500 {
		api.LogOf(ctx, s.Log).Warn("a synthesis job failed", "account", s.who.Account, "err", err)
	}
}

// request is a job that a client has asked for.
type request struct {
	tts.Request
	refused error // what is wrong with it
	at      time.Time
	// behind counts the requests that came while the queue was full and this one
	// was the last of it.
	behind int
}

// queue is the jobs that wait. When it is full a request is refused, which the
// client learns in its turn: there is nothing to tell jobs apart but their order.
type queue struct {
	ready chan struct{} // capacity 1: there may be something to take

	mu   sync.Mutex
	list []*request
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

// put adds a request.
func (q *queue) put(r *request) {
	q.mu.Lock()
	if n := len(q.list); n == queueSize {
		q.list[n-1].behind++
	} else {
		q.list = append(q.list, r)
	}
	q.mu.Unlock()
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default: // the worker knows already
	}
}

// take removes the next request; nil when there is none.
func (q *queue) take() *request {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		q.list = nil
		return nil
	}
	r := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	if len(q.list) > 0 {
		q.wake()
	}
	return r
}

// overflow is how many requests were refused behind one that was taken.
func (q *queue) overflow(r *request) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return r.behind
}
