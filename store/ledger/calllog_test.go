package ledger_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"parley/store"
	"parley/store/history"
)

func TestCallLog(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(0), f.NewAccount(0)
	s := f.Start(acc, inboundES)
	l, err := history.New(f.DB).CallLog(f.Context(), acc, s.ID)
	f.OK(err)
	if !reflect.DeepEqual(*l, history.CallLog{}) {
		t.Errorf("before anything is stored: %+v", l)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	want := history.CallLog{At: at, Status: "connected", AnsweredBy: "human", Lines: 3, Omitted: 9, Events: []history.CallEvent{
		{At: at, Status: "connected"},
		{At: at.Add(time.Second), Line: &history.TranscriptLine{Role: "user", Text: "a\x00 \\u0000 \u2028", AtMS: 7}},
		{At: at.Add(2 * time.Second), Correction: &history.Correction{Line: 3, Text: "b\x00"}}}}
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Log: &history.CallLog{Status: "dialing"}}))
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{Log: &want})) // replaces
	f.OK(history.New(f.DB).SaveConversation(f.Context(), acc, s.ID, history.Conversation{}))           // leaves it
	if want.Events[1].Line.Text != "a\x00 \\u0000 \u2028" {
		t.Error("what was given to store has changed")
	}
	want.Events[1].Line.Text, want.Events[2].Correction.Text = "a \\u0000 \u2028", "b"
	l, err = history.New(f.DB).CallLog(f.Context(), acc, s.ID)
	f.OK(err)
	if !reflect.DeepEqual(*l, want) {
		t.Errorf("stored %+v\nread   %+v", want, l)
	}
	for _, account := range []string{other, "acc_none"} {
		if _, err := history.New(f.DB).CallLog(f.Context(), account, s.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s reads it: %v", account, err)
		}
	}
}
