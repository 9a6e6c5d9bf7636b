package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"parley/inference/enginetest"
	"parley/store/history"
)

// becomes has an agent, or a new one, be what a document says, and returns its identifier.
func (s *site) becomes(id, document string) string {
	s.Helper()
	method, path := http.MethodPost, "/v1/agents"
	if id != "" {
		method, path = http.MethodPut, path+"/"+id
	}
	status, out := s.ask(method, path, s.key, document)
	if status >= 300 {
		s.Fatalf("%d %v", status, out)
	}
	return out["id"].(string)
}

// answered is in the frame of a line of an agent's.
const answered = `"role":"agent"`

// hears has a caller type, and waits for the agent's lines that follow.
func (p *visited) hears(says string, lines ...string) {
	p.s.Helper()
	p.say(`{"type":"text","data":%q}`, says)
	for _, line := range lines {
		p.until("transcript", line)
	}
}

// TestHandOver: the caller goes on with another agent of the account, which knows the call's variables; the history has the
// hand-over. One that is not the account's is refused, and one that was deleted is not there.
func TestHandOver(t *testing.T) {
	s := newSite(t)
	voice := enginetest.NewFakeTTS()
	voice.Sentence = 100 * time.Millisecond
	s.nodes[0].engines.TTS = voice
	clerk := s.becomes("", `{"name":"Billing","voice":"M1","language":"eu","prompt":"When nothing matches: This is billing for {{name}}.","settings":{"variables":{"name":"nobody"}}}`)
	const desk = `{"name":"Desk","voice":"F1","language":"eu","prompt":"When the caller says \"invoice\": call hand_over {\"to\":\"Billing\",\"summary\":\"An invoice.\"}\nWhen nothing matches: This is the desk.",` +
		`"settings":{"variables":{"name":"nobody"},"hand_over_to":[{"agent":%q,"name":"Billing","description":"Invoices"}]}}`
	if status, out := s.ask(http.MethodPut, "/v1/agents/"+s.agent, s.key, fmt.Sprintf(desk, "ag_06er5bt0v9k1o7m2q3s4t5u6v0")); status != 400 || !strings.Contains(fmt.Sprint(out), "settings.hand_over_to[0].agent") {
		t.Errorf("an agent that is not the account's: %d %v", status, out)
	}
	s.becomes(s.agent, fmt.Sprintf(desk, clerk))
	talk := func() *visited {
		c, _ := s.dial(0, s.key, s.agent)
		p := &visited{talker: c, s: s}
		p.say(`{"type":"variables","data":{"name":"Ana"}}`)
		p.hears("qwerty", "This is the desk.")
		return p
	}
	p := talk()
	p.hears("it is about an invoice")
	p.until("transcript", answered) // the agent that has taken over
	p.hears("qwerty", "This is billing for Ana.")
	s.ok(p.Close())
	call := s.newestCall()
	s.eventually("/v1/calls/"+call, func(out map[string]any) bool { return strings.Contains(fmt.Sprint(out["functions"]), "hand_over") })
	calls := voice.Calls()
	if v := calls[len(calls)-1].Speech.Voice; v != "M1" {
		t.Errorf("it speaks as %s", v)
	}
	if status, out := s.ask(http.MethodDelete, "/v1/agents/"+clerk, s.key, ""); status != http.StatusNoContent {
		t.Fatalf("%d %v", status, out)
	}
	p = talk()
	p.hears("it is about an invoice")
	p.until("transcript", answered)
	p.hears("qwerty", "This is the desk.")
	s.ok(p.Close())
}

func (s *site) newestCall() string {
	s.Helper()
	list, err := history.New(s.nodes[0].db).Calls(s.Context(), s.account, history.CallPage{})
	s.ok(err)
	return list[0].ID
}

// TestSteps: the agent has the instructions of the step that it is at.
func TestSteps(t *testing.T) {
	s := newSite(t)
	voice := enginetest.NewFakeTTS()
	voice.Sentence = 100 * time.Millisecond
	s.nodes[0].engines.TTS = voice
	document, err := json.Marshal(map[string]any{"name": "Desk", "language": "eu", "prompt": "Be brief.", "settings": map[string]any{"steps": []any{
		map[string]any{"name": "Name", "prompt": "When the caller says \"my name is\": call next_step {\"to\":\"Day\"}\nWhen nothing matches: What is your name?",
			"next": []any{map[string]any{"to": "Day", "when": "you know the name"}}},
		map[string]any{"name": "Day", "prompt": "When nothing matches: On which day?"}}}})
	s.ok(err)
	s.becomes(s.agent, string(document))
	c, _ := s.dial(0, s.key, s.agent)
	p := &visited{talker: c, s: s}
	p.hears("qwerty", "What is your name?")
	p.hears("my name is Ana")
	p.until("transcript", answered)
	p.hears("qwerty", "On which day?")
	s.ok(c.Close())
}

// TestHandOverOfVisitors: with a ticket nobody sets the prompt of an agent that hands over, nor a variable of the agent that takes over
// which that one does not let visitors set.
func TestHandOverOfVisitors(t *testing.T) {
	s := newSite(t)
	voice := enginetest.NewFakeTTS()
	voice.Sentence = 100 * time.Millisecond
	s.nodes[0].engines.TTS = voice
	clerk := s.becomes("", `{"name":"Billing","voice":"M1","language":"eu","prompt":"When nothing matches: This is {{place}} for {{name}}.",`+
		`"settings":{"variables":{"name":"nobody","place":"here"},"public_variables":["place"]}}`)
	s.becomes(s.agent, fmt.Sprintf(`{"name":"Desk","voice":"F1","language":"eu","prompt":"When the caller says \"invoice\": call hand_over {\"to\":\"Billing\",\"summary\":\"An invoice.\"}\nWhen nothing matches: This is the desk of {{name}}.",`+
		`"settings":{"variables":{"name":"nobody","place":"here"},"public_variables":["name","place"],"hand_over_to":[{"agent":%q,"name":"Billing"}]}}`, clerk))
	for _, credential := range []string{s.minted("/ws-ticket", s.key, ""), s.minted("/v1/session-tickets", s.key, fmt.Sprintf(`{"agent_id":%q}`, s.agent))} {
		c, _ := s.dial(0, credential, s.agent)
		p := &visited{talker: c, s: s}
		p.say(`{"type":"variables","data":{"name":"Eve","place":"Rome"}}`)
		p.hears("qwerty", "This is the desk of Eve.")
		p.say(`{"type":"prompt","data":"When nothing matches: Taken."}`)
		p.hears("it is about an invoice")
		p.until("transcript", answered)
		p.say(`{"type":"prompt","data":"When nothing matches: Taken."}`)
		p.hears("qwerty", "This is Rome for nobody.")
		s.ok(c.Close())
	}
}
