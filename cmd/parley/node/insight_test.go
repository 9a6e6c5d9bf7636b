package node

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"parley/inference/enginetest"
)

// insights has a turn and returns what the client was shown of the inside, by name.
func (s *site) insights(credential string) map[string]string {
	s.Helper()
	c, _ := s.dial(0, credential, s.agent)
	s.ok(c.WriteMessage(websocket.TextMessage, []byte(`{"type":"features","data":["insight"]}`)))
	s.wantBegun(c)
	s.ok(c.WriteMessage(websocket.TextMessage, []byte(`{"type":"text","data":"hello"}`)))
	shown := map[string]string{}
	for {
		kind, b, err := c.ReadMessage()
		s.ok(err)
		var m struct {
			Type, Name, Role string
			Data             json.RawMessage
		}
		if kind != websocket.TextMessage {
			continue
		}
		s.ok(json.Unmarshal(b, &m))
		switch {
		case m.Type == "insight":
			shown[m.Name] = string(m.Data)
		case m.Type == "transcript" && m.Role == "agent":
			s.ok(c.Close())
			return shown
		}
	}
}

// TestInsight: the owner is shown the call, its phases, what the model was asked, how long
// it took, and the cost; a ticket that a page of others may have shows nothing.
func TestInsight(t *testing.T) {
	s := newSite(t)
	s.nodes[0].engines.TTS = enginetest.NewFakeTTS()
	a, err := s.nodes[0].db.Agent(t.Context(), s.account, s.agent)
	s.ok(err)
	a.Prompt = "You keep a secret."
	_, err = s.nodes[0].db.UpdateAgent(t.Context(), s.account, *a)
	s.ok(err)
	shown := s.insights(s.key)
	for name, want := range map[string]string{"call": `"id":"ses_`, "phase": `"phase":`, "told": `"You keep a secret."`, "latency": `"total_ms":`, "cost": `"usd":`} {
		if !strings.Contains(shown[name], want) {
			t.Errorf("%s: %q, want %s in it", name, shown[name], want)
		}
	}
	if shown := s.insights(s.minted("/ws-ticket", s.key, "")); len(shown) != 0 {
		t.Errorf("a ticket that may be anybody's shows %v", shown)
	}
}
