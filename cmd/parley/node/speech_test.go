package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/billing"
	"parley/inference/enginetest"
	"parley/store/ledger"
)

// speechClient connects to the synthesis socket of a node.
func (s *site) speechClient(server *httptest.Server) *websocket.Conn {
	s.Helper()
	conn, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(server.URL, "http")+"/ws/tts?api_key="+s.key, nil)
	s.ok(err)
	s.ok(conn.SetReadDeadline(time.Now().Add(patience)))
	s.Cleanup(func() { conn.Close() })
	return conn
}

// end is the code of the first error, and how the connection ended: 0 when it goes
// on after EOS.
func (s *site) end(conn *websocket.Conn) (refused string, closed int) {
	s.Helper()
	for {
		kind, b, err := conn.ReadMessage()
		if e, ok := errors.AsType[*websocket.CloseError](err); ok {
			return refused, e.Code
		}
		s.ok(err)
		var m struct{ Data struct{ Code string } }
		switch {
		case kind == websocket.BinaryMessage || bytes.HasPrefix(b, []byte("[")):
		case string(b) == "EOS":
			return refused, 0
		default:
			s.ok(json.Unmarshal(b, &m))
			if m.Data.Code != "" {
				refused = m.Data.Code
			}
		}
	}
}

// Synthesis costs its characters, and a socket that waits nothing; who may not
// start anything hears so at the door, and a node that drains sends all home.
func TestSpeechSocket(t *testing.T) {
	s := newSite(t)
	n, engine := s.nodes[0], enginetest.NewFakeTTS()
	engine.FirstAudio = 0
	n.engines.TTS = engine
	server := httptest.NewServer(n.Handler())
	defer server.Close()

	idle, busy := s.speechClient(server), s.speechClient(server)
	before, err := ledger.New(n.db).Account(t.Context(), s.account)
	s.ok(err)
	if before.Live != 0 {
		t.Errorf("%d sockets count as sessions", before.Live)
	}
	const chars = 3000
	text := strings.Repeat("ñ", chars-1) + "."
	s.ok(busy.WriteJSON(map[string]any{"text": text, "voice": "F1", "lang": "es"}))
	if refused, closed := s.end(busy); refused != "" || closed != 0 {
		t.Fatalf("%s, closed %d", refused, closed)
	}
	tariff, err := n.db.RateCard().Tariff(billing.Terms{Kind: billing.TTS})
	s.ok(err)
	var used billing.Usage
	used[billing.TTSChars] = chars
	bill, err := tariff.Price(used)
	s.ok(err)
	after, err := ledger.New(n.db).Account(t.Context(), s.account)
	s.ok(err)
	if cost := before.Balance() - after.Balance(); cost != bill.Total() || cost <= 0 || after.Live != 0 || after.Pots.Held != 0 {
		t.Errorf("it has cost %v, want %v: %+v", cost, bill.Total(), after)
	}

	s.ok(ledger.New(n.db).OpenDispute(t.Context(), s.account, "dp_1"))
	if refused, closed := s.end(s.speechClient(server)); refused != "billing.account_disputed" || closed != websocket.ClosePolicyViolation {
		t.Errorf("at the door: %q, closed %d", refused, closed)
	}
	s.ok(busy.WriteJSON(map[string]any{"text": "Hola.", "voice": "F1", "lang": "es"}))
	s.ok(busy.WriteJSON(map[string]any{}))
	for _, want := range []string{"billing.account_disputed", "validation.invalid_request_format"} {
		var m struct{ Data struct{ Code string } }
		if s.ok(busy.ReadJSON(&m)); m.Data.Code != want {
			t.Errorf("on an open socket: %q, want %s", m.Data.Code, want)
		}
	}

	drained := make(chan error)
	go func() { drained <- n.Drain(t.Context()) }()
	for _, conn := range []*websocket.Conn{idle, busy} {
		if refused, closed := s.end(conn); refused != "" || closed != websocket.CloseGoingAway {
			t.Errorf("draining: %q, closed %d", refused, closed)
		}
	}
	s.ok(<-drained)
}
