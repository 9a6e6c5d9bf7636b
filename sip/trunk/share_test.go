package trunk

import (
	"testing"

	"golang.org/x/time/rate"
)

// TestShare: what several user agents may do together is no more than the trunk takes,
// and each may do something.
func TestShare(t *testing.T) {
	set := NewSet([]Config{{Name: "a", Channels: 5, CPS: 4}}, Options{})
	l := set.all()[0]
	free := func() (n int) {
		for l.enter() {
			n++
		}
		for range n {
			l.Release()
		}
		return n
	}
	for _, c := range []struct {
		agents, channels int
		cps              rate.Limit
	}{{1, 5, 4}, {2, 2, 2}, {8, 1, 0.5}, {0, 5, 4}} {
		set.Share(c.agents)
		if got := free(); got != c.channels || l.pace.Limit() != c.cps {
			t.Errorf("of %d: %d channels and %v a second, want %d and %v", c.agents, got, l.pace.Limit(), c.channels, c.cps)
		}
	}
	// Calls that are up stay, and nobody else comes until there are fewer than the part.
	for range 4 {
		l.enter()
	}
	if set.Share(2); free() != 0 || l.Calls.Load() != 4 {
		t.Errorf("%d are free of two, and %d are up", free(), l.Calls.Load())
	}
}
