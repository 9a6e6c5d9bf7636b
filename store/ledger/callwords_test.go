package ledger_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/billing"
	"parley/store"
	"parley/store/history"
)

// TestCallsAreFoundByWords: by all that are asked for, of either side, in one account, as the transcript
// is in the end; what was deleted is not found.
func TestCallsAreFoundByWords(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	acc, other := f.NewAccount(10*usd), f.NewAccount(10*usd)
	call := func(account string, texts ...string) string {
		t.Helper()
		s := f.withAgent(account, f.analyst(account, wantsBoth))
		f.OK(h.SaveConversation(f.Context(), account, s.ID, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "not this"}}}))
		var c history.Conversation
		for _, text := range texts {
			c.Transcript = append(c.Transcript, history.TranscriptLine{Role: "user", Text: text})
		}
		f.OK(h.SaveConversation(f.Context(), account, s.ID, c))
		return s.ID
	}
	refund := call(acc, "I want a refund, please.", "Of last week's order?")
	order := call(acc, "My last order: where is it? ¿Y el café?\x00\xff")
	others := call(other, "I want a refund of last week.")
	find := func(account, said string) string {
		t.Helper()
		list, err := h.Calls(f.Context(), account, history.CallPage{Said: said})
		f.OK(err)
		var found []string
		for _, c := range list {
			found = append(found, c.ID)
		}
		slices.Sort(found) // they began at one moment
		return strings.Join(found, " ")
	}
	both := strings.Join([]string{min(refund, order), max(refund, order)}, " ")
	for said, want := range map[string]string{"refund": refund, "REFUND": refund, "order": both, "last order": both, `"last order"`: order, `"last week"`: refund,
		"refund or café": both, "order -refund": order, "nothing": "", "this": "", "re": "", acc: "", other: "", "' || 1": ""} {
		if got := find(acc, said); got != want {
			t.Errorf("%q finds %s, want %s", said, got, want)
		}
	}
	if got := find(other, "refund"); got != others {
		t.Errorf("another account finds %s", got)
	}
	f.OK(h.ForgetCall(f.At(t0.Add(time.Minute)), acc, refund))
	f.OK(h.SaveConversation(f.Context(), acc, refund, history.Conversation{Transcript: []history.TranscriptLine{{Role: "user", Text: "a refund"}}}))
	if got := find(acc, "refund"); got != "" {
		t.Errorf("what was deleted is found: %s", got)
	}
}

// TestKeptWithACall: metadata, tags and a note are the account's, and pick calls.
func TestKeptWithACall(t *testing.T) {
	f := setup(t)
	h := history.New(f.DB)
	acc, other := f.NewAccount(10*usd), f.NewAccount(10*usd)
	s := f.withAgent(acc, f.analyst(acc, wantsBoth))
	f.CloseWith(s, billing.Usage{billing.AgentTime: 60_000})
	note := "call back"
	keep := func(k *history.Kept) error {
		k.Metadata, k.Tags, k.Note = map[string]string{"order": "42"}, []string{"vip", "angry"}, &note
		return nil
	}
	if err := h.Keep(f.Context(), other, s.ID, keep); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another account: %v", err)
	}
	f.OK(h.Keep(f.Context(), acc, s.ID, keep))
	if err := h.Keep(f.Context(), acc, s.ID, func(k *history.Kept) error { k.Note = nil; return store.ErrInvalid }); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("what is refused: %v", err)
	}
	c, err := h.Call(f.Context(), acc, s.ID)
	f.OK(err)
	if !maps.Equal(c.Metadata, map[string]string{"order": "42"}) || !slices.Equal(c.Tags, []string{"vip", "angry"}) || c.Note == nil || *c.Note != note {
		t.Errorf("%+v", c.Kept)
	}
	for tag, want := range map[string]int{"vip": 1, "angry": 1, "vi": 0, "VIP": 0} {
		if list, err := h.Calls(f.Context(), acc, history.CallPage{Tag: tag}); err != nil || len(list) != want {
			t.Errorf("%s: %d calls, %v", tag, len(list), err)
		}
	}
	f.OK(h.ForgetCall(f.Context(), acc, s.ID))
	if c, err = h.Call(f.Context(), acc, s.ID); err != nil || c.Note != nil || len(c.Tags) != 2 || len(c.Metadata) != 1 {
		t.Errorf("of a deleted call there is %+v, %v", c.Kept, err)
	}
}
