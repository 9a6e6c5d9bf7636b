package cluster

import (
	"sync/atomic"
	"testing"

	"parley/store"
)

// TestHintsReachTheOtherNodes, each of them once, and do not come back.
func TestHintsReachTheOtherNodes(t *testing.T) {
	r := newRing(t)
	var heard [3]atomic.Int32
	for i, n := range r.nodes {
		n.db.Hints().On("bread", func() { heard[i].Add(1) })
		n.db.Hints().On(store.HintJob("cake"), func() { heard[i].Add(100) })
	}
	r.nodes[0].db.Hints().Give("bread")
	r.nodes[0].db.Hints().Give(store.HintJob("cake"))
	eventually(t, "the others hear", func() bool { return heard[1].Load() == 101 && heard[2].Load() == 101 })
	r.nodes[1].db.Hints().Give("bread") // and what came before it has arrived
	eventually(t, "the others hear", func() bool { return heard[0].Load() == 102 && heard[2].Load() == 102 })
	if n := heard[1].Load(); n != 102 {
		t.Errorf("its own has come back: %d", n)
	}
}
