package billing

import "time"

// Month is when the n-th month after anchor begins: on the anchor's day and time of
// day, UTC, and where a month has no such day, on its last. It is counted from the
// anchor and never from the month before, so a short month shortens no other:
// 31 January, 28 February, 31 March.
func Month(anchor time.Time, n int) time.Time {
	anchor = anchor.UTC()
	first := time.Date(anchor.Year(), anchor.Month()+time.Month(n), 1,
		anchor.Hour(), anchor.Minute(), anchor.Second(), anchor.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(anchor.Day(), last)-1)
}
