package calls_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// analyzed is a call with its analysis, as it is answered.
type analyzed struct {
	Engines  map[string][]string
	Analysis *struct {
		State                   string
		Reason, Detail, Summary *string
		Data                    json.RawMessage
		DoneAt                  *string `json:"done_at"`
	}
}

// TestAnalysis: absent, waiting, done, failed; to its owner only.
func TestAnalysis(t *testing.T) {
	o := open(t)
	agent, err := o.db.CreateAgent(t.Context(), o.a.account, store.Agent{Name: "Ana", Voice: "F1", Language: "es", Settings: json.RawMessage(
		`{"analysis":{"summary":true,"extract":{"type":"object","properties":{"order":{"type":"integer"}}}}}`)}, began)
	o.ok(err)
	call := func(agentID string) string {
		s, err := ledger.New(o.db).StartSession(t.Context(), ledger.Start{Node: o.node, Account: o.a.account, Terms: inbound, Card: card, Agent: agentID, AgentVersion: 1}, began)
		o.ok(err)
		o.ok(history.New(o.db).SaveConversation(t.Context(), o.a.account, s.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "Friday."}},
			Engines: &store.ServedBy{ASR: []string{}, LLM: []string{"first", "second"}, TTS: []string{"voice"}}}))
		_, err = ledger.New(o.db).CloseSession(t.Context(), s, ledger.Closing{Reason: "user_hangup", StartedAt: began, Usage: billing.Usage{billing.AgentTime: 1000}}, began)
		o.ok(err)
		return s.ID
	}
	look := func(id string) (a analyzed, text string) {
		text = o.read(o.a, "/v1/calls/"+id, &a)
		return a, text
	}
	if a, text := look(call(o.a.agent)); a.Analysis != nil || strings.Contains(text, `"analysis"`) || strings.Join(a.Engines["llm"], " ") != "first second" || a.Engines["asr"] == nil {
		t.Errorf("without one: %s", text)
	}
	id := call(agent.ID)
	if a, text := look(id); a.Analysis == nil || a.Analysis.State != "waiting" || a.Analysis.Summary != nil || string(a.Analysis.Data) != "null" {
		t.Errorf("waiting: %s", text)
	}
	d, err := ledger.New(o.db).ClaimAnalysis(t.Context(), began)
	o.ok(err)
	said := "They come."
	_, err = ledger.New(o.db).SaveAnalysis(t.Context(), d, ledger.Analysis{State: ledger.AnalysisDone, Summary: &said, Data: json.RawMessage(`{"order":12345678901234567}`)}, nil, began)
	o.ok(err)
	if a, text := look(id); a.Analysis.State != "done" || *a.Analysis.Summary != said || string(a.Analysis.Data) != `{"order":12345678901234567}` || a.Analysis.Reason != nil || a.Analysis.DoneAt == nil {
		t.Errorf("done: %s", text)
	}
	if status, _ := o.get(o.b, "/v1/calls/"+id); status != http.StatusNotFound {
		t.Errorf("another account is answered with %d", status)
	}
	id = call(agent.ID)
	d, err = ledger.New(o.db).ClaimAnalysis(t.Context(), began)
	o.ok(err)
	_, err = ledger.New(o.db).SaveAnalysis(t.Context(), d, ledger.Analysis{State: ledger.AnalysisFailed, Reason: ledger.AnalysisAnswer, Detail: "data.order: is missing", Summary: &said}, nil, began)
	o.ok(err)
	if a, text := look(id); a.Analysis.State != "failed" || *a.Analysis.Reason != "answer" || *a.Analysis.Detail != "data.order: is missing" || *a.Analysis.Summary != said {
		t.Errorf("failed: %s", text)
	}
}
