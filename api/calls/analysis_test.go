package calls_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"parley/billing"
	"parley/store"
	"parley/store/aftercall"
	"parley/store/history"
	"parley/store/ledger"
	"parley/store/storetest"
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
	agent, err := o.DB.CreateAgent(storetest.At(t.Context(), began), o.A.Account, store.Agent{Name: "Ana", Voice: "F1", Language: "es", Settings: json.RawMessage(
		`{"analysis":{"summary":true,"extract":{"type":"object","properties":{"order":{"type":"integer"}}}}}`)})
	o.OK(err)
	call := func(agentID string) string {
		s, err := o.Ledger.StartSession(storetest.At(t.Context(), began), ledger.Start{Node: o.node, Account: o.A.Account, Terms: inbound, Card: card, Agent: agentID, AgentVersion: 1})
		o.OK(err)
		o.OK(history.New(o.DB).SaveConversation(t.Context(), o.A.Account, s.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "Friday."}},
			Engines: &store.ServedBy{ASR: []string{}, LLM: []string{"first", "second"}, TTS: []string{"voice"}}}))
		_, err = o.Ledger.CloseSession(storetest.At(t.Context(), began), s, ledger.Closing{Reason: "user_hangup", StartedAt: began, Usage: billing.Usage{billing.AgentTime: 1000}})
		o.OK(err)
		return s.ID
	}
	look := func(id string) (a analyzed, text string) {
		text = o.Read(o.A, "/v1/calls/"+id, &a)
		return a, text
	}
	if a, text := look(call(o.A.Agent)); a.Analysis != nil || strings.Contains(text, `"analysis"`) || strings.Join(a.Engines["llm"], " ") != "first second" || a.Engines["asr"] == nil {
		t.Errorf("without one: %s", text)
	}
	id := call(agent.ID)
	if a, text := look(id); a.Analysis == nil || a.Analysis.State != "waiting" || a.Analysis.Summary != nil || string(a.Analysis.Data) != "null" {
		t.Errorf("waiting: %s", text)
	}
	d, err := aftercall.New(o.DB).ClaimAnalysis(storetest.At(t.Context(), began))
	o.OK(err)
	said := "They come."
	_, err = aftercall.New(o.DB).SaveAnalysis(storetest.At(t.Context(), began), d, aftercall.Analysis{State: aftercall.AnalysisDone, Summary: &said, Data: json.RawMessage(`{"order":12345678901234567}`)}, nil)
	o.OK(err)
	if a, text := look(id); a.Analysis.State != "done" || *a.Analysis.Summary != said || string(a.Analysis.Data) != `{"order":12345678901234567}` || a.Analysis.Reason != nil || a.Analysis.DoneAt == nil {
		t.Errorf("done: %s", text)
	}
	if status, _ := o.get(o.B, "/v1/calls/"+id); status != http.StatusNotFound {
		t.Errorf("another account is answered with %d", status)
	}
	id = call(agent.ID)
	d, err = aftercall.New(o.DB).ClaimAnalysis(storetest.At(t.Context(), began))
	o.OK(err)
	_, err = aftercall.New(o.DB).SaveAnalysis(storetest.At(t.Context(), began), d, aftercall.Analysis{State: aftercall.AnalysisFailed, Reason: aftercall.AnalysisAnswer, Detail: "data.order: is missing", Summary: &said}, nil)
	o.OK(err)
	if a, text := look(id); a.Analysis.State != "failed" || *a.Analysis.Reason != "answer" || *a.Analysis.Detail != "data.order: is missing" || *a.Analysis.Summary != said {
		t.Errorf("failed: %s", text)
	}
}
