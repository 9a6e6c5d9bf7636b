// Package loopbacktest holds what the loopback fakes of remote engines share: a Server
// that listens on 127.0.0.1, keeps the books of what it received and the list of its
// client's mistakes; a Fault, which is what it does wrong on purpose; a Model, a server of a
// language model with its script; a Socket, one connection over WebSocket that meets its
// fault, and a Queue for what it says; golden exchanges, and the tests that all fakes have.
//
// A fake of one engine embeds a Server and speaks that engine's protocol. It refuses what
// the engine refuses. Everything here is safe for concurrent use, and Close leaves no
// goroutine behind.
package loopbacktest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// errClosed is why the context of a closed server ended.
var errClosed = errors.New("the server was closed")

// Server is the part of a fake that is the same for every engine.
type Server struct {
	URL string // http://127.0.0.1:port
	Key string // the only key that is accepted

	http   *http.Server
	ctx    context.Context
	end    context.CancelCauseFunc
	work   sync.WaitGroup // connections, and what they began
	faults []Fault

	mu         sync.Mutex
	closed     bool
	attempts   int // connections or requests that asked for their fault
	busy       int
	numbers    int // identifiers given
	books      Books
	opened     map[*Socket]time.Time
	violations []string
}

// Listen begins to serve h on a free port of 127.0.0.1. The faults belong to the
// connections in turn, as Fault says.
func Listen(key string, faults []Fault, h http.Handler) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{URL: "http://" + l.Addr().String(), Key: key, faults: slices.Clone(faults), opened: map[*Socket]time.Time{}}
	s.ctx, s.end = context.WithCancelCause(context.Background())
	s.http = &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !s.begin() {
				return
			}
			defer s.work.Done()
			h.ServeHTTP(w, r)
		}),
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connKey{}, c) },
		ErrorLog:    log.New(io.Discard, "", 0), // connections that are cut are meant
	}
	s.work.Go(func() { _ = s.http.Serve(listener{l}) })
	return s, nil
}

// begin counts one more goroutine that Close waits for, unless the server is closed.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.work.Add(1)
	}
	return !s.closed
}

// Go runs f in a goroutine that Close waits for. After Close it does nothing.
func (s *Server) Go(f func()) {
	if s.begin() {
		go func() {
			defer s.work.Done()
			f()
		}()
	}
}

// Done is closed when the server is.
func (s *Server) Done() <-chan struct{} { return s.ctx.Done() }

// Close cuts all connections and waits until everything has ended. It may be called again.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	_ = s.http.Close() // before anything that ends now could still be answered
	s.end(errClosed)
	s.mu.Lock()
	for k := range s.opened {
		_ = k.conn.NetConn().Close()
	}
	s.mu.Unlock()
	s.work.Wait()
}

// Watch closes the server when the test ends. It reports the violations then, but for those
// that contain one of the texts of expects, and each text of expects that none contains.
func (s *Server) Watch(t testing.TB, expects []string) {
	t.Cleanup(func() {
		s.Close()
		list := s.Violations()
		for _, v := range list {
			if !slices.ContainsFunc(expects, func(e string) bool { return strings.Contains(v, e) }) {
				t.Errorf("the client made a mistake: %s", v)
			}
		}
		for _, e := range expects {
			if !slices.ContainsFunc(list, func(v string) bool { return strings.Contains(v, e) }) {
				t.Errorf("the client did not make the mistake %q", e)
			}
		}
	})
}

// Violate notes a mistake of the client. The text must not contain keys.
func (s *Server) Violate(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.violations = append(s.violations, fmt.Sprintf(format, args...))
}

// Violations lists the mistakes of the client so far. The caller owns the list.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Enter counts a stream, context or request that begins, unless limit of them are in progress
// already; 0: there is no limit. Each true is followed by one Leave.
func (s *Server) Enter(limit int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if limit > 0 && s.busy >= limit {
		return false
	}
	s.busy++
	return true
}

// Leave counts the end of what Enter counted.
func (s *Server) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy--
}

// Busy is how many streams, contexts or requests are in progress.
func (s *Server) Busy() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.busy
}

// Wait waits for d, and says whether neither the server nor ctx ended before.
func (s *Server) Wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil && s.ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.ctx.Done():
	}
	return false
}

// ID is a new random identifier in the form of a UUID.
func ID() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Draw is one delay of a script's function; nil draws 0.
func Draw(f func() time.Duration) time.Duration {
	if f == nil {
		return 0
	}
	return f()
}
