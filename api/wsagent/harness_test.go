package wsagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/api/apitest"
	"parley/api/talk"
	"parley/api/wsagent"
	"parley/media"
)

const (
	goodKey       = "sk_good"
	sessionTicket = "wst_session"
)

// keys are one key and one session ticket.
var keys = apitest.Keys{
	goodKey:       {Account: "acc_1", Key: "key_1"},
	sessionTicket: {Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{ID: "tkt_1", Agent: "ag_1", MaxSessions: 1}},
}

// agents admits conversations that run the given function, or refuses.
type agents struct {
	refuse   error
	converse func(ctx context.Context, c talk.Change, leg *wsagent.Leg)

	mu       sync.Mutex
	admitted int
	agentID  string
	told     chan string // what reached the conversation besides audio
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
	a.admitted++
	return conversation{a, fmt.Sprintf("ses_%d", a.admitted)}, nil
}

// conversation is one of agents.
type conversation struct {
	a  *agents
	id string
}

func (t conversation) ID() string { return t.id }

func (t conversation) Converse(ctx context.Context, c talk.Change, leg talk.Leg) {
	t.a.converse(ctx, c, leg.(*wsagent.Leg))
}
func (t conversation) Cancel()                      { t.a.note("cancel") }
func (t conversation) Fail()                        { t.a.note("fail") }
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

// server serves a Handler until the end of the test.
type server struct {
	*apitest.Server
	agents *agents
}

func newServer(t *testing.T, where apitest.Place, a *agents, limits *talk.ConnectLimits) *server {
	t.Helper()
	a.told = make(chan string, 100)
	if a.converse == nil {
		a.converse = attend
	}
	routes := api.New(keys)
	wsagent.Mount(routes, &wsagent.Handler{Agents: a, Limits: limits, Log: slog.New(slog.DiscardHandler)})
	return &server{Server: apitest.Serve(t, where, routes.Handler(api.Options{})), agents: a}
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
	return &peer{t: t, Conn: s.Connect(t, "/ws/agent", http.Header{"X-Api-Key": {credential}})}
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
func ended(reason media.EndReason, detail media.EndDetail) *media.Ended {
	return &media.Ended{Reason: reason, Detail: detail}
}
