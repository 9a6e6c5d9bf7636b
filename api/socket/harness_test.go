package socket_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/apitest"
	"parley/api/socket"
)

var keys = apitest.Keys{"sk_good": {Account: "acc_1", Key: "key_1"}}

// server serves sockets of a set; what they do is a function's.
type server struct {
	*apitest.Server
	set  *socket.Set
	in   socket.Incoming
	work func(context.Context, *socket.Socket)
}

// idle is work that waits for the end.
func idle(ctx context.Context, _ *socket.Socket) { <-ctx.Done() }

func newServer(t *testing.T, where apitest.Place, in socket.Incoming, work func(context.Context, *socket.Socket)) *server {
	t.Helper()
	s := &server{set: socket.NewSet(), in: in, work: work}
	routes := api.New(keys)
	routes.Handle(api.Route{Access: api.Service, Operation: huma.Operation{Method: http.MethodGet, Path: "/ws", Hidden: true}}, http.HandlerFunc(s.serve))
	s.Server = apitest.Serve(t, where, routes.Handler(api.Options{}))
	s.Dialer.EnableCompression = true
	return s
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	sock, err := s.set.Upgrade(w, r, socket.Object)
	if err != nil {
		return
	}
	sock.Run(s.in, func(ctx context.Context) { s.work(ctx, sock) })
}

func (s *server) connect(t *testing.T) *websocket.Conn {
	t.Helper()
	return s.Connect(t, "/ws", http.Header{"X-Api-Key": {"sk_good"}, "Origin": {"https://elsewhere.example"}})
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
