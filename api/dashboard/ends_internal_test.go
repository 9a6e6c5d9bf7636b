package dashboard

import (
	"testing"
)

// TestEndingsInWords: who hung up depends on who called, and causes are said that are known.
func TestEndingsInWords(t *testing.T) {
	cause := func(s string) *string { return &s }
	for _, tt := range []struct {
		outbound bool
		reason   string
		detail   *string
		want     string
	}{
		{false, "user_hangup", nil, "Caller hung up"}, {true, "user_hangup", nil, "They hung up"}, {true, "failed", cause("invalid_number"), "Failed: no such number"},
		{true, "failed", cause("something new"), "Failed"}, {true, "rejected", cause("blocked_as_spam"), "Rejected: blocked as spam"}, {false, "agent_hangup", cause("idle"), "Agent hung up"},
	} {
		if got := ending(tt.outbound, tt.reason, tt.detail); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

// TestAnswererInWords: the page of a call has a word for each answerer that the API names.
func TestAnswererInWords(t *testing.T) {
	v := &callView{}
	if got := v.Answerer(); got != "" {
		t.Errorf("nobody: %q", got)
	}
	for by, want := range map[string]string{"human": "a person", "machine": "a machine", "screening": "a screening assistant", "unknown": "not clear"} {
		v.AnsweredBy = &by
		if got := v.Answerer(); got != want {
			t.Errorf("%s: %q", by, got)
		}
	}
}
