package apitest

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/store"
)

// Keys are the credentials that a server in a test knows, and whose they are.
type Keys map[string]api.Principal

// Authenticate implements api.Authenticator; store.ErrUnauthorized is for all that it
// does not know.
func (k Keys) Authenticate(_ context.Context, secret string) (api.Principal, error) {
	p, ok := k[secret]
	if !ok {
		return p, store.ErrUnauthorized
	}
	return p, nil
}

// Place is how a Server is reached.
type Place bool

const (
	// OverNetwork is by a port of the loopback address.
	OverNetwork Place = false
	// InMemory is by pipes: with them a server and its clients take part in the
	// simulated time of testing/synctest.
	InMemory Place = true
)

// Server serves a handler until the end of a test, and waits for every request's
// goroutine then, those of sockets too.
type Server struct {
	*httptest.Server
	Dialer *websocket.Dialer // reaches the server wherever it is; may be changed before use

	serving sync.WaitGroup
}

// Serve starts a server.
func Serve(t testing.TB, where Place, h http.Handler) *Server {
	t.Helper()
	s := &Server{Dialer: &websocket.Dialer{}}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serving.Add(1)
		defer s.serving.Done()
		h.ServeHTTP(w, r)
	}))
	if where == InMemory {
		l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
		s.Listener.Close()
		s.Listener = l
		s.Dialer.NetDialContext = l.dial
	}
	s.Start()
	if where == InMemory {
		s.Client().Transport.(*http.Transport).DialContext = s.Dialer.NetDialContext
	}
	t.Cleanup(func() {
		s.Client().CloseIdleConnections()
		s.Close()
		s.Wait()
	})
	return s
}

// Wait waits until no request is being served.
func (s *Server) Wait() { s.serving.Wait() }

// Connect opens a socket at a path, which may hold a query; it is closed at the end of
// the test.
func (s *Server) Connect(t testing.TB, path string, header http.Header) *websocket.Conn {
	t.Helper()
	conn, answer, err := s.Dialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+path, header)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Header.Get(api.RequestHeader) == "" {
		t.Error("the handshake does not name its request")
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// listener accepts connections in memory.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.once.Do(func() { close(l.done) }); return nil }
func (l *listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (l *listener) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
