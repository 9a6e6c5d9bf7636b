package ledger_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"parley/store"
	"parley/store/history"
	"parley/store/ledger"
)

// TestReplayable: the latest calls of an agent that can be conducted again, newest first; those of other accounts are
// not there.
func TestReplayable(t *testing.T) {
	f := setup(t)
	acc, other := f.NewAccount(0), f.NewAccount(0)
	a, b := f.NewAgent(acc), f.NewAgent(acc)
	h := history.New(f.DB)
	var recorded []string
	for i, of := range []string{a.ID, a.ID, b.ID, a.ID, a.ID} {
		r := f.Request(acc, web)
		r.Agent = of
		begun := f.At(t0.Add(time.Duration(i) * time.Second)) // of one moment calls have no order
		s, err := f.StartSession(begun, r)
		f.OK(err)
		_, err = f.CloseSession(begun, s, ledger.Closing{Reason: "user_hangup"})
		f.OK(err)
		if i == 1 { // this one was not recorded
			continue
		}
		f.OK(h.SaveConversation(f.Context(), acc, s.ID, history.Conversation{Replay: fmt.Append(nil, "record ", i)}))
		if of == a.ID {
			recorded = append([]string{s.ID}, recorded...)
		}
	}
	list, err := h.Replayable(f.Context(), acc, a.ID, 2)
	f.OK(err)
	if len(list) != 2 || list[0].ID != recorded[0] || list[1].ID != recorded[1] || list[0].StartedAt.IsZero() {
		t.Errorf("%+v, want the first two of %v", list, recorded)
	}
	if all, err := h.Replayable(f.Context(), acc, a.ID, 20); err != nil || len(all) != 3 {
		t.Errorf("%+v %v", all, err)
	}
	if theirs, err := h.Replayable(f.Context(), other, a.ID, 20); err != nil || len(theirs) != 0 {
		t.Errorf("another account has %+v %v", theirs, err)
	}
	if record, err := h.Record(f.Context(), acc, recorded[0]); err != nil || string(record) != "record 4" {
		t.Errorf("%s %v", record, err)
	}
	if _, err := h.Record(f.Context(), other, recorded[0]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another account reads it: %v", err)
	}
}
