package node

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"parley/api"
	"parley/api/socket"
	"parley/cmd/parley/config"
	"parley/cmd/parley/engine"
	"parley/store/numbers"
	"parley/store/storetest"
)

// TestCallCenterRoutes: without telephony there are none, with it they are there, and
// only a carrier that has a webhook has its route.
func TestCallCenterRoutes(t *testing.T) {
	db := storetest.New(t)
	trunks := filepath.Join(t.TempDir(), "parley.yaml")
	if err := os.WriteFile(trunks, []byte("trunks:\n  - name: line\n    targets: [{host: 192.0.2.10}]\n    allow: [192.0.2.10]\n    numbers: [\"+34911234567\"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	telnyx := []string{"PARLEY_TELNYX_API_KEY=KEY1", "PARLEY_TELNYX_PUBLIC_KEY=" + strings.Repeat("A", 43) + "=", "PARLEY_TELNYX_CONNECTION_ID=1"}
	for name, test := range map[string]struct {
		env    []string
		file   string
		status int
		hook   int
	}{
		"no carrier": {[]string{"PARLEY_CARRIER=none"}, "", 404, 404},
		"no SIP":     {[]string{"PARLEY_SIP_ADDR=off"}, "", 404, 404},
		"simulated":  {nil, "", 401, 404},
		"trunks":     {[]string{"PARLEY_CARRIER=sip"}, trunks, 401, 404},
		"telnyx":     {append(telnyx, "PARLEY_CARRIER=telnyx"), trunks, 401, 400},
	} {
		cfg, _, err := config.Load(config.Sources{File: test.file, Env: append(test.env, "PARLEY_PAYMENTS=none")})
		if err != nil {
			t.Fatal(name, err)
		}
		n := &Node{cfg: cfg, db: db, log: slog.New(slog.DiscardHandler), sockets: socket.NewSet(), DataDir: t.TempDir()}
		if n.engines, err = engine.New(cfg, n.log); err != nil {
			t.Fatal(err)
		}
		if cfg.Telephony() {
			n.numbers = n.newNumbers()
		}
		if err := n.SellNumbers(); err != nil {
			t.Fatal(err)
		}
		h := n.routes().Handler(api.Options{})
		for _, route := range [][2]string{
			{"GET", "/callcenter/status"}, {"GET", "/callcenter/agents"}, {"GET", "/callcenter/numbers/search"}, {"GET", "/callcenter/numbers"},
			{"POST", "/callcenter/numbers"}, {"POST", "/callcenter/numbers/x/assign"}, {"DELETE", "/callcenter/numbers/x"},
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(route[0], route[1], strings.NewReader("{}")))
			if w.Code != test.status {
				t.Errorf("%s: %s %s is answered with %d, want %d: %s", name, route[0], route[1], w.Code, test.status, w.Body)
			}
		}
		w := httptest.NewRecorder()
		phone := httptest.NewRequest("GET", "/ws/sip", nil)
		for name, value := range map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Protocol": "sip"} {
			phone.Header.Set(name, value)
		}
		if h.ServeHTTP(w, phone); w.Code != http.StatusNotFound { // no SIP side has begun
			t.Errorf("%s: a phone is answered with %d: %s", name, w.Code, w.Body)
		}
		for _, route := range [][2]string{{"POST", "/v1/calls/x/hangup"}, {"GET", "/v1/calls/x/events"}} { // calls over sockets are there without telephony
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(route[0], route[1], nil))
			if w.Code != http.StatusUnauthorized {
				t.Errorf("%s: %s %s is answered with %d: %s", name, route[0], route[1], w.Code, w.Body)
			}
		}
		w = httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/hooks/telnyx", strings.NewReader("{}")))
		if w.Code != test.hook {
			t.Errorf("%s: the webhook is answered with %d, want %d: %s", name, w.Code, test.hook, w.Body)
		}
	}
}

// TestLateNumber: on a running node a number that the carrier activates late is owned
// soon, without anybody asking again, and survives the node.
func TestLateNumber(t *testing.T) {
	s := &site{T: t}
	url, dir := storetest.URL(t), t.TempDir()
	run := func() (stop func()) {
		cfg, _, err := config.Load(config.Sources{Env: []string{"PARLEY_SIP_ADDR=127.0.0.1:0", "PARLEY_NODE=node-0", "PARLEY_PAYMENTS=none"}})
		s.ok(err)
		n, err := Open(t.Context(), cfg, url, "a master secret of a test, long enough", prometheus.NewRegistry(), slog.New(slog.DiscardHandler))
		s.ok(err)
		n.DataDir = dir
		s.ok(n.SellNumbers())
		server := httptest.NewServer(n.Handler())
		s.nodes[0], s.servers[0] = n, server
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		for _, p := range n.Parts() {
			wg.Go(func() { _ = p.Run(ctx) })
		}
		return func() {
			cancel()
			wg.Wait()
			server.Close()
			_ = n.Close()
		}
	}
	stop := run()
	demo, err := s.nodes[0].Seed(t.Context(), dir)
	s.ok(err)
	s.key = demo.Key
	status, found := s.ask("GET", "/callcenter/numbers/search?country_code=UK&page=2", s.key, "")
	late := ""
	for _, o := range found["numbers"].([]any) {
		if number := o.(map[string]any)["phone_number"].(string); strings.HasSuffix(number, "4") {
			late = number
		}
	}
	if status != 200 || late == "" {
		t.Fatalf("%d %v", status, found)
	}
	status, bought := s.ask("POST", "/callcenter/numbers", s.key, `{"phone_number": "`+late+`", "agent_id": "`+demo.Agent+`"}`)
	if status != 202 || bought["status"] != "pending" || bought["country_code"] != "GB" {
		t.Fatalf("%d %v", status, bought)
	}
	mine := func(out map[string]any) (string, bool) {
		for _, n := range out["numbers"].([]any) {
			if n := n.(map[string]any); n["id"] == bought["id"] {
				return n["status"].(string), true
			}
		}
		return "", false
	}
	s.eventually("/callcenter/numbers", func(out map[string]any) bool { state, _ := mine(out); return state == "active" })
	stop()
	stop = run()
	defer stop()
	if _, out := s.ask("GET", "/callcenter/numbers", s.key, ""); out["numbers"] == nil {
		t.Fatalf("%v", out)
	} else if state, ok := mine(out); !ok || state != "active" {
		t.Errorf("after a restart: %v", out)
	}
	if status, out := s.ask("POST", "/callcenter/numbers", s.key, `{"phone_number": "`+late+`"}`); status != 400 || out["code"] != "callcenter.number_not_available" {
		t.Errorf("again: %d %v", status, out)
	}
	r, err := numbers.New(s.nodes[0].db).Route(t.Context(), late)
	s.ok(err)
	if r.Account != demo.ID || *r.Agent != demo.Agent || r.Country != "GB" {
		t.Errorf("%+v", r)
	}
}
