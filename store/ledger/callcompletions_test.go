package ledger_test

import (
	"encoding/json"
	"errors"
	"testing"

	"parley/store"
	"parley/store/history"
)

// TestCompletionsOfACall: questions to the model are stored as what they have beyond those before, and read whole, by their
// account alone; they go with what was said.
func TestCompletionsOfACall(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	acc, other := f.NewAccount(10*usd), f.NewAccount(10*usd)
	s := f.Start(acc, web)
	prompt := "Be\x00 brief \\u0000 \xff."
	requests := []history.CompletionRequest{
		{AtMS: 900, System: &prompt, Tools: []history.CompletionTool{{Name: "book", Parameters: json.RawMessage(`{"type": "object"}`)}}, Messages: []history.CompletionMessage{{Role: "user", Text: "A"}, {Role: "agent", Text: "B"}}},
		{AtMS: 1900, Same: 1, Messages: []history.CompletionMessage{{Role: "agent", Text: "C", Calls: []history.CompletionCall{{ID: "1", Name: "book"}}}}},
		{AtMS: 2900, Tools: []history.CompletionTool{}, Same: 2},
	}
	save := func(account string, c history.Completion) {
		t.Helper()
		f.OK(h.SaveEvents(f.Context(), []history.Happened{{Account: account, Call: s.ID, Completion: &c}}))
	}
	save(other, history.Completion{Request: requests[0]})
	for i, r := range requests {
		save(acc, history.Completion{No: i, Request: r})
	}
	answer := history.CompletionAnswer{Engine: "haiku", TookMS: 400, Outcome: history.CompletionDone, Text: "Yes\x00."}
	save(acc, history.Completion{No: 1, Request: requests[1], Answer: &answer})
	save(acc, history.Completion{No: 1, Request: requests[1], Answer: &history.CompletionAnswer{Outcome: history.CompletionCut}}) // too late
	got, err := h.Completions(f.Context(), acc, s.ID)
	f.OK(err)
	if len(got) != 3 {
		t.Fatalf("%+v", got)
	}
	if q := got[0].Request; *q.System != "Be brief \\u0000 \ufffd." || len(q.Tools) != 1 || len(q.Messages) != 2 || got[0].Answer != nil {
		t.Errorf("the first: %+v, %q", got[0], *q.System)
	}
	if q, a := got[1].Request, got[1].Answer; *q.System != *got[0].Request.System || len(q.Tools) != 1 || len(q.Messages) != 2 || q.Messages[0].Text != "A" || q.Messages[1].Text != "C" ||
		q.Messages[1].Calls[0].Name != "book" || a == nil || a.Text != "Yes." || a.Outcome != history.CompletionDone {
		t.Errorf("the second: %+v %+v", q, a)
	}
	if q := got[2].Request; q.Tools == nil || len(q.Tools) != 0 || len(q.Messages) != 2 || q.Messages[1].Text != "C" || got[0].Request.Messages[1].Text != "B" {
		t.Errorf("the third: %+v", q)
	}
	if _, err := h.Completions(f.Context(), other, s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another account reads: %v", err)
	}
	young, err := h.ExpireCompletions(f.At(t0.Add(29 * day)))
	f.OK(err)
	if old, err := h.ExpireCompletions(f.At(t0.Add(31 * day))); err != nil || young != 0 || old != 3 {
		t.Errorf("%d went after 29 days, and %d after 31: %v", young, old, err)
	}
	save(acc, history.Completion{Request: requests[0]})
	f.OK(h.ForgetCall(f.Context(), acc, s.ID))
	save(acc, history.Completion{No: 3, Request: requests[0]})
	if got, err := h.Completions(f.Context(), acc, s.ID); err != nil || len(got) != 0 {
		t.Errorf("after it was deleted: %+v, %v", got, err)
	}
}
