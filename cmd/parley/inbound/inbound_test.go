package inbound

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"parley/billing"
	"parley/pipeline/session"
	"parley/sip/header"
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
	from := header.Identity{Number: "+15550100001", Display: "Ann", Verstat: passed}
	asserted := header.Identity{Number: "+15550100002", Display: "Bob", Verstat: "TN-Validation-Failed"}
	for _, tt := range []struct {
		name string
		in   arrival
		want header.Identity
	}{
		{"asserted", arrival{From: from, Asserted: asserted, Trusted: true}, asserted},
		{"the name of From", arrival{From: from, Asserted: header.Identity{Number: "+15550100002"}, Trusted: true},
			header.Identity{Number: "+15550100002", Display: "Ann"}},
		{"nothing asserted", arrival{From: from, Trusted: true}, from},
		{"not trusted", arrival{From: from}, header.Identity{Number: "+15550100001", Display: "Ann"}},
		{"asserted, and not trusted", arrival{From: from, Asserted: asserted}, header.Identity{Number: "+15550100001", Display: "Ann"}},
	} {
		if got := callerOf(&tt.in); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestOriginOf: what a far end says of a call's way is shown, and what a carrier attests counts where it is trusted.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	in := arrival{Called: "+34911234567", Headers: header.Fields{Attestation: "A", OrigID: "origin",
		Diversions: []header.Diversion{{By: header.Identity{Number: "+34911234569", Display: "Desk", Host: "h"}, Reason: "no-answer"}, {By: header.Identity{Number: "+34911234568"}}},
		History:    []header.HistoryEntry{{Index: "1", To: header.Identity{Number: "+34911234568"}, Cause: 302}}}}
	want := store.CallOrigin{DivertedBy: "+34911234569", FirstCalled: "+34911234568", Diversions: []store.CallDiversion{{Number: "+34911234569", Name: "Desk", Reason: "no-answer"},
		{Number: "+34911234568"}}, History: []store.CallStation{{Index: "1", Number: "+34911234568", Cause: 302}}}
	if got := originOf(&in); !reflect.DeepEqual(*got, want) || attestationOf(&in) != "" {
		t.Errorf("not trusted: %+v, %q", got, attestationOf(&in))
	}
	in.Trusted, want.OrigID = true, "origin"
	if got := originOf(&in); !reflect.DeepEqual(*got, want) || attestationOf(&in) != "A" {
		t.Errorf("trusted: %+v, %q", got, attestationOf(&in))
	}
	if got := originOf(&arrival{Headers: header.Fields{OrigID: "origin", Custom: map[string]string{"X-A": "1"}}}); got != nil {
		t.Errorf("of a call that came directly: %+v", got)
	}
}

// TestVerified: a number that passed its check, and of which the carrier does not say that it is another's.
func TestVerified(t *testing.T) {
	t.Parallel()
	for said, want := range map[[2]string]bool{{numberPassed, ""}: true, {numberPassed, "A"}: true, {numberPassed + "-A", "A"}: true, {numberPassed, "B"}: false,
		{numberPassed, "C"}: false, {numberPassed + "-B", "B"}: false, {"TN-Validation-Failed", "A"}: false, {"", "A"}: false, {"", ""}: false} {
		if got := verified(header.Identity{Verstat: said[0]}, said[1]); got != want {
			t.Errorf("%q: %v", said, got)
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
