package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/api/apitest"
	"parley/billing"
	"parley/cmd/parley/config"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/people"
	"parley/store/storetest"
)

// patience only bounds a hang; nothing here asserts how long something takes.
const patience = 20 * time.Second

// site is two nodes that share a database and a secret, and an account with a key
// and an agent in a language that nobody has to hear.
type site struct {
	*testing.T
	nodes   [2]*Node
	servers [2]*httptest.Server
	log     logged

	account, key, keyID, agent string

	networks int // that were tried, see settled
}

// logged keeps what nodes say.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func newSite(t *testing.T, settings ...string) *site {
	t.Helper()
	s := &site{T: t}
	url := storetest.URL(t)
	for i := range s.nodes {
		// Some tests ask at every route at once.
		cfg, _, err := config.Load(config.Sources{Env: append([]string{"PARLEY_SIP_ADDR=off", "PARLEY_RATE_LIMIT=500", fmt.Sprintf("PARLEY_NODE=node-%d", i)}, settings...)})
		s.ok(err)
		n, err := Open(t.Context(), cfg, url, "a master secret of a test, long enough", prometheus.NewRegistry(),
			slog.New(slog.NewTextHandler(&s.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		s.ok(err)
		ctx, stop := context.WithCancel(context.Background())
		done := make(chan struct{})
		go func() { defer close(done); _ = n.manager.Run(ctx) }()
		s.nodes[i], s.servers[i] = n, httptest.NewServer(n.Handler())
		t.Cleanup(func() {
			// The time is up at once: agents say goodbye, and then it is over.
			over, cancel := context.WithCancel(context.Background())
			cancel()
			if err := n.Drain(over); err != nil {
				t.Error(err)
			}
			s.servers[i].Close()
			stop()
			<-done
			_ = n.Close()
		})
	}
	db, now := s.nodes[0].db, time.Now()
	a, err := ledger.New(db).CreateAccount(t.Context(), "A", s.nodes[0].db.RateCard())
	s.ok(err)
	_, _, err = ledger.New(db).Credit(t.Context(), ledger.Credit{Account: a.ID, Kind: ledger.Topup, Amount: 20 * billing.USD, Key: "pi:1", Source: "sim"})
	s.ok(err)
	k, key, err := people.New(db).MakeKey(storetest.At(t.Context(), now), people.NewKey{Account: a.ID, Name: "first", Role: people.RoleMember})
	s.ok(err)
	agent, err := db.CreateAgent(t.Context(), a.ID, store.Agent{Name: "Ana", Voice: "F1", Language: "eu"})
	s.ok(err)
	s.account, s.key, s.keyID, s.agent = a.ID, key, k.ID, agent.ID
	return s
}

func (s *site) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// ask sends a request to the first node; the answer's body is JSON, or nothing.
func (s *site) ask(method, path, credential, body string) (int, map[string]any) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.servers[0].URL+path, strings.NewReader(body))
	s.ok(err)
	r.Header.Set("Authorization", "Bearer "+credential)
	r.Header.Set("Content-Type", "application/json")
	res, err := apitest.Client(s, apitest.Published(s)).Do(r)
	s.ok(err)
	defer res.Body.Close()
	out := map[string]any{}
	_ = json.NewDecoder(res.Body).Decode(&out) // not every answer has a body
	return res.StatusCode, out
}

// minted is a new ticket of a route.
func (s *site) minted(path, credential, body string) string {
	s.Helper()
	status, out := s.ask("POST", path, credential, body)
	ticket, _ := out["ticket"].(string)
	if status != 200 || !strings.HasPrefix(ticket, "wst_") {
		s.Fatalf("%s: %d %v", path, status, out)
	}
	return ticket
}

// talker is one client's conversation.
type talker struct{ *websocket.Conn }

// dial connects as a browser does; the status is that of the upgrade.
func (s *site) dial(node int, credential, agent string) (*talker, int) {
	s.Helper()
	url := "ws" + strings.TrimPrefix(s.servers[node].URL, "http") + "/ws/agent?api_key=" + credential
	if agent != "" {
		url += "&agent_id=" + agent
	}
	conn, res, err := websocket.DefaultDialer.Dial(url, nil)
	if err != nil {
		if res == nil {
			s.Fatal(err)
		}
		return nil, res.StatusCode
	}
	s.ok(conn.SetReadDeadline(time.Now().Add(patience)))
	s.Cleanup(func() { conn.Close() })
	return &talker{conn}, res.StatusCode
}

// until reads on to a status of the conversation. refused is the code of an error
// that came before, and closed how the connection ended, when it did.
func (c *talker) until(status string) (refused string, closed int) {
	for {
		kind, b, err := c.ReadMessage()
		if e, ok := errors.AsType[*websocket.CloseError](err); ok {
			return refused, e.Code
		}
		if err != nil {
			return err.Error(), 0
		}
		var m struct {
			Type string
			Data json.RawMessage
		}
		if kind != websocket.TextMessage || json.Unmarshal(b, &m) != nil {
			continue
		}
		var fault struct{ Code string }
		switch {
		case m.Type == "error" && json.Unmarshal(m.Data, &fault) == nil && fault.Code != "stt.not_configured":
			refused = fault.Code
		case m.Type == "status" && string(m.Data) == `"`+status+`"`:
			return refused, 0
		}
	}
}

// wantTalk makes a turn.
func (s *site) wantTalk(c *talker) {
	s.Helper()
	s.ok(c.WriteMessage(websocket.TextMessage, []byte(`{"type":"text","data":"hello"}`)))
	if refused, closed := c.until("thinking"); refused != "" || closed != 0 {
		s.Fatalf("the conversation does not go on: %s, closed %d", refused, closed)
	}
}

func (s *site) wantBegun(c *talker) {
	s.Helper()
	if refused, closed := c.until("prompt_set"); refused != "" || closed != 0 {
		s.Fatalf("refused with %s, closed %d", refused, closed)
	}
}

// TestTicketFromMintToRevocation follows one ticket: it opens a conversation on
// either node, which outlives it and its key; nothing new opens then.
func TestTicketFromMintToRevocation(t *testing.T) {
	s := newSite(t)
	ticket := s.minted("/ws-ticket", s.key, "")
	first, _ := s.dial(0, ticket, s.agent)
	s.wantBegun(first)
	renewed := s.minted("/ws-ticket", ticket, "")
	second, _ := s.dial(1, renewed, "")
	s.ok(second.WriteMessage(websocket.TextMessage, []byte(`{"type":"language","data":"eu"}`)))
	s.wantBegun(second)
	if status, out := s.ask("GET", "/v1/keys", ticket, ""); status != 403 || out["code"] != "auth.ticket_not_allowed" {
		t.Errorf("management with a ticket: %d %v", status, out)
	}

	short := s.nodes[0].tickets.Sign(api.Principal{Account: s.account, Key: s.keyID, Ticket: &api.Ticket{Expires: time.Now().Add(time.Second)}})
	third, status := s.dial(0, short, s.agent)
	if third == nil {
		t.Fatalf("before it expires: %d", status)
	}
	s.wantBegun(third)
	for end := time.Now().Add(patience); ; {
		if status, _ := s.ask("POST", "/ws-ticket", short, ""); status == 401 {
			break
		} else if time.Now().After(end) {
			t.Fatal("it does not expire")
		}
	}
	s.wantTalk(third)

	if status, _ := s.ask("DELETE", "/v1/keys/"+s.keyID, s.key, ""); status != 204 {
		t.Fatalf("revoke: %d", status)
	}
	for i, credential := range []string{ticket, renewed, short, s.key} {
		for node := range s.nodes {
			if _, status := s.dial(node, credential, s.agent); status != 401 {
				t.Errorf("credential %d on node %d: %d", i, node, status)
			}
		}
	}
	s.wantTalk(first)
	s.wantTalk(second)
	s.wantSilentLog()
}

// wantSilentLog: nodes that log everything have told no secret.
func (s *site) wantSilentLog() {
	s.Helper()
	text := s.log.String()
	if !strings.Contains(text, "path=/ws/agent") && !strings.Contains(text, "path=/ws-ticket") {
		s.Fatalf("too little was logged to look at:\n%s", text)
	}
	if secret := regexp.MustCompile(`(sk|wst)_[A-Za-z0-9]{4}|api_key`).FindString(text); secret != "" {
		s.Errorf("the log holds %s…", secret)
	}
}

// TestSessionTicket: one agent's conversations, as many as it says on all nodes
// together, for as long as it says, and nothing else.
func TestSessionTicket(t *testing.T) {
	s := newSite(t)
	ticket := s.minted("/v1/session-tickets", s.key, `{"agent_id":"`+s.agent+`","max_sessions":3}`)

	type end struct {
		refused string
		closed  int
	}
	ends := make(chan end, 12)
	var wg sync.WaitGroup
	for i := range cap(ends) {
		wg.Go(func() {
			agent := ""
			if i%3 == 0 {
				agent = s.agent
			}
			c, status := s.dial(i%2, ticket, agent)
			if c == nil {
				ends <- end{fmt.Sprint("HTTP ", status), 0}
				return
			}
			refused, closed := c.until("prompt_set")
			ends <- end{refused, closed}
		})
	}
	wg.Wait()
	close(ends)
	counts := map[end]int{}
	for e := range ends {
		counts[e]++
	}
	if counts[end{}] != 3 || counts[end{"auth.time_limited", 1008}] != 9 {
		t.Errorf("%v; want 3 begun and 9 refused", counts)
	}

	fresh := s.minted("/v1/session-tickets", s.key, `{"agent_id":"`+s.agent+`"}`)
	other, err := s.nodes[0].db.CreateAgent(t.Context(), s.account, store.Agent{Name: "Bea", Voice: "F1", Language: "eu"})
	s.ok(err)
	for _, agent := range []string{other.ID, "ag_none"} {
		c, _ := s.dial(0, fresh, agent)
		if refused, closed := c.until("prompt_set"); refused != "auth.ticket_not_allowed" || closed != 1008 {
			t.Errorf("another agent: %s, closed %d", refused, closed)
		}
	}
	s.wantNothingElse(fresh)
	c, _ := s.dial(1, fresh, "")
	s.wantBegun(c)
	s.wantSilentLog()
}

// wantNothingElse asks at every route but the agents' own.
func (s *site) wantNothingElse(ticket string) {
	s.Helper()
	asked := 0
	for path, item := range s.nodes[0].routes().Document().Paths {
		path = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "x")
		for method, op := range map[string]bool{"GET": item.Get != nil, "POST": item.Post != nil, "PUT": item.Put != nil,
			"PATCH": item.Patch != nil, "DELETE": item.Delete != nil} {
			if !op || path == "/ws/agent" || strings.HasPrefix(path, "/webrtc/agent") {
				continue
			}
			status, out := s.ask(method, path, ticket, "{}")
			if public, _ := s.ask(method, path, "", "{}"); public == 401 {
				asked++
				if status != 403 || out["code"] != "auth.ticket_not_allowed" {
					s.Errorf("%s %s: %d %v", method, path, status, out)
				}
			}
		}
	}
	if asked < 10 {
		s.Errorf("only %d routes were asked", asked)
	}
}

// TestSessionTicketBoundsTheConversation: the agent ends it when the ticket says so.
func TestSessionTicketBoundsTheConversation(t *testing.T) {
	s := newSite(t)
	ticket := s.nodes[0].tickets.Sign(api.Principal{Account: s.account, Key: s.keyID,
		Ticket: &api.Ticket{Expires: time.Now().Add(time.Minute), Agent: s.agent, MaxSessions: 1, MaxDuration: time.Second}})
	c, _ := s.dial(0, ticket, "")
	s.wantBegun(c)
	if refused, closed := c.until("never"); closed != 1008 && closed != 1000 {
		t.Errorf("ended with %s, closed %d", refused, closed)
	}
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	for {
		calls, err := history.New(s.nodes[0].db).Calls(ctx, s.account, history.CallPage{})
		s.ok(err)
		if len(calls) == 1 && calls[0].EndReason != nil {
			if *calls[0].EndReason != "max_duration" {
				t.Errorf("end reason %s", *calls[0].EndReason)
			}
			return
		}
	}
}
