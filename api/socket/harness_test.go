package socket_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/socket"
	"parley/store"
)

type keys struct{}

func (keys) Authenticate(_ context.Context, secret string, _ time.Time) (api.Principal, error) {
	if secret != "sk_good" {
		return api.Principal{}, store.ErrUnauthorized
	}
	return api.Principal{Account: "acc_1", Key: "key_1"}, nil
}

// server serves sockets of a set; what they do is a function's.
type server struct {
	*httptest.Server
	set     *socket.Set
	dialer  *websocket.Dialer
	serving sync.WaitGroup
	in      socket.Incoming
	work    func(context.Context, *socket.Socket)
}

// listener accepts connections in memory: with it a server and its clients take
// part in simulated time.
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

const (
	inMemory    = true
	overNetwork = false
)

// idle is work that waits for the end.
func idle(ctx context.Context, _ *socket.Socket) { <-ctx.Done() }

func newServer(t *testing.T, memory bool, in socket.Incoming, work func(context.Context, *socket.Socket)) *server {
	t.Helper()
	s := &server{set: socket.NewSet(), dialer: &websocket.Dialer{EnableCompression: true}, in: in, work: work}
	routes := api.New(keys{})
	routes.Handle(api.Route{Access: api.Service, Operation: huma.Operation{Method: http.MethodGet, Path: "/ws", Hidden: true}}, http.HandlerFunc(s.serve))
	s.Server = httptest.NewUnstartedServer(routes.Handler(api.Options{}))
	if memory {
		l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
		s.Listener.Close()
		s.Listener = l
		s.dialer.NetDialContext = l.dial
	}
	s.Start()
	t.Cleanup(func() {
		s.Close()
		s.serving.Wait()
	})
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	s.serving.Add(1)
	defer s.serving.Done()
	sock, err := s.set.Upgrade(w, r, socket.Object)
	if err != nil {
		return
	}
	sock.Run(s.in, func(ctx context.Context) { s.work(ctx, sock) })
}

func (s *server) connect(t *testing.T) *websocket.Conn {
	t.Helper()
	conn, _, err := s.dialer.Dial("ws"+strings.TrimPrefix(s.URL, "http")+"/ws", http.Header{
		"X-Api-Key": {"sk_good"}, "Origin": {"https://elsewhere.example"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// wantClose reads on to the end of the connection.
func wantClose(t *testing.T, conn *websocket.Conn, code int) (reason string) {
	t.Helper()
	for {
		if _, _, err := conn.ReadMessage(); err != nil {
			e, ok := errors.AsType[*websocket.CloseError](err)
			if !ok || e.Code != code {
				t.Fatalf("the connection ended with %v, want code %d", err, code)
			}
			return e.Text
		}
	}
}

// problem is an error frame.
type problem struct {
	Type    string
	Message string
	Data    struct {
		Code, Message, Detail string
		Retryable             bool
	}
}

func wantError(t *testing.T, conn *websocket.Conn, code string) problem {
	t.Helper()
	var p problem
	_, b, err := conn.ReadMessage()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &p); err != nil || p.Type != "error" || p.Data.Code != code || p.Message != p.Data.Message {
		t.Errorf("%s, want %s", b, code)
	}
	return p
}
