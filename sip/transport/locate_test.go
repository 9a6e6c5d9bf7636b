package transport

import (
	"math/rand/v2"
	"net"
	"slices"
	"testing"
)

func TestRankSRV(t *testing.T) {
	records := []*net.SRV{{Target: "c", Priority: 20, Weight: 1}, {Target: "a", Priority: 10, Weight: 30}, {Target: "b", Priority: 10, Weight: 10},
		{Target: "z", Priority: 10, Weight: 0}}
	rnd := rand.New(rand.NewPCG(1, 2))
	first := map[string]int{}
	const rounds = 10_000
	for range rounds {
		ranked := rankSRV(records, rnd.IntN)
		if len(ranked) != 4 || ranked[3].Target != "c" || !slices.ContainsFunc(ranked, func(r *net.SRV) bool { return r.Target == "b" }) {
			t.Fatalf("%v", ranked)
		}
		first[ranked[0].Target]++
	}
	// By their weights, 3 to 1; the one without any has a small chance (RFC 2782).
	if a, b := first["a"], first["b"]; a < rounds*70/100 || a > rounds*78/100 || b < rounds*20/100 || b > rounds*28/100 || first["z"] == 0 || first["c"] > 0 {
		t.Errorf("first: %v", first)
	}
	if got := rankSRV(nil, rnd.IntN); len(got) != 0 {
		t.Error(got)
	}
}
