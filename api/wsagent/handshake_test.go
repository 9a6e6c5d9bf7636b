package wsagent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/api"
	"parley/api/apitest"
	"parley/api/socket"
	"parley/api/talk"
	"parley/api/wsagent"
	"parley/inference"
	"parley/store"
)

// TestHandshake: who may upgrade, and what the others are told.
func TestHandshake(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, &agents{}, nil)
	for _, tt := range []struct {
		name   string
		query  string
		header http.Header
		status int
		code   string
	}{
		{"key in a header", "", http.Header{"X-Api-Key": {goodKey}}, 101, ""},
		{"bearer", "", http.Header{"Authorization": {"Bearer " + goodKey}}, 101, ""},
		{"key in the query", "?api_key=" + goodKey, nil, 101, ""},
		{"from any site", "?agent_id=x&api_key=" + goodKey, http.Header{"Origin": {"https://shop.example"}}, 101, ""},
		{"no key", "", nil, 401, "auth.missing_key"},
		{"wrong key", "?api_key=sk_bad", nil, 401, "auth.invalid_key"},
		{"the first decides", "?api_key=" + goodKey, http.Header{"Authorization": {"Bearer sk_bad"}}, 401, "auth.invalid_key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			conn, resp, err := s.Dialer.Dial(s.url(tt.query), tt.header)
			if err == nil {
				defer conn.Close()
			}
			if resp == nil || resp.StatusCode != tt.status {
				t.Fatalf("%v, %+v, want status %d", err, resp, tt.status)
			}
			if tt.status == 101 {
				return
			}
			var body struct{ Code, Error string }
			if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Code != tt.code || body.Error == "" {
				t.Errorf("body %+v, %v, want code %s", body, err, tt.code)
			}
		})
	}
}

func TestHandshakeNeedsAnUpgrade(t *testing.T) {
	s := newServer(t, apitest.OverNetwork, &agents{}, nil)
	r, _ := http.NewRequest("GET", s.URL+"/ws/agent", nil)
	r.Header.Set("X-API-Key", goodKey)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var body struct{ Code string }
	if json.NewDecoder(resp.Body).Decode(&body) != nil || resp.StatusCode != 400 || body.Code != "validation.invalid_request_format" {
		t.Errorf("status %d, %+v", resp.StatusCode, body)
	}
}

// TestRefusals: whoever may not converse is told in an error frame and in the
// reason of the close, whose code says whether trying again can help.
func TestRefusals(t *testing.T) {
	for _, tt := range []struct {
		err       error
		code      string
		retryable bool
		close     int
	}{
		{store.ErrInsufficientBalance, "billing.insufficient_balance", false, 1008},
		{store.ErrDisputed, "billing.account_disputed", false, 1008},
		{store.ErrConcurrency, "limit.concurrency", true, 1008},
		{api.ErrNoAgent, "agent.not_found", false, 1008},
		{api.ErrDraining, "service.unavailable", true, 1001},
		{store.ErrUnavailable, "service.unavailable", true, 1013},
		{&inference.Error{Engine: "x", Fault: inference.ErrFailed}, "agent.provider_error", true, 1013},
		{fmt.Errorf("secret of the house"), "internal.error", true, 1011},
	} {
		t.Run(tt.code, func(t *testing.T) {
			s := newServer(t, apitest.OverNetwork, &agents{refuse: fmt.Errorf("admit: %w", tt.err)}, nil)
			p := s.connect(t)
			p.say(`{"type":"text","data":"nobody will hear this"}`)
			if m, err := p.next(); err != nil || m.Type != "server_rates" || m.Playback != 44100 || m.Input != 16000 {
				t.Fatalf("first %+v, %v", m, err)
			}
			m, err := p.next()
			if err != nil {
				t.Fatal(err)
			}
			data, _ := m.Data.(map[string]any)
			if m.Type != "error" || data["code"] != tt.code || data["retryable"] != tt.retryable {
				t.Errorf("then %+v", m)
			}
			reason := p.wantClose(tt.close)
			if reason == "" || reason != data["message"] || len(reason) > 123 {
				t.Errorf("reason %q, message %q", reason, data["message"])
			}
		})
	}
}

// TestConnectLimit: ten connections that end at once, then none for a while; a
// conversation that lasts does not count.
func TestConnectLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, apitest.InMemory, &agents{refuse: store.ErrInsufficientBalance}, talk.NewConnectLimits(nil))
		status := func() (int, string) {
			conn, resp, err := s.Dialer.Dial(s.url("?api_key="+goodKey), nil)
			if err == nil {
				p := &peer{t, conn}
				if s.agents.refuse == nil {
					time.Sleep(6 * time.Second)
					conn.WriteControl(8, nil, time.Time{})
				}
				for err == nil {
					_, err = p.next()
				}
				conn.Close()
				s.Wait()
			}
			return resp.StatusCode, resp.Header.Get("Retry-After")
		}
		for i := range 10 {
			if got, _ := status(); got != 101 {
				t.Fatalf("connection %d: status %d", i, got)
			}
		}
		if got, after := status(); got != 429 || after != "30" {
			t.Errorf("eleventh connection: status %d, Retry-After %q", got, after)
		}
		time.Sleep(7 * time.Second)
		s.agents.refuse = nil
		for i := range 20 {
			if got, _ := status(); got != 101 {
				t.Fatalf("lasting connection %d: status %d", i, got)
			}
		}
	})
}

// TestConnectLimitsForget: another key is not concerned, and a minute is enough.
// An account has so many sockets open at once, of every kind together.
func TestTooManyOpen(t *testing.T) {
	var open socket.Limits
	for range socket.MaxOpen {
		open.Open("acc_1")
	}
	routes := api.New(keys)
	wsagent.Mount(routes, &wsagent.Handler{Agents: &agents{}, Open: &open})
	h := routes.Handler(api.Options{})
	ask := func() *httptest.ResponseRecorder {
		r, w := httptest.NewRequest("GET", "/ws/agent", nil), httptest.NewRecorder()
		r.Header.Set("X-API-Key", goodKey)
		h.ServeHTTP(w, r)
		return w
	}
	if w := ask(); w.Code != 429 || !strings.Contains(w.Body.String(), "limit.concurrency") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	open.Closed("acc_1")
	if w := ask(); w.Code != 400 { // it is no upgrade
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if !open.Open("acc_1") {
		t.Error("what was refused still counts")
	}
}

func TestConnectLimitsForget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := talk.NewConnectLimits(nil)
		one, two := api.Principal{Key: "1"}, api.Principal{Key: "2"}
		for range 10 {
			l.Ended(one, 4*time.Second)
			l.Ended(two, 5*time.Second)
		}
		if l.Allow(one) || !l.Allow(two) {
			t.Errorf("allowed: %v, %v", l.Allow(one), l.Allow(two))
		}
		time.Sleep(time.Minute)
		n := 0
		for ; l.Allow(one); n++ {
			l.Ended(one, 0)
		}
		if n != 10 {
			t.Errorf("%d more after a minute, want 10", n)
		}
	})
}

// TestConversationThatCannotStart: it reports and returns without running the leg.
func TestConversationThatCannotStart(t *testing.T) {
	t.Parallel()
	s := newServer(t, apitest.OverNetwork, &agents{converse: func(_ context.Context, _ talk.Change, leg *wsagent.Leg) {
		leg.Error(api.ErrSessionStart, "")
	}}, nil)
	p := s.connect(t)
	m := p.want("error")
	if data, _ := m.Data.(map[string]any); data["code"] != "agent.session_failed" || data["retryable"] != true {
		t.Errorf("error %+v", m)
	}
	p.wantClose(1011)
}

// TestConversationThatPanics: it takes nothing but its own connection with it.
func TestConversationThatPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, apitest.InMemory, &agents{converse: func(context.Context, talk.Change, *wsagent.Leg) { panic("at the table") }}, nil)
		s.connect(t).drain()
		s.Wait()
	})
}

// TestCanceled: a client that leaves during the configuration owes nothing.
func TestCanceled(t *testing.T) {
	t.Parallel()
	s := newServer(t, apitest.OverNetwork, &agents{}, nil)
	p := s.connect(t)
	p.want("server_rates")
	p.Close()
	s.wantTold(t, "cancel")
}
