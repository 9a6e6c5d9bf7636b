package billing_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"parley/billing"
)

// TestMonths compares the dates on which numbers are paid with those of
// testdata/months.golden, which a person can check with a calendar.
func TestMonths(t *testing.T) {
	var b strings.Builder
	for _, anchor := range []string{
		"2026-01-31T09:30:00.000001Z", "2026-01-30T00:00:00Z", "2026-02-28T23:59:59Z", "2027-12-31T12:00:00Z", "2028-02-29T12:00:00Z",
		"2026-03-15T12:00:00Z", "2026-05-31T23:30:00-02:00",
	} {
		at, err := time.Parse(time.RFC3339Nano, anchor)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(&b, anchor)
		for n := range 14 {
			fmt.Fprintf(&b, "  %2d  %s\n", n, billing.Month(at, n).Format(time.RFC3339Nano))
		}
	}
	file := filepath.Join("testdata", "months.golden")
	if os.Getenv("PARLEY_GOLDEN") == "update" {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the dates are\n%s", b.String())
	}
}

// Months that follow each other lie apart by at most 31 days, on the anchor's day
// or the last of a shorter month, over fifty years.
func TestMonthsNeverDrift(t *testing.T) {
	for day := range 366 {
		anchor := time.Date(2028, 1, 1+day, 13, 14, 15, 0, time.UTC)
		before := anchor
		for n := 1; n <= 600; n++ {
			at := billing.Month(anchor, n)
			last := at.AddDate(0, 0, 1).Month() != at.Month()
			if gap := at.Sub(before); gap < 28*24*time.Hour || gap > 31*24*time.Hour || at.Day() != anchor.Day() && (!last || at.Day() > anchor.Day()) {
				t.Fatalf("month %d after %s is %s, after %s", n, anchor, at, before)
			}
			before = at
		}
	}
}
