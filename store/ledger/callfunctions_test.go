package ledger_test

import (
	"errors"
	"slices"
	"testing"

	"parley/store"
	"parley/store/history"
)

// TestFunctionsOfACall: a function is there as soon as it is called, its result stays whoever comes
// late, and no other account writes or reads it.
func TestFunctionsOfACall(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	acc, other := f.NewAccount(10*usd), f.NewAccount(10*usd)
	s := f.withAgent(acc, f.analyst(acc, wantsBoth))
	began := history.FunctionCall{ID: "call_1_1", Name: "order\x00", Arguments: `{"id":"` + "\x00" + `7"}` + "\xff", Turn: 2, BeganMS: 900}
	at := int64(1200)
	ended := began
	ended.EndedMS, ended.Outcome, ended.Result = &at, "ok", "on its way"
	second := history.FunctionCall{ID: "call_2_1", Name: "look", ByClient: true, Turn: 3, BeganMS: 2000}

	kept := func() []history.FunctionCall {
		t.Helper()
		c, err := h.Call(f.Context(), acc, s.ID)
		f.OK(err)
		return c.Functions
	}
	happened := func(account string, no int, call history.FunctionCall) {
		t.Helper()
		f.OK(h.SaveEvents(f.Context(), []history.Happened{{Account: account, Call: s.ID, No: no, Event: history.Event{CallEvent: history.CallEvent{Function: &call}}}}))
	}
	happened(acc, 1, began)
	if got := kept(); len(got) != 1 || got[0].Name != "order" || got[0].Arguments != `{"id":"7"}`+"\ufffd" || got[0].Outcome != "" || got[0].EndedMS != nil {
		t.Errorf("as it began: %+v", got)
	}
	happened(other, 2, ended)
	if got := kept(); got[0].Outcome != "" {
		t.Errorf("another account wrote %+v", got)
	}
	happened(acc, 2, ended)
	happened(acc, 1, began) // that was on its way
	f.OK(h.SaveConversation(f.Context(), acc, s.ID, history.Conversation{Functions: []history.FunctionCall{ended, second}}))
	got := kept()
	if len(got) != 2 || got[0].Outcome != "ok" || *got[0].EndedMS != at || got[0].Result != "on its way" || got[0].Turn != 2 {
		t.Errorf("in the end: %+v", got)
	}
	if !slices.Equal(got[1:], []history.FunctionCall{second}) {
		t.Errorf("one without a result: %+v", got[1])
	}
	if _, err := h.Call(f.Context(), other, s.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another account reads: %v", err)
	}
}
