package node

import (
	"errors"
	"fmt"
	"testing"

	"parley/billing"
	"parley/store"
)

func TestCalledNumber(t *testing.T) {
	for called, want := range map[string]string{
		"+34911234567": "+34911234567", "34911234567": "+34911234567", "0034911234567": "+34911234567",
		"+34 911-23.45(67)": "+34911234567", "": "+", "lola": "+lola",
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
		store.ErrSuspended: 480, store.ErrSpending: 480, billing.ErrNoPrice: 480, store.ErrUnavailable: 503, errors.New("else"): 503,
	} {
		code, retry := refusalCode(fmt.Errorf("wrapped: %w", err))
		if code != want || (retry > 0) != (want == 503) {
			t.Errorf("%v: %d, again after %v; want %d", err, code, retry, want)
		}
	}
}
