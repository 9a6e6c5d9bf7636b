package server

import (
	"fmt"
	"io"
	"strings"

	"parley/api/wire"
	"parley/billing"
)

// Dollars rounds down to the cent, also below zero, so that a balance never looks
// larger than it is.
func Dollars[M billing.Money | wire.USD](m M) string {
	cents, sign := int64(billing.Money(m).Floor(billing.Cent)/billing.Cent), ""
	if cents < 0 {
		cents, sign = -cents, "-"
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

// Plural is a unit as it stands behind n.
func Plural(unit string, n int64) string {
	if n == 1 {
		return unit
	}
	return unit + "s"
}

// Total says how many there are of a thing, or how many of them follow.
func Total(w io.Writer, n int, thing string, more bool) {
	first := ""
	if more {
		first = "the first "
	}
	fmt.Fprintf(w, "%s%d %s\n", first, n, Plural(thing, int64(n)))
}

// OrDash is a text, or what stands for none in a column.
func OrDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}

// OneLine is a text in a column: words with single spaces.
func OneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
