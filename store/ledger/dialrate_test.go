package ledger_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"parley/store"
	"parley/store/ledger"
	"parley/store/storetest"
)

// An account places five calls a second, whichever nodes it asks: five at once, then one
// each 200 ms. Calls that nobody paces, such as those of batches, do not count.
func TestDialRateHoldsAcrossNodes(t *testing.T) {
	url := storetest.URL(t)
	a, b := prepare(t, storetest.Open(t, url)), prepare(t, storetest.Open(t, url))
	a.Node, b.Node = a.Register("node-a"), b.Register("node-b") // prepare gave both one name
	acc, other := a.NewAccount(100*usd), a.NewAccount(100*usd)
	many := 1000
	for _, account := range []string{acc, other} {
		a.OK(a.ChangeAccount(a.At(t0), account, ledger.AccountChange{Concurrency: &many}))
	}
	dial := func(account string, times int, at time.Time) int {
		var placed atomic.Int32
		together(times, func(i int) {
			n := []*fixture{a, b}[i%2]
			r := n.Request(account, outboundES)
			r.Paced = true
			switch _, err := n.StartSession(storetest.At(t.Context(), at), r); {
			case err == nil:
				placed.Add(1)
			case !errors.Is(err, store.ErrDialRate):
				t.Error(err)
			}
		})
		return int(placed.Load())
	}
	want := func(account string, at time.Duration, want int) {
		t.Helper()
		if got := dial(account, 20, t0.Add(at)); got != want {
			t.Errorf("after %s %d calls were placed; want %d", at, got, want)
		}
	}
	want(acc, 0, 5)
	want(other, 0, 5)
	want(acc, 0, 0)
	want(acc, 199*time.Millisecond, 0)
	want(acc, 200*time.Millisecond, 1)
	want(acc, 800*time.Millisecond, 3)
	a.Start(acc, outboundES)
	want(acc, time.Hour, 5)
	a.Verified()
}
