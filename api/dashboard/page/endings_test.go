package page

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
		if got := Ending(tt.outbound, tt.reason, tt.detail); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
