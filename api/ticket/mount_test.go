package ticket

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/billing"
	"parley/store"
	"parley/store/people"
)

// shelf is a store with one account, one key and one agent.
type shelf struct {
	revoked bool
	ahead   time.Duration // its clock's
}

func (s *shelf) Now() time.Time { return time.Now().Add(s.ahead) }

func (s *shelf) Authenticate(_ context.Context, secret string) (people.Principal, error) {
	if secret != "sk_a" || s.revoked {
		return people.Principal{}, store.ErrUnauthorized
	}
	return people.Principal{Account: "acc_a", Key: "key_a"}, nil
}

func (s *shelf) CheckKey(_ context.Context, p people.Principal) error {
	if s.revoked || p != (people.Principal{Account: "acc_a", Key: "key_a"}) {
		return store.ErrUnauthorized
	}
	return nil
}

func (s *shelf) Agent(_ context.Context, account, id string) (*store.Agent, error) {
	if account != "acc_a" || id != "ag_a" {
		return nil, store.ErrNotFound
	}
	return &store.Agent{ID: id}, nil
}

// desk is where tickets are made.
type desk struct {
	*testing.T
	signer *Signer
	db     *shelf
	http   http.Handler
}

func newDesk(t *testing.T) *desk {
	d := &desk{T: t, signer: signer(t, secret), db: &shelf{}}
	a := api.New(Keys{d.signer, d.db, d.db})
	Mount(a, d.signer, d.db, func(_ *store.Agent, given map[string]string) error {
		for name := range given {
			if name != "name" {
				return api.Bad("variables.%s: the agent has no such variable", name)
			}
		}
		return nil
	})
	d.http = apitest.Judged(t, a, a.Handler(api.Options{}))
	return d
}

// reply is an answer of either route, or an error's code.
type reply struct {
	Ticket, Code, Detail string
	ExpiresIn            int           `json:"expires_in"`
	AgentID              string        `json:"agent_id"`
	MaxSessions          int           `json:"max_sessions"`
	MaxDuration          *int          `json:"max_duration_seconds"`
	MaxCost              billing.Money `json:"max_cost"`
}

func (d *desk) post(target, credential, body string) (int, reply) {
	d.Helper()
	r := httptest.NewRequest("POST", target, strings.NewReader(body))
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	if strings.HasPrefix(body, "{") {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	d.http.ServeHTTP(w, r)
	var out reply
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		d.Errorf("%s: %v", w.Body, err)
	}
	if w.Header().Get("Cache-Control") != "no-store" {
		d.Errorf("Cache-Control %q", w.Header().Get("Cache-Control"))
	}
	return w.Code, out
}

// signed is a ticket of the account's key.
func (d *desk) signed(t api.Ticket) string {
	return d.signer.Sign(api.Principal{Account: "acc_a", Key: "key_a", Ticket: &t})
}

// read is what a ticket says.
func (d *desk) read(ticket string) *api.Ticket {
	d.Helper()
	p, err := d.signer.Verify(ticket, time.Now())
	if err != nil || p.Account != "acc_a" || p.Key != "key_a" {
		d.Fatalf("%+v, %v", p, err)
	}
	return p.Ticket
}

func TestMint(t *testing.T) {
	d := newDesk(t)
	for _, body := range []string{"", "{}", `{"ticket":`, "not JSON at all", "[1]"} {
		before := time.Now()
		status, got := d.post("/ws-ticket", "sk_a", body)
		if status != 200 || got.ExpiresIn != 600 {
			t.Fatalf("%q: %d %+v", body, status, got)
		}
		ticket := d.read(got.Ticket)
		if ticket.Expires.Before(before.Add(lifetime-time.Millisecond)) || ticket.Expires.After(time.Now().Add(lifetime)) || ticket.Agent != "" {
			t.Errorf("%q: %+v", body, ticket)
		}
	}
	if status, got := d.post("/ws-ticket", "sk_a", strings.Repeat("x", 1<<20)); status != 413 {
		t.Errorf("a body without end: %d %s", status, got.Code)
	}
	if status, got := d.post("/ws-ticket?api_key=sk_a", "", ""); status != 401 || got.Code != "auth.missing_key" {
		t.Errorf("a key in the query: %d %s", status, got.Code)
	}
}

// However often a ticket is renewed, it ends when the first one does.
func TestRenewalNeverExtends(t *testing.T) {
	d := newDesk(t)
	expires := time.Now().Add(90 * time.Second).Truncate(time.Millisecond)
	ticket := d.signed(api.Ticket{Expires: expires})
	seen := map[string]bool{ticket: true}
	for range 5 {
		status, got := d.post("/ws-ticket", ticket, "")
		if status != 200 || got.ExpiresIn < 60 || got.ExpiresIn > 90 || seen[got.Ticket] {
			t.Fatalf("%d, expires in %d, new: %v", status, got.ExpiresIn, !seen[got.Ticket])
		}
		if at := d.read(got.Ticket).Expires; !at.Equal(expires) {
			t.Fatalf("expires %v after the first one", at.Sub(expires))
		}
		ticket, seen[got.Ticket] = got.Ticket, true
	}
	d.db.revoked = true
	if status, got := d.post("/ws-ticket", ticket, ""); status != 401 || got.Code != "auth.invalid_key" {
		t.Errorf("of a revoked key: %d %s", status, got.Code)
	}
}

// A ticket from a node whose clock runs ahead buys no time either.
func TestRenewalIsBoundedByOurClock(t *testing.T) {
	d := newDesk(t)
	if status, got := d.post("/ws-ticket", d.signed(api.Ticket{Expires: time.Now().Add(time.Hour)}), ""); status != 200 || got.ExpiresIn != 600 {
		t.Errorf("%d, expires in %d", status, got.ExpiresIn)
	}
}

func TestSessionTickets(t *testing.T) {
	d := newDesk(t)
	for _, tt := range []struct {
		body               string
		ttl, sessions, max int
	}{
		{`{"agent_id":"ag_a"}`, 600, 1, 0},
		{`{"agent_id":"ag_a","ttl_seconds":30,"max_sessions":10,"max_duration_seconds":10}`, 30, 10, 10},
		{`{"agent_id":"ag_a","max_duration_seconds":7200,"more":1}`, 600, 1, 7200},
	} {
		status, got := d.post("/v1/session-tickets", "sk_a", tt.body)
		if status != 200 || got.ExpiresIn != tt.ttl || got.AgentID != "ag_a" || got.MaxSessions != tt.sessions ||
			(got.MaxDuration != nil) != (tt.max > 0) || got.MaxDuration != nil && *got.MaxDuration != tt.max {
			t.Fatalf("%s: %d %+v", tt.body, status, got)
		}
		ticket := d.read(got.Ticket)
		if ticket.Agent != "ag_a" || ticket.MaxSessions != tt.sessions || ticket.MaxDuration != time.Duration(tt.max)*time.Second ||
			time.Until(ticket.Expires) > time.Duration(tt.ttl)*time.Second {
			t.Errorf("%s: %+v", tt.body, ticket)
		}
	}
	status, got := d.post("/v1/session-tickets", "sk_a", `{"agent_id":"ag_a","max_cost":0.15}`)
	if status != 200 || got.MaxCost != 15*billing.Cent {
		t.Errorf("with a bound of its cost: %d %+v", status, got)
	} else if ticket := d.read(got.Ticket); ticket.MaxCost != 15*billing.Cent {
		t.Errorf("the ticket says %s", ticket.MaxCost)
	}
	status, got = d.post("/v1/session-tickets", "sk_a", `{"agent_id":"ag_a","variables":{"name":"Ana"},"metadata":{"order":"42"}}`)
	if ticket := d.read(got.Ticket); status != 200 || ticket.Variables["name"] != "Ana" || ticket.Metadata["order"] != "42" {
		t.Errorf("what it says of conversations: %d %+v", status, ticket)
	}
	for _, tt := range []struct {
		body, credential string
		status           int
		code, field      string
	}{
		{`{"agent_id":"ag_a","variables":{"nam":"Ana"}}`, "sk_a", 400, "validation.invalid_request_format", "variables.nam"},
		{`{"agent_id":"ag_a","metadata":{"a b":"c"}}`, "sk_a", 400, "validation.invalid_request_format", "metadata"},
		{`{"agent_id":"ag_a","metadata":{"a":"\u0000"}}`, "sk_a", 400, "validation.invalid_request_format", "metadata.a"},
		{`{"agent_id":"ag_a","metadata":{"a":"` + strings.Repeat("a", 500) + `","b":"` + strings.Repeat("b", 500) + `"},"variables":{"name":"` + strings.Repeat("n", 1000) + `"}}`,
			"sk_a", 400, "validation.invalid_request_format", "together"},
		{`{"agent_id":"ag_b"}`, "sk_a", 404, "agent.not_found", ""},
		{`{}`, "sk_a", 400, "validation.invalid_request_format", "agent_id"},
		{`{"agent_id":"ag_a","ttl_seconds":29}`, "sk_a", 400, "validation.invalid_request_format", "body.ttl_seconds"},
		{`{"agent_id":"ag_a","ttl_seconds":601}`, "sk_a", 400, "validation.invalid_request_format", "body.ttl_seconds"},
		{`{"agent_id":"ag_a","ttl_seconds":0}`, "sk_a", 400, "validation.invalid_request_format", "body.ttl_seconds"},
		{`{"agent_id":"ag_a","max_sessions":0}`, "sk_a", 400, "validation.invalid_request_format", "body.max_sessions"},
		{`{"agent_id":"ag_a","max_sessions":11}`, "sk_a", 400, "validation.invalid_request_format", "body.max_sessions"},
		{`{"agent_id":"ag_a","max_sessions":1.5}`, "sk_a", 400, "validation.invalid_request_format", "body.max_sessions"},
		{`{"agent_id":"ag_a","max_duration_seconds":9}`, "sk_a", 400, "validation.invalid_request_format", "body.max_duration_seconds"},
		{`{"agent_id":"ag_a","max_duration_seconds":9e99}`, "sk_a", 400, "validation.invalid_request_format", "body.max_duration_seconds"},
		{`{"agent_id":"ag_a","max_cost":0}`, "sk_a", 400, "validation.invalid_request_format", "body.max_cost"},
		{`{"agent_id":"ag_a","max_cost":-1}`, "sk_a", 400, "validation.invalid_request_format", "body.max_cost"},
		{`{"agent_id":"ag_a","max_cost":1001}`, "sk_a", 400, "validation.invalid_request_format", "body.max_cost"},
		{`{"agent_id":"ag_a","max_cost":0.015}`, "sk_a", 400, "validation.invalid_request_format", "whole cents"},
		{`{"agent_id":`, "sk_a", 400, "validation.invalid_request_format", ""},
		{`{"agent_id":"ag_a"}`, d.signed(api.Ticket{Expires: time.Now().Add(time.Minute)}), 403, "auth.ticket_not_allowed", ""},
		{`{"agent_id":"ag_a"}`, "", 401, "auth.missing_key", ""},
	} {
		if status, got := d.post("/v1/session-tickets", tt.credential, tt.body); status != tt.status || got.Code != tt.code || !strings.Contains(got.Detail, tt.field) {
			t.Errorf("%s: %d %+v", tt.body, status, got)
		}
	}
	session := d.signed(api.Ticket{Expires: time.Now().Add(time.Minute), Agent: "ag_a", MaxSessions: 1})
	for _, route := range []string{"/ws-ticket", "/v1/session-tickets"} {
		if status, got := d.post(route, session, `{"agent_id":"ag_a"}`); status != 403 || got.Code != "auth.ticket_not_allowed" {
			t.Errorf("a session ticket at %s: %d %s", route, status, got.Code)
		}
	}
}
