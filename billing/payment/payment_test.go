package payment_test

import (
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"parley/billing"
	"parley/billing/payment"
)

func TestCents(t *testing.T) {
	for _, c := range []struct {
		m    billing.Money
		want int64 // 0: refused
	}{
		{billing.Cent, 1}, {10 * billing.USD, 1000}, {2000 * billing.USD, 200_000}, {12_340_000_000, 1234},
		{0, 0}, {-billing.USD, 0}, {1, 0}, {billing.Cent - 1, 0}, {billing.USD + 1, 0}, {math.MaxInt64, 0}, {math.MinInt64, 0},
	} {
		got, err := payment.Cents(c.m)
		if got != c.want || (c.want == 0) != errors.Is(err, payment.ErrAmount) {
			t.Errorf("Cents(%d) = %d, %v; want %d", c.m, got, err, c.want)
		}
	}
	for _, cents := range []int64{-1, math.MaxInt64, math.MaxInt64/int64(billing.Cent) + 1, math.MinInt64} {
		if got, err := payment.FromCents(cents); !errors.Is(err, payment.ErrAmount) {
			t.Errorf("FromCents(%d) = %d, %v", cents, got, err)
		}
	}
	if got, err := payment.FromCents(0); got != 0 || err != nil {
		t.Errorf("FromCents(0) = %d, %v", got, err)
	}
}

func TestCentsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.Int64Range(1, math.MaxInt64/int64(billing.Cent)).Draw(t, "cents")
		m, err := payment.FromCents(cents)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := payment.Cents(m); back != cents || err != nil {
			t.Fatalf("%d cents are %s, and back %d, %v", cents, m, back, err)
		}
	})
}

func TestCardErrorSaysWhatAndWhy(t *testing.T) {
	err := error(&payment.CardError{Err: payment.ErrDeclined, Code: "insufficient_funds", Payment: "pi_1"})
	if !errors.Is(err, payment.ErrDeclined) || errors.Is(err, payment.ErrNoCard) || err.Error() != "the card was declined: insufficient_funds" {
		t.Error(err)
	}
	if got := (&payment.CardError{Err: payment.ErrNoCard}).Error(); got != "no saved card" {
		t.Error(got)
	}
}
