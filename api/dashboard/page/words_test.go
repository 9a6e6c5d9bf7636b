package page_test

import (
	"testing"

	"parley/api/dashboard/page"
	"parley/billing"
)

// TestSmallAmounts are short and never nothing.
func TestSmallAmounts(t *testing.T) {
	for m, want := range map[billing.Money]string{0: "$0.00", 1: "$0.000000001", 5_480_333: "$0.0055", 86_400: "$0.000086", 9_999_999: "$0.01", -252_000: "−$0.00025", 10_000_000: "$0.01",
		1_995_000_000: "$2.00"} {
		if got, err := page.USD(m); err != nil || got != want {
			t.Errorf("%d: %q %v", m, got, err)
		}
	}
}
