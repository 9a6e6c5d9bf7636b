package node

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/store/people"
)

// TestOwns: the inside of a conversation is for who may read its agent.
func TestOwns(t *testing.T) {
	browser := (&people.Browser{ID: "bs_1", User: people.User{ID: "usr_1"}, Account: "acc_1"}).Principal()
	for name, c := range map[string]struct {
		who  api.Principal
		want bool
	}{
		"a key":                            {api.Principal{Account: "acc_1", Key: "key_1"}, true},
		"a ticket made from a key":         {api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{}}, false},
		"a session ticket made from a key": {api.Principal{Account: "acc_1", Key: "key_1", Ticket: &api.Ticket{Agent: "ag_1"}}, false},
		"a ticket of the dashboard":        {api.Principal{Account: "acc_1", Key: browser.Key, Ticket: &api.Ticket{}}, true},
		"a session ticket made there":      {api.Principal{Account: "acc_1", Key: browser.Key, Ticket: &api.Ticket{Agent: "ag_1"}}, false},
	} {
		if got := owns(c.who); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

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
	_, err = s.nodes[0].db.UpdateAgent(t.Context(), s.account, *a, time.Now())
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

// TestInsightNews: what the model is asked is shown without what was shown before, and
// what it had before is clear from that.
func TestInsightNews(t *testing.T) {
	var i insight
	user := func(text string) inference.Message { return inference.Message{Role: inference.RoleUser, Text: text} }
	first := i.news(&inference.Request{System: "Be kind.", Messages: []inference.Message{user("one"), user("two")}}, false)
	if first.System == nil || first.Tools == nil || first.Keep != 0 || len(first.Messages) != 2 {
		t.Errorf("the first is %+v", first)
	}
	second := i.news(&inference.Request{System: "Be kind.", Messages: []inference.Message{user("one"), user("two and"), user("three")}}, true)
	if second.System != nil || second.Tools != nil || second.Keep != 1 || len(second.Messages) != 2 || !second.Speculative {
		t.Errorf("the second is %+v", second)
	}
	third := i.news(&inference.Request{System: "Be brief.", Tools: []inference.Tool{{Name: "look"}}, Messages: []inference.Message{user("one")}}, false)
	if third.System == nil || len(third.Tools) != 1 || third.Keep != 1 || len(third.Messages) != 0 {
		t.Errorf("the third is %+v", third)
	}
	long := i.news(&inference.Request{System: strings.Repeat("ñ", shownPrompt)}, false)
	if n := len(*long.System); n > shownPrompt+5 || !strings.HasSuffix(*long.System, "ñ …") {
		t.Errorf("a long prompt is shown as %d bytes that end with %q", n, (*long.System)[n-6:])
	}
}
