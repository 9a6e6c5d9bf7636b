// Package report is what pages of the dashboard show of an account's calls in figures: charts by
// day, with the ranges of days to choose, and the page about latencies. It asks the API's routes.
// The templates are the dashboard's, whose tests use the page in a browser.
package report

import (
	"fmt"
	"net/url"
	"time"
)

// Chart is a figure of each day of a range, as bars, for the template "day-chart". A day is ten units
// wide, and the highest bar a thousand high.
type Chart struct {
	ID, Title   string
	Top         string // the figure of the highest
	First, Last string // day
	Width       int
	Bars        []Bar
}

// Bar is one figure of a day; Y counts from above. Of several of a day each begins at the bottom, and
// Class tells them apart.
type Bar struct {
	X, Y, Height int
	Class, Label string
}

// Figure is what a chart shows.
type Figure struct {
	ID, Title string
	Least     float64              // that the top stands for at least
	Say       func(float64) string // in words
	// Series names the figures of a day, the largest first, such as p99, p95, p50; nil: a day has one.
	Series []string
}

// Day is a day as 2026-03-01, with its figures in the order of the series. Those that are not above zero have no bar.
type Day struct {
	Date    string
	Figures []float64
}

// Chart draws the days, of which none may be missing but those without figures. from is the first day of the range, and to the
// day after its last one. A day that is no date is an error.
func (f Figure) Chart(from, to string, days []Day) (Chart, error) {
	first, err := time.Parse(time.DateOnly, from)
	if err != nil {
		return Chart{}, err
	}
	end, err := time.Parse(time.DateOnly, to)
	if err != nil {
		return Chart{}, err
	}
	top := f.Least
	for _, d := range days {
		for _, n := range d.Figures {
			top = max(top, n)
		}
	}
	c := Chart{ID: f.ID, Title: f.Title, Top: f.Say(top), First: shortDay(first), Last: shortDay(end.AddDate(0, 0, -1)), Width: 10 * daysBetween(first, end)}
	for _, d := range days {
		day, err := time.Parse(time.DateOnly, d.Date)
		if err != nil {
			return Chart{}, err
		}
		for i, n := range d.Figures {
			if n <= 0 {
				continue
			}
			height := max(10, int(1000*n/top))
			bar := Bar{X: 10*daysBetween(first, day) + 1, Y: 1000 - height, Height: height, Label: shortDay(day) + ": " + f.Say(n)}
			if i < len(f.Series) {
				bar.Class, bar.Label = f.Series[i], fmt.Sprintf("%s, %s: %s", shortDay(day), f.Series[i], f.Say(n))
			}
			c.Bars = append(c.Bars, bar)
		}
	}
	return c, nil
}

// daysBetween is how many days lie between two midnights, UTC.
func daysBetween(a, b time.Time) int { return int(b.Sub(a) / (24 * time.Hour)) }

// shortDay is a day for people.
func shortDay(t time.Time) string { return t.Format("2 Jan 2006") }

// Range is a number of days until today to choose.
type Range struct {
	Days    int
	Path    string
	Current bool
}

// Tomorrow is the day after the one of now, UTC: the end of a range that has today in it.
func Tomorrow(now time.Time) time.Time { return now.UTC().Truncate(24*time.Hour).AddDate(0, 0, 1) }

// Ranges are links to the page at for some numbers of days, which keep what else its address narrows down by. from and to are
// the range that is shown, tomorrow is the end of each range.
func Ranges(at string, filter url.Values, from, to string, tomorrow time.Time, days ...int) []Range {
	kept := url.Values{}
	for name, values := range filter {
		if name != "from" && name != "to" {
			kept[name] = values
		}
	}
	ranges := make([]Range, 0, len(days))
	for _, n := range days {
		begin := tomorrow.AddDate(0, 0, -n).Format(time.DateOnly)
		kept.Set("from", begin)
		ranges = append(ranges, Range{n, at + "?" + kept.Encode(), from == begin && to == tomorrow.Format(time.DateOnly)})
	}
	return ranges
}
