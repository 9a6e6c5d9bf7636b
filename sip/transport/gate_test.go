package transport

import (
	"net/netip"
	"testing"
	"time"
)

func TestSources(t *testing.T) {
	s, now := newRateLimits(10), time.Unix(1_800_000_000, 0)
	count := func(a string, now time.Time) (n int) {
		for s.take(netip.MustParseAddr(a), now) {
			n++
		}
		return n
	}
	if n := count("192.0.2.1", now); n != 20 {
		t.Errorf("a burst of %d", n)
	}
	if n := count("192.0.2.2", now); n != 20 {
		t.Errorf("another source has %d", n)
	}
	if n := count("192.0.2.1", now.Add(time.Second)); n != 10 {
		t.Errorf("%d after a second", n)
	}
	if n := count("2001:db8::1", now) + count("2001:db8::2", now); n != 20 {
		t.Errorf("neighbours of one network have %d", n)
	}
	// The sources that are watched are bounded; those that are quiet make room.
	a := netip.MustParseAddr("10.0.0.0")
	for range maxSources {
		a = a.Next()
		s.take(a, now)
	}
	if len(s.seen) != maxSources || s.take(netip.MustParseAddr("198.51.100.1"), now) {
		t.Errorf("%d sources, and one more", len(s.seen))
	}
	if !s.take(netip.MustParseAddr("198.51.100.1"), now.Add(time.Minute)) || len(s.seen) > 2 {
		t.Errorf("%d sources after a quiet minute", len(s.seen))
	}
}

func TestRejectionsAreBounded(t *testing.T) {
	r := NewRejections()
	a, now := netip.MustParseAddr("10.0.0.0"), time.Unix(1_800_000_000, 0)
	for range 3 * maxRejections {
		a, now = a.Next(), now.Add(time.Second)
		r.Add(Rejection{Source: a, Cause: CauseUnknown}, now)
	}
	r.Add(Rejection{Source: a, Cause: CauseUnknown, Called: "+1", Code: 403}, now.Add(time.Second))
	list := r.List()
	if len(list) > maxRejections || len(list) < maxRejections/2 {
		t.Errorf("%d entries", len(list))
	}
	want := Rejection{First: now, Last: now.Add(time.Second), Count: 2, Source: a, Cause: CauseUnknown, Called: "+1", Code: 403}
	if list[0] != want {
		t.Errorf("the latest is %+v", list[0])
	}
	if n := r.Counts()[CauseUnknown]; n != 3*maxRejections+1 {
		t.Errorf("%d counted", n)
	}
}
