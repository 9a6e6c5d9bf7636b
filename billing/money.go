// Package billing is the arithmetic of what things cost: exact Money, the public
// RateCard, the Usage of a session, the Tariff that prices it, the Meter that
// counts it and the Pots of a prepaid wallet. It is pure: no clock, no database,
// no network, nothing of ours imported.
//
// Everything a session used is counted cumulatively and priced from the totals,
// so each component is rounded once, by at most half a nano-dollar, however often
// the price was asked for.
package billing

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in nano-dollars (1e-9 USD). It holds about nine billion
// dollars either way. Token prices are hundreds of nano-dollars, so a coarser
// unit could not hold them and a float could not add them.
type Money int64

// MaxSpendingLimit bounds what may be set as the spending limit of a day.
const MaxSpendingLimit = 1_000_000 * USD

// Units of Money.
const (
	Nano Money = 1
	Cent Money = 10_000_000
	USD  Money = 1_000_000_000
)

// moneyDigits is how many digits may follow the decimal point.
const moneyDigits = 9

// ErrMoney is wrapped by every failure to read an amount.
var ErrMoney = errors.New("not an amount of money")

// ParseMoney reads dollars written as plain decimals, such as "-12.5" or "0.000000075".
// Exponents, a plus sign, separators and more than nine decimals are refused
// instead of rounded.
func ParseMoney(s string) (Money, error) {
	digits, negative := strings.CutPrefix(s, "-")
	whole, frac, point := strings.Cut(digits, ".")
	if whole == "" || (point && frac == "") || !allDigits(whole) || !allDigits(frac) {
		return 0, fmt.Errorf("%w: %q (write it as 12.5)", ErrMoney, clip(s))
	}
	if len(frac) > moneyDigits {
		return 0, fmt.Errorf("%w: %q (at most %d decimals)", ErrMoney, clip(s), moneyDigits)
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", moneyDigits-len(frac)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%w: %q (too large)", ErrMoney, clip(s))
	}
	if negative {
		n = -n
	}
	return Money(n), nil
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return true
}

// clip keeps an unreasonable input from filling a message.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "..."
	}
	return s
}

// String gives dollars exactly, without trailing zeros: "5", "0.25", "-0.000000075".
func (m Money) String() string { return string(m.append(nil)) }

func (m Money) append(b []byte) []byte {
	u := uint64(m)
	if m < 0 {
		b = append(b, '-')
		u = -u
	}
	b = strconv.AppendUint(b, u/uint64(USD), 10)
	frac := u % uint64(USD)
	if frac == 0 {
		return b
	}
	b = append(b, '.')
	for unit := uint64(USD) / 10; frac > 0; unit /= 10 {
		b = append(b, byte('0'+frac/unit))
		frac %= unit
	}
	return b
}

// MarshalJSON writes a JSON number of dollars, exactly.
func (m Money) MarshalJSON() ([]byte, error) { return m.append(nil), nil }

// UnmarshalJSON reads a JSON number of dollars; a string is refused. As for every
// JSON value, null changes nothing.
func (m *Money) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	v, err := ParseMoney(string(b))
	if err != nil {
		return err
	}
	*m = v
	return nil
}

// Floor rounds down, also below zero, to a whole number of units: a balance is
// shown as Floor(Cent), so that it never promises more than there is.
func (m Money) Floor(unit Money) Money {
	r := m % unit
	if r < 0 {
		r += unit
	}
	if m < math.MinInt64+r {
		return m
	}
	return m - r
}
