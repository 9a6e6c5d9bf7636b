package destination

import (
	"errors"
	"fmt"
	"time"
	_ "time/tzdata" // a server may run where no time zones are installed

	"github.com/nyaruka/phonenumbers"
)

// Hours are the time of day in which people may be called, by the clocks where they
// are. Both ends are minutes after midnight, From 0 to 1439 and To 1 to 1440; when To
// is below From the hours go on past midnight.
type Hours struct{ From, To int }

// ErrHours is the text of a time that is none, or of hours without any length.
var ErrHours = errors.New("hours are written as 09:00, from 00:00 to 24:00, and do not end when they begin")

// ParseHours reads the two ends, each as "15:04"; the second may be "24:00".
func ParseHours(from, to string) (h Hours, err error) {
	if h.From, err = minutes(from); err != nil {
		return Hours{}, err
	}
	if h.To, err = minutes(to); err != nil {
		return Hours{}, err
	}
	if h.From == 1440 || h.To == 0 || h.From == h.To {
		return Hours{}, ErrHours
	}
	return h, nil
}

func minutes(s string) (int, error) {
	if s == "24:00" {
		return 1440, nil
	}
	t, err := time.Parse("15:04", s)
	if err != nil || len(s) != len("15:04") {
		return 0, ErrHours
	}
	return t.Hour()*60 + t.Minute(), nil
}

// Strings are the two ends as ParseHours reads them.
func (h Hours) Strings() (from, to string) {
	clock := func(m int) string { return fmt.Sprintf("%02d:%02d", m/60, m%60) }
	return clock(h.From), clock(h.To)
}

// Open says whether it is within the hours in all of the zones. The clocks decide: an
// hour that daylight saving repeats counts twice, one that it leaves out not at all.
func (h Hours) Open(at time.Time, zones []*time.Location) bool {
	for _, z := range zones {
		if !h.within(at.In(z)) {
			return false
		}
	}
	return true
}

func (h Hours) within(at time.Time) bool {
	m := at.Hour()*60 + at.Minute()
	if h.From < h.To {
		return h.From <= m && m < h.To
	}
	return m >= h.From || m < h.To
}

const (
	// nextMax is how far ahead the hours are looked for: daylight saving may leave
	// short ones out for a day.
	nextMax = 72 * time.Hour
	// unsure is by how much a clock may be changed on the way, in minutes: hours begin
	// that much earlier than it promises, or again when they have just ended. No zone has
	// changed its own by more, but where the date line was moved.
	unsure = 180
)

// Next is the first minute from at on that is within the hours in all of the zones, at
// itself when that is; false: they have no minute in common within three days.
func (h Hours) Next(at time.Time, zones []*time.Location) (time.Time, bool) {
	if h.Open(at, zones) {
		return at, true
	}
	last := at.Add(nextMax)
	t := at.Truncate(time.Minute)
	for !t.After(last) {
		step := 1
		open := true
		for _, z := range zones {
			if local := t.In(z); !h.within(local) {
				open = false
				step = max(step, h.closed(local.Hour()*60+local.Minute()))
			}
		}
		if open && !t.Before(at) {
			return t, true
		}
		t = t.Add(time.Duration(step) * time.Minute)
	}
	return time.Time{}, false
}

// closed is for how many minutes more it is certainly not within the hours, by a clock
// that is not.
func (h Hours) closed(clock int) int {
	if since := (clock - h.To + 1440) % 1440; since < unsure {
		return 1
	}
	return (h.From-clock+1440)%1440 - unsure
}

// Zones are the names of the time zones in which a number may be, in IANA's words: one
// for most, several where the number does not tell. It is none when the number is none
// or its zone is not known.
func Zones(e164 string) []string {
	names, err := phonenumbers.GetTimezonesForPrefix(e164)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if _, err := time.LoadLocation(name); err != nil { // "Etc/Unknown"
			return nil
		}
	}
	return names
}
