package destination

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func at(t *testing.T, text string) time.Time {
	t.Helper()
	got, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func zonesOf(t *testing.T, names ...string) (list []*time.Location) {
	t.Helper()
	for _, name := range names {
		z, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, z)
	}
	return list
}

// TestHours: when the telephone may ring next, through changes of clocks and of days.
// In 2026 clocks go forward in Madrid on 29 March at 02:00, in New York on 8 March at
// 02:00, and back on 25 October at 03:00 and 1 November at 02:00.
func TestHours(t *testing.T) {
	madrid, newYork := []string{"Europe/Madrid"}, []string{"America/New_York"}
	for _, tt := range []struct {
		name, from, to string
		zones          []string
		now, next      string // next: empty when it is open now, "never"
	}{
		{"open", "09:00", "20:00", madrid, "2026-06-01T07:00:00Z", ""},
		{"the last minute", "09:00", "20:00", madrid, "2026-06-01T17:59:59Z", ""},
		{"closed to the second", "09:00", "20:00", madrid, "2026-06-01T18:00:00Z", "2026-06-02T07:00:00Z"},
		{"before it opens", "09:00", "20:00", madrid, "2026-06-01T06:59:59.5Z", "2026-06-01T07:00:00Z"},
		{"in winter", "09:00", "20:00", madrid, "2026-01-10T19:30:00Z", "2026-01-11T08:00:00Z"},
		{"the night the clocks go forward", "09:00", "20:00", madrid, "2026-03-28T19:00:00Z", "2026-03-29T07:00:00Z"},
		{"the night the clocks go back", "09:00", "20:00", madrid, "2026-10-24T18:00:00Z", "2026-10-25T08:00:00Z"},
		{"forward in New York", "08:00", "21:00", newYork, "2026-03-08T02:00:00Z", "2026-03-08T12:00:00Z"},
		{"back in New York", "08:00", "21:00", newYork, "2026-11-01T01:00:00Z", "2026-11-01T13:00:00Z"},
		{"an hour that is left out begins late", "02:30", "04:00", madrid, "2026-03-29T00:59:00Z", "2026-03-29T01:00:00Z"},
		{"one that is left out altogether", "02:10", "02:50", madrid, "2026-03-29T00:30:00Z", "2026-03-30T00:10:00Z"},
		{"an hour that is repeated, first", "02:00", "03:00", madrid, "2026-10-25T00:30:00Z", ""},
		{"an hour that is repeated, again", "02:00", "03:00", madrid, "2026-10-25T01:30:00Z", ""},
		{"half of it again", "02:00", "02:30", madrid, "2026-10-25T00:45:00Z", "2026-10-25T01:00:00Z"},
		{"past midnight, late", "22:00", "06:00", madrid, "2026-06-01T21:00:00Z", ""},
		{"past midnight, early", "22:00", "06:00", madrid, "2026-06-01T03:59:00Z", ""},
		{"past midnight, closed", "22:00", "06:00", madrid, "2026-06-01T04:00:00Z", "2026-06-01T20:00:00Z"},
		{"until midnight", "20:00", "24:00", madrid, "2026-06-01T21:59:59Z", ""},
		{"from midnight", "00:00", "01:00", madrid, "2026-06-01T21:59:59Z", "2026-06-01T22:00:00Z"},
		{"all of two zones", "09:00", "20:00", []string{"America/New_York", "America/Los_Angeles"}, "2026-06-01T14:00:00Z", "2026-06-01T16:00:00Z"},
		{"the end of one is the end", "09:00", "20:00", []string{"America/New_York", "America/Los_Angeles"}, "2026-06-02T00:00:00Z", "2026-06-02T16:00:00Z"},
		{"a zone of half hours", "09:00", "20:00", []string{"Asia/Kolkata"}, "2026-06-01T03:00:00Z", "2026-06-01T03:30:00Z"},
		{"half an hour's change", "09:00", "20:00", []string{"Australia/Lord_Howe"}, "2026-04-04T10:00:00Z", "2026-04-04T22:30:00Z"},
		{"nothing in common", "09:00", "10:00", []string{"Europe/Madrid", "America/New_York"}, "2026-06-01T00:00:00Z", "never"},
		{"without zones", "09:00", "10:00", nil, "2026-06-01T00:00:00Z", ""},
	} {
		h, err := ParseHours(tt.from, tt.to)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		zones, now := zonesOf(t, tt.zones...), at(t, tt.now)
		next, ok := h.Next(now, zones)
		switch {
		case tt.next == "never":
			if ok {
				t.Errorf("%s: it opens at %s", tt.name, next)
			}
		case tt.next == "":
			if !ok || !next.Equal(now) || !h.Open(now, zones) {
				t.Errorf("%s: it is closed until %s", tt.name, next.UTC())
			}
		case !ok || !next.Equal(at(t, tt.next)) || h.Open(now, zones) || !h.Open(next, zones):
			t.Errorf("%s: next is %s, want %s", tt.name, next.UTC(), tt.next)
		}
		if a, b := h.Strings(); a != tt.from || b != tt.to {
			t.Errorf("%s: written it is %s %s", tt.name, a, b)
		}
	}
}

// TestNextIsTheFirst: there is no earlier minute within the hours, around each change
// of the clocks in a year.
func TestNextIsTheFirst(t *testing.T) {
	zones := zonesOf(t, "America/New_York", "Europe/Madrid")
	for _, h := range []Hours{{9 * 60, 20 * 60}, {22 * 60, 16 * 60}, {2*60 + 30, 23 * 60}, {9 * 60, 19 * 60}} {
		for _, day := range []string{"2026-03-07T00:07:00Z", "2026-03-28T00:07:00Z", "2026-10-24T00:07:00Z", "2026-10-31T00:07:00Z"} {
			for now := at(t, day); now.Before(at(t, day).Add(48 * time.Hour)); now = now.Add(37 * time.Minute) {
				next, ok := h.Next(now, zones)
				want := now
				for !h.Open(want, zones) && want.Sub(now) < nextMax {
					want = want.Truncate(time.Minute).Add(time.Minute)
				}
				if !ok || !next.Equal(want) {
					t.Fatalf("%+v at %s: %s, want %s", h, now, next, want)
				}
			}
		}
	}
}

func TestHoursThatAreNone(t *testing.T) {
	for _, h := range [][2]string{{"9:00", "20:00"}, {"09:00", "24:01"}, {"24:00", "09:00"}, {"09:00", "00:00"}, {"10:00", "10:00"}, {"", ""}, {"09:00:00", "10:00"}, {"09.00", "10:00"}} {
		if got, err := ParseHours(h[0], h[1]); !errors.Is(err, ErrHours) {
			t.Errorf("%v: %v, %v", h, got, err)
		}
	}
}

// TestZones: where numbers are, as far as they tell.
func TestZones(t *testing.T) {
	for number, want := range map[string][]string{
		"+34911234567": {"Europe/Madrid"}, "+34922123456": {"Atlantic/Canary"}, "+34612345678": {"Europe/Madrid"},
		"+14085551234": {"America/Los_Angeles"}, "+12125551234": {"America/New_York"}, "+447400123456": {"Europe/Guernsey", "Europe/Isle_of_Man", "Europe/London"},
		"+881612345678": nil, "": nil,
	} {
		if got := Zones(number); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", number, got, want)
		}
	}
}
