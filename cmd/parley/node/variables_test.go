package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"parley/inference/enginetest"
	"parley/store"
	"parley/store/history"
)

// speaks gives the site's agent texts with variables, of which visitors may set one.
func (s *site) speaks() {
	s.Helper()
	s.nodes[0].engines.LLM, s.nodes[0].engines.TTS = enginetest.NewFakeLLM(), enginetest.NewFakeTTS()
	a, err := s.nodes[0].db.Agent(s.Context(), s.account, s.agent)
	s.ok(err)
	a.FirstMessage = "Kaixo {{name}}, {{plan}}, {{page}}."
	a.Settings = json.RawMessage(`{"variables":{"name":"nobody","plan":"none","page":"home"},"public_variables":["page","plan"]}`)
	_, err = s.nodes[0].db.UpdateAgent(s.Context(), s.account, *a)
	s.ok(err)
}

// TestVariablesBesideFunctions: with a ticket, whose holder did not write the functions that this server
// runs, the public variables alone are set.
func TestVariablesBesideFunctions(t *testing.T) {
	s := newSite(t)
	s.speaks()
	a, err := s.nodes[0].db.Agent(t.Context(), s.account, s.agent)
	s.ok(err)
	a.Tools = json.RawMessage(`[{"type":"http","name":"order","http":{"method":"GET","url":"https://shop.example/orders"}}]`)
	_, err = s.nodes[0].db.UpdateAgent(t.Context(), s.account, *a)
	s.ok(err)
	for credential, hears := range map[string]string{s.key: "Kaixo Bo, none, rooms.", s.minted("/ws-ticket", s.key, ""): "Kaixo nobody, none, rooms."} {
		c, _ := s.dial(0, credential, s.agent)
		p := &visited{talker: c, s: s}
		p.say(`{"type":"variables","data":{"name":"Bo","page":"rooms"}}`)
		p.until("transcript", hears)
		s.ok(c.Close())
	}
}

// newest is the metadata of the account's latest conversation.
func (s *site) newest() map[string]string {
	s.Helper()
	list, err := history.New(s.nodes[0].db).Calls(s.Context(), s.account, history.CallPage{Page: store.Page{Limit: 1}})
	s.ok(err)
	if len(list) != 1 {
		s.Fatalf("%d calls", len(list))
	}
	return list[0].Metadata
}

// TestVariablesOfConversations: a key's holder says all of an agent's variables and the metadata; a
// visitor with a session ticket the public variables alone, over which the ticket's own win.
func TestVariablesOfConversations(t *testing.T) {
	s := newSite(t)
	s.speaks()
	ticket := fmt.Sprintf(`{"agent_id":%q,"variables":{"name":"Ana","plan":"gold"},"metadata":{"visitor":"v7"}}`, s.agent)
	for _, tt := range []struct {
		name, credential string
		sent             []string
		hears, refused   string
		kept             map[string]string
	}{
		{"a key", s.key, []string{`{"type":"variables","data":{"name":"Bo","plan":"big","page":"rooms"}}`, `{"type":"metadata","data":{"order":"42"}}`},
			"Kaixo Bo, big, rooms.", "", map[string]string{"order": "42"}},
		{"a ticket", s.minted("/ws-ticket", s.key, ""), []string{`{"type":"variables","data":{"name":"Bo"}}`}, "Kaixo Bo, none, home.", "", nil},
		{"a wrong name", s.key, []string{`{"type":"variables","data":{"name":"Bo","colour":"red"}}`}, "Kaixo Bo, none, home.", "variables.colour", nil},
		{"no object", s.key, []string{`{"type":"variables","data":["Bo"]}`, `{"type":"metadata","data":{"a b":"c"}}`}, "Kaixo nobody, none, home.", "an object of strings", nil},
		{"a session ticket", s.minted("/v1/session-tickets", s.key, ticket), []string{`{"type":"variables","data":{"name":"Bo","plan":"free","page":"rooms"}}`,
			`{"type":"metadata","data":{"visitor":"v8","order":"42"}}`}, "Kaixo Ana, gold, rooms.", "lets visitors set no variable", map[string]string{"visitor": "v7"}},
		{"a session ticket alone", s.minted("/v1/session-tickets", s.key, ticket), []string{`{"type":"prompt","data":"x"}`}, "Kaixo Ana, gold, home.", "", map[string]string{"visitor": "v7"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			defer func(whole *testing.T) { s.T = whole }(s.T)
			s.T = t
			c, _ := s.dial(0, tt.credential, s.agent)
			p := &visited{talker: c, s: s}
			for _, m := range tt.sent {
				p.say("%s", m)
			}
			p.until("transcript", tt.hears)
			refused := strings.Contains(strings.Join(p.frames, "\n"), `"code":"validation.invalid_request_format"`)
			if refused != (tt.refused != "") || !strings.Contains(strings.Join(p.frames, "\n"), tt.refused) {
				t.Errorf("refused: %v, want %q:\n%s", refused, tt.refused, strings.Join(p.frames, "\n"))
			}
			if kept := s.newest(); !maps.Equal(kept, tt.kept) {
				t.Errorf("kept is %v, want %v", kept, tt.kept)
			}
			p.say(`{"type":"variables","data":{"name":"too late"}}`)
			p.until("error", "for the beginning of a conversation")
			s.ok(c.Close())
		})
	}
}
