package billing

import (
	"math"
	"testing"
)

// TestCosts: a cost is of a minute, of a million or of one.
func TestCosts(t *testing.T) {
	c := Costs{}
	for _, u := range CostKeys {
		c[u] = 6_000_000
	}
	if len(c) != len(perUnit) {
		t.Errorf("%d units of %d have a name", len(c), len(perUnit))
	}
	for u, n := range map[Unit]int64{AudioSeconds: 90_000, OpenSeconds: 90_000, Characters: 1_500_000, TokensIn: 1_500_000, TokensInCached: 1_500_000, TokensInAudio: 1_500_000,
		TokensInAudioCached: 1_500_000, TokensOut: 1_500_000, TokensOutAudio: 1_500_000} {
		if got, ok := c.Of(u, n); got != 9_000_000 || !ok {
			t.Errorf("%s: %s, %v", u, got, ok)
		}
	}
	if got, ok := c.Of(Requests, 2); got != 12_000_000 || !ok {
		t.Errorf("requests: %s, %v", got, ok)
	}
	delete(c, Requests)
	for what, ok := range map[string]bool{"no cost": second(c.Of(Requests, 2)), "below zero": second(c.Of(TokensIn, -1)), "too many": second(Costs{Requests: maxPrice}.Of(Requests, math.MaxInt64))} {
		if ok {
			t.Errorf("%s: there is one", what)
		}
	}
}

func second(_ Money, ok bool) bool { return ok }
