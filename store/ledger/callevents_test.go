package ledger_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// spoken are the events of a call in which both sides said something and the caller went on.
func spoken(account, call string) []history.Happened {
	at := t0
	line := func(role, text string, ms int64) history.Event {
		return history.Event{CallEvent: history.CallEvent{At: at, Line: &history.TranscriptLine{Role: role, Text: text, AtMS: ms, Words: []history.SpokenWord{{Text: text, StartMS: ms, EndMS: ms + 9}}}}}
	}
	events := []history.Event{
		{CallEvent: history.CallEvent{At: at, Status: "ringing"}}, {CallEvent: history.CallEvent{At: at, Status: "connected"}},
		{Served: &store.ServedBy{ASR: []string{}, LLM: []string{"haiku"}, TTS: []string{}}},
		line("agent", "Good day.\x00", 100), line("user", "A table", 2000),
		{CallEvent: history.CallEvent{At: at, Correction: &history.Correction{Line: 1, Text: "A table for two"}}, Words: &history.LineWords{Words: []history.SpokenWord{{Text: "all", EndMS: 7}}, Estimated: true}},
		{Turn: json.RawMessage(`{"turn":1,"total_ms":800}`)}, {Generation: &store.Generation{Gen: 1, Turn: 1, Kind: "reply", Outcome: "committed", InTokens: 12, OutTokens: 3, Source: "provider", Engine: "haiku"}},
		{CallEvent: history.CallEvent{At: at, Function: &history.FunctionCall{ID: "call_1", Name: "book", Arguments: "{}", Turn: 1, BeganMS: 2500}}},
	}
	out := make([]history.Happened, len(events))
	for i, e := range events {
		out[i] = history.Happened{Account: account, Call: call, No: i, Event: e}
	}
	return out
}

// TestEventsOfACall: what is stored of a call as it happens is seen while it lasts, and is its history when its node is lost; with
// the conversation it goes.
func TestEventsOfACall(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	acc, other := f.NewAccount(10*usd), f.NewAccount(10*usd)
	kept, lost := f.Start(acc, web), f.Start(acc, inboundES)
	read := func(id string) *history.Call {
		t.Helper()
		c, err := h.Call(f.Context(), acc, id)
		f.OK(err)
		return c
	}
	said := func(c *history.Call) (all []string) {
		for _, l := range c.Transcript {
			all = append(all, l.Text)
		}
		return all
	}
	whole := []string{"Good day.", "A table for two"}

	f.OK(h.SaveEvents(f.Context(), spoken(other, kept.ID)))
	if c := read(kept.ID); len(c.Transcript) != 0 || len(c.Functions) != 0 {
		t.Errorf("another account wrote %+v", c.Conversation)
	}
	f.OK(h.SaveEvents(f.Context(), slices.Concat(spoken(acc, kept.ID)[:5], spoken(acc, lost.ID))))
	if got := said(read(kept.ID)); !slices.Equal(got, []string{"Good day.", "A table"}) {
		t.Errorf("while it lasts %q was said", got)
	}
	f.OK(h.SaveEvents(f.Context(), spoken(acc, kept.ID))) // of which some are stored
	c := read(kept.ID)
	if got := said(c); !slices.Equal(got, whole) || c.Transcript[1].Words[0].Text != "all" || !c.Transcript[1].Estimated || c.Transcript[0].Words[0].EndMS != 109 {
		t.Errorf("while it lasts: %+v", c.Transcript)
	}
	if string(c.Turns) != `[{"turn": 1, "total_ms": 800}]` && string(c.Turns) != `[{"turn":1,"total_ms":800}]` || c.Engines == nil || len(c.Functions) != 1 || len(c.Generations) != 1 {
		t.Errorf("while it lasts: %s, %+v, %+v, %+v", c.Turns, c.Engines, c.Functions, c.Generations)
	}

	// The call ends as it should: its conversation is what its node says.
	f.OK(h.SaveConversation(f.Context(), acc, kept.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "Only this."}}}))
	f.CloseWith(kept, billing.Usage{})
	f.OK(h.SaveEvents(f.Context(), spoken(acc, kept.ID))) // too late
	if got := said(read(kept.ID)); !slices.Equal(got, []string{"Only this."}) {
		t.Errorf("in the end %q was said", got)
	}

	// The other loses its node.
	closed, err := f.CloseLost(f.Context(), []ledger.Lost{{Account: acc, ID: lost.ID}})
	f.OK(errors.Join(err, closed[0].Err))
	if got := said(read(lost.ID)); !slices.Equal(got, whole) {
		t.Errorf("without its node %q was said", got)
	}
	recovered := func(at time.Time) int {
		t.Helper()
		n, err := h.Recover(f.At(at))
		f.OK(err)
		return n
	}
	if n := recovered(t0.Add(30 * time.Second)); n != 0 {
		t.Errorf("%d are recovered while their nodes may come back", n)
	}
	if n, again := recovered(t0.Add(2*time.Minute)), recovered(t0.Add(2*time.Minute)); n != 1 || again != 0 {
		t.Errorf("%d are recovered, and then %d", n, again)
	}
	c = read(lost.ID)
	if got := said(c); !slices.Equal(got, whole) || len(c.Functions) != 1 || len(c.Generations) != 1 || c.Engines == nil || c.Engines.LLM[0] != "haiku" {
		t.Errorf("recovered: %+v", c.Conversation)
	}
	log, err := h.CallLog(f.Context(), acc, lost.ID)
	f.OK(err)
	if log.Status != "ringing" || len(log.Events) != 5 || log.Events[0].Status != "connected" || log.Events[1].Line.Words != nil || log.Events[3].Correction == nil {
		t.Errorf("its log: %+v", log)
	}
	found, err := h.Calls(f.Context(), acc, history.CallPage{Said: `"table for two"`})
	f.OK(err)
	if len(found) != 1 || found[0].ID != lost.ID {
		t.Errorf("found by what was said: %+v", found)
	}
}

// TestEventsOfDeletedCalls: of a call that was deleted no event is kept, nor stored.
func TestEventsOfDeletedCalls(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	acc := f.NewAccount(10 * usd)
	s := f.Start(acc, web)
	f.OK(h.SaveEvents(f.Context(), spoken(acc, s.ID)[:4]))
	f.OK(h.ForgetCall(f.Context(), acc, s.ID))
	f.OK(h.SaveEvents(f.Context(), spoken(acc, s.ID)))
	c, err := h.Call(f.Context(), acc, s.ID)
	f.OK(err)
	if len(c.Transcript) != 0 || len(c.Functions) != 0 {
		t.Errorf("%+v", c.Conversation)
	}
}
