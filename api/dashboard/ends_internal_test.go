package dashboard

import (
	"testing"

	"parley/billing"
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

// TestSmallAmounts are short and never nothing.
func TestSmallAmounts(t *testing.T) {
	for m, want := range map[billing.Money]string{0: "$0.00", 1: "$0.000000001", 5_480_333: "$0.0055", 86_400: "$0.000086", 9_999_999: "$0.01", -252_000: "−$0.00025", 10_000_000: "$0.01",
		1_995_000_000: "$2.00"} {
		if got, err := usd(m); err != nil || got != want {
			t.Errorf("%d: %q %v", m, got, err)
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
