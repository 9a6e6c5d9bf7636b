package session_test

import (
	"testing"
	"testing/synctest"

	"parley/billing"
	"parley/inference"
	"parley/pipeline/event"
	"parley/pipeline/session/sessiontest"
	"parley/pipeline/tool"
)

// TestFunctionsAreCharged: each search with an answer, and the customer database once a
// call, however often it was asked; nothing for what failed or costs nothing.
func TestFunctionsAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := (&sessiontest.FakeLedger{}).Open(t, 0)
		s := o.Enter(web)
		f := func(name string, m tool.Meter) tool.Function {
			return tool.Function{Spec: inference.Tool{Name: name}, Meter: m}
		}
		s.Offers([]tool.Function{f("web_search", tool.Searched), f("crm_lookup", tool.CRM), f("order", tool.Free)})
		s.Begin()
		observe := s.Observe
		for _, e := range [][2]string{{"web_search", "ok"}, {"web_search", "error"}, {"web_search", "ok"}, {"web_search", "timeout"}, {"web_search", "cancelled"},
			{"crm_lookup", "error"}, {"crm_lookup", "ok"}, {"crm_lookup", "ok"}, {"order", "ok"}, {"unknown", "ok"}} {
			observe(event.Event{Kind: event.ToolEnded, Call: inference.ToolCall{Name: e[0]}, Text: e[1]})
		}
		s.End(hungUp)
		u := o.Ledger.Closings[0].Usage
		if u[billing.WebSearches] != 2 || u[billing.CRMCalls] != 1 {
			t.Errorf("%d searches, %d calls in the customer database", u[billing.WebSearches], u[billing.CRMCalls])
		}
	})
}
