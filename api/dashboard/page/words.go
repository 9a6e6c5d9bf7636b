package page

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"parley/api/wire"
	"parley/billing"
)

// USD writes an amount, billing.Money or wire.USD, for people: to the cent, and below one
// to two digits that are none of the zeros before them.
func USD(amount any) (string, error) {
	var m billing.Money
	switch a := amount.(type) {
	case billing.Money:
		m = a
	case wire.USD:
		m = billing.Money(a)
	default:
		return "", fmt.Errorf("%T is no amount", amount)
	}
	sign := ""
	if m < 0 {
		sign, m = "−", -m
	}
	cents := billing.USD / 100
	if m != 0 && m < cents {
		last := billing.Money(1)
		for m/last >= 100 {
			last *= 10
		}
		return sign + "$" + ((m + last/2) / last * last).String(), nil
	}
	rounded := (m + cents/2) / cents
	return fmt.Sprintf("%s$%d.%02d", sign, rounded/100, rounded%100), nil
}

// Exact writes an amount with all its decimals, two at least: entries add up to the last
// of them.
func Exact(u wire.USD) string {
	m, sign := billing.Money(u), "$"
	if m < 0 {
		sign, m = "−$", -m
	}
	whole, part, _ := strings.Cut(m.String(), ".")
	for len(part) < 2 {
		part += "0"
	}
	return sign + whole + "." + part
}

// moment writes a time for scripts to turn into the reader's own; nothing for none.
func moment(t *time.Time, none string) template.HTML {
	if t == nil {
		return template.HTML(template.HTMLEscapeString(none))
	}
	return when(*t)
}

// when writes a time in UTC, which a script turns into the reader's own.
func when(t time.Time) template.HTML {
	t = t.UTC()
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s UTC</time>`, t.Format(time.RFC3339), t.Format("2 Jan 2006, 15:04")))
}

// duration writes how long something took: 0:07, 12:30, 1:02:03.
func duration(d time.Duration) string {
	s := int(d.Round(time.Second) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
