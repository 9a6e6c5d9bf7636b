package ledger_test

import (
	"os"
	"strings"
	"testing"

	"parley/billing"
)

// cardWith is the built-in card with pieces of its text replaced.
func cardWith(t testing.TB, replace map[string]string) *billing.RateCard {
	t.Helper()
	b, err := os.ReadFile("../../billing/ratecard.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for old, to := range replace {
		if !strings.Contains(text, old) {
			t.Fatalf("the card has no %q", old)
		}
		text = strings.Replace(text, old, to, 1)
	}
	c, err := billing.ParseRateCard([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}
