package wsagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/talk"
	"parley/api/wsagent"
	"parley/media"
	"parley/store"
)

const (
	goodKey       = "sk_good"
	sessionTicket = "wst_session"
)

// keys knows one key and one session ticket.
type keys struct{}

func (keys) Authenticate(_ context.Context, secret string, _ time.Time) (api.Principal, error) {
	p := api.Principal{Account: "acc_1", Key: "key_1"}
	switch secret {
	case goodKey:
	case sessionTicket:
		p.Ticket = &api.Ticket{ID: "tkt_1", Agent: "ag_1", MaxSessions: 1}
	default:
		return api.Principal{}, fmt.Errorf("authenticate: %w", store.ErrUnauthorized)
	}
	return p, nil
}

// agents admits conversations that run the given function, or refuses.
type agents struct {
	refuse   error
	converse func(ctx context.Context, c talk.Change, leg *wsagent.Leg)

	mu      sync.Mutex
	agentID string
	told    chan string // what reached the conversation besides audio
}

func (a *agents) Admit(_ context.Context, p api.Principal, agentID string) (talk.Conversation, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.agentID = agentID
	if a.refuse != nil {
		return nil, a.refuse
	}
	if p.Account != "acc_1" {
		return nil, errors.New("admitted a stranger")
	}
	return conversation{a}, nil
}

// conversation is one of agents.
type conversation struct{ a *agents }

func (t conversation) Converse(ctx context.Context, c talk.Change, leg talk.Leg) {
	t.a.converse(ctx, c, leg.(*wsagent.Leg))
}
func (t conversation) Cancel()                      { t.a.note("cancel") }
func (t conversation) Type(text string)             { t.a.note("type " + text) }
func (t conversation) Interrupt()                   { t.a.note("interrupt") }
func (t conversation) ToolResult(id, result string) { t.a.note("tool " + id + " " + result) }
func (t conversation) Update(c talk.Change)         { t.a.note("update " + describe(c)) }

func (a *agents) note(s string) { a.told <- s }

// describe writes a change down.
func describe(c talk.Change) string {
	var parts []string
	add := func(name string, v *string) {
		if v != nil {
			parts = append(parts, fmt.Sprintf("%s=%q", name, *v))
		}
	}
	add("voice", c.Voice)
	add("language", c.Language)
	add("prompt", c.Prompt)
	if c.ToolsSet {
		names := []string{}
		for _, t := range c.Tools {
			names = append(names, t.Name)
		}
		parts = append(parts, "tools="+strings.Join(names, ","))
	}
	return strings.Join(parts, " ")
}

// attend runs the leg for a conversation that only listens.
func attend(ctx context.Context, _ talk.Change, leg *wsagent.Leg) {
	leg.Status("prompt_set", 0)
	_ = leg.Run(ctx)
}

// server serves a Handler until the end of the test, and waits for every
// connection's goroutines then.
type server struct {
	*httptest.Server
	agents  *agents
	dialer  *websocket.Dialer
	serving sync.WaitGroup
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

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

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

// inMemory says that a server is to be reached in memory.
const (
	inMemory    = true
	overNetwork = false
)

func newServer(t *testing.T, memory bool, a *agents, limits *talk.ConnectLimits) *server {
	t.Helper()
	a.told = make(chan string, 100)
	if a.converse == nil {
		a.converse = attend
	}
	s := &server{agents: a, dialer: &websocket.Dialer{}}
	routes := api.New(keys{})
	wsagent.Mount(routes, &wsagent.Handler{Agents: a, Limits: limits, Log: slog.New(slog.DiscardHandler)})
	h := routes.Handler(api.Options{})
	counted := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serving.Add(1)
		defer s.serving.Done()
		h.ServeHTTP(w, r)
	})
	s.Server = httptest.NewUnstartedServer(counted)
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

// url is the address of the socket.
func (s *server) url(query string) string {
	return "ws" + strings.TrimPrefix(s.URL, "http") + "/ws/agent" + query
}

// connect opens a socket with the good key.
func (s *server) connect(t *testing.T) *peer {
	t.Helper()
	return s.connectWith(t, goodKey)
}

func (s *server) connectWith(t *testing.T, credential string) *peer {
	t.Helper()
	conn, _, err := s.dialer.Dial(s.url(""), http.Header{"X-Api-Key": {credential}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return &peer{t: t, Conn: conn}
}

// peer is a client without any wits of its own.
type peer struct {
	t *testing.T
	*websocket.Conn
}

// msg is a message of the server.
type msg struct {
	Type, Role, Replaces, Name, Arguments string
	CallID                                string `json:"call_id"`
	Generation, Playback, Input           int
	Data                                  any
	audio                                 []byte
}

func (p *peer) say(format string, args ...any) {
	p.t.Helper()
	if err := p.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, format, args...)); err != nil {
		p.t.Fatal(err)
	}
}

func (p *peer) sound(b []byte) {
	p.t.Helper()
	if err := p.WriteMessage(websocket.BinaryMessage, b); err != nil {
		p.t.Fatal(err)
	}
}

// next is the next message, or how the connection ended.
func (p *peer) next() (m msg, err error) {
	kind, b, err := p.ReadMessage()
	if err != nil {
		return m, err
	}
	if kind == websocket.BinaryMessage {
		return msg{Type: "audio", audio: b}, nil
	}
	if err := json.Unmarshal(b, &m); err != nil {
		p.t.Errorf("message %s: %v", b, err)
	}
	return m, nil
}

// want reads messages until one of the type.
func (p *peer) want(kind string) msg {
	p.t.Helper()
	for {
		m, err := p.next()
		if err != nil {
			p.t.Fatalf("waiting for %s: %v", kind, err)
		}
		if m.Type == kind {
			return m
		}
	}
}

// wantStatus reads messages until the status.
func (p *peer) wantStatus(status string) {
	p.t.Helper()
	for p.want("status").Data != status {
	}
}

// wantClose reads on to the end of the connection.
func (p *peer) wantClose(code int) (reason string) {
	p.t.Helper()
	for {
		if _, err := p.next(); err != nil {
			e, ok := errors.AsType[*websocket.CloseError](err)
			if !ok || e.Code != code {
				p.t.Fatalf("the connection ended with %v, want code %d", err, code)
			}
			return e.Text
		}
	}
}

// wantTold waits for what the conversation is told.
func (s *server) wantTold(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-s.agents.told:
		if got != want {
			t.Errorf("the conversation was told %q, want %q", got, want)
		}
	case <-time.After(5 * time.Second):
		t.Fatalf("the conversation was not told %q", want)
	}
}

// ended is an end of a conversation.
func ended(reason media.EndReason, detail string) *media.Ended {
	return &media.Ended{Reason: reason, Detail: detail}
}
