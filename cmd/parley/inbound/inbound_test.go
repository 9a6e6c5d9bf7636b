package inbound

import (
	"errors"
	"fmt"
	"testing"

	"parley/billing"
	"parley/pipeline/session"
	"parley/sip"
	"parley/sip/trunk"
	"parley/store"
)

func TestCalledNumber(t *testing.T) {
	for called, want := range map[string]string{
		"+34911234567": "+34911234567", "34911234567": "+34911234567", "0034911234567": "+34911234567",
		"+34 911-23.45(67)": "+34911234567", "": "", "lola": "lola", "100": "100",
	} {
		if got := e164(called); got != want {
			t.Errorf("%q is %q, want %q", called, got, want)
		}
	}
}

// Every refusal of a call has the answer that a carrier understands.
func TestRefusalCodes(t *testing.T) {
	for err, want := range map[error]int{
		store.ErrNotFound: 404, errNoRoute: 404, store.ErrInvalid: 404, store.ErrConcurrency: 486, store.ErrInsufficientBalance: 480, store.ErrDisputed: 480,
		store.ErrSuspended: 480, store.ErrSpending: 480, billing.ErrNoPrice: 480, store.ErrUnavailable: 503, session.ErrFull: 503, errors.New("else"): 503,
	} {
		code, retry := refusalCode(fmt.Errorf("wrapped: %w", err))
		if code != want || (retry > 0) != (want == 503) {
			t.Errorf("%v: %d, again after %v; want %d", err, code, retry, want)
		}
	}
}

// TestCallerOf: one identity, and a check of it only where the trunk is trusted.
func TestCallerOf(t *testing.T) {
	t.Parallel()
	const passed = numberPassed
	from := sip.Identity{Number: "+15550100001", Display: "Ann", Verstat: passed}
	asserted := sip.Identity{Number: "+15550100002", Display: "Bob", Verstat: "TN-Validation-Failed"}
	for _, tt := range []struct {
		name string
		in   sip.Incoming
		want sip.Identity
	}{
		{"asserted", sip.Incoming{From: from, Asserted: asserted, Trusted: true}, asserted},
		{"the name of From", sip.Incoming{From: from, Asserted: sip.Identity{Number: "+15550100002"}, Trusted: true},
			sip.Identity{Number: "+15550100002", Display: "Ann"}},
		{"nothing asserted", sip.Incoming{From: from, Trusted: true}, from},
		{"not trusted", sip.Incoming{From: from}, sip.Identity{Number: "+15550100001", Display: "Ann"}},
	} {
		if got := callerOf(&tt.in); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestNumbersOfAnotherTrunk: a trunk that lists numbers brings none of another's.
func TestNumbersOfAnotherTrunk(t *testing.T) {
	t.Parallel()
	n := &Answerer{Trunks: []trunk.Config{
		{Name: "a", Numbers: []string{"+15550100001"}}, {Name: "b", Numbers: []string{"+15550100002"}}, {Name: "open"}}}
	for _, tt := range []struct {
		trunk, called string
		want          bool
	}{
		{"a", "+15550100001", false},
		{"a", "15550100002", true},
		{"a", "+15550100003", false}, // nobody's: as ever
		{"open", "+15550100002", false},
		{"", "+15550100002", false},
	} {
		if got := n.misrouted(tt.trunk, e164(tt.called)); got != tt.want {
			t.Errorf("%s on %q: %v", tt.called, tt.trunk, got)
		}
	}
}
