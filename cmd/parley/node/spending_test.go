package node

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"parley/api"
	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/people"
)

// wantLastEnd waits until the account's only call has ended, and says how.
func (s *site) wantLastEnd(reason, detail string) {
	s.Helper()
	ctx, stop := context.WithTimeout(s.Context(), patience)
	defer stop()
	for {
		calls, err := history.New(s.nodes[0].db).Calls(ctx, s.account, history.CallPage{})
		s.ok(err)
		if len(calls) == 0 || calls[0].EndReason == nil {
			continue
		}
		if *calls[0].EndReason != reason || calls[0].EndDetail == nil || *calls[0].EndDetail != detail {
			s.Errorf("the call ended with %s, %v; want %s, %s", *calls[0].EndReason, calls[0].EndDetail, reason, detail)
		}
		return
	}
}

// TestSessionTicketBoundsTheCost: a turn whose input alone costs more than the ticket allows
// ends the conversation, and no model reads it.
func TestSessionTicketBoundsTheCost(t *testing.T) {
	s := newSite(t)
	agent, err := s.nodes[0].db.CreateAgent(t.Context(), s.account, store.Agent{Name: "Long", Voice: "F1", Language: "eu",
		Prompt: strings.Repeat("word ", 19_000)})
	s.ok(err)
	ticket := s.nodes[0].tickets.Sign(api.Principal{Account: s.account, Key: s.keyID,
		Ticket: &api.Ticket{Expires: time.Now().Add(time.Minute), Agent: agent.ID, MaxSessions: 1, MaxCost: billing.Cent}})
	c, _ := s.dial(0, ticket, "")
	s.wantBegun(c)
	s.ok(c.WriteMessage(websocket.TextMessage, []byte(`{"type":"text","data":"hello"}`)))
	if _, closed := c.until("never"); closed != 1008 {
		t.Errorf("closed %d; want 1008", closed)
	}
	s.wantLastEnd("balance_exhausted", "ticket_cost")
	calls, err := history.New(s.nodes[0].db).Calls(t.Context(), s.account, history.CallPage{})
	s.ok(err)
	if calls[0].Cost > billing.Cent {
		t.Errorf("it cost %s", calls[0].Cost)
	}
}

// TestKeysSpendWithinTheirLimit: a key whose limit is reached begins nothing, nor do its
// tickets; other keys of the account do.
func TestKeysSpendWithinTheirLimit(t *testing.T) {
	s := newSite(t)
	db := s.nodes[0].db
	_, other, err := people.New(db).MakeKey(t.Context(), people.NewKey{Account: s.account, Name: "second", Role: people.RoleMember})
	s.ok(err)
	none := billing.Money(0)
	_, err = ledger.New(db).SetSpendingLimit(t.Context(), s.account, s.keyID, &none)
	s.ok(err)
	for name, credential := range map[string]string{"key": s.key, "ticket": s.minted("/ws-ticket", s.key, ""),
		"session ticket": s.minted("/v1/session-tickets", s.key, `{"agent_id":"`+s.agent+`"}`)} {
		c, _ := s.dial(0, credential, s.agent)
		if refused, closed := c.until("prompt_set"); refused != "limit.spending" || closed != 1008 {
			t.Errorf("%s: %s, closed %d; want limit.spending, 1008", name, refused, closed)
		}
	}
	if status, out := s.ask("POST", "/tts/synthesize", s.key, `{"text":"hello","voice":"F1","language":"en"}`); status != 402 || out["code"] != "limit.spending" {
		t.Errorf("synthesis: %d %v", status, out)
	}
	c, _ := s.dial(0, other, s.agent)
	s.wantBegun(c)
}
