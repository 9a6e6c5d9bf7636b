package ledger_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"parley/store"
	"parley/store/ledger"
	"parley/store/numbers"
	"parley/store/storetest"
)

// A number places as many calls in an hour as its account wants of it, whichever nodes are asked, those that are over included.
func TestCallsPerHour(t *testing.T) {
	url := storetest.URL(t)
	a, b := prepare(t, storetest.Open(t, url)), prepare(t, storetest.Open(t, url))
	a.Node, b.Node = a.Register("node-a"), b.Register("node-b")
	acc := a.NewAccount(100 * usd)
	many := 1000
	a.OK(a.ChangeAccount(a.At(t0), acc, ledger.AccountChange{Concurrency: &many}))
	const paced, free = "+34911234567", "+34911234568"
	owned := numbers.New(a.DB)
	n, err := owned.Import(t.Context(), acc, paced, "")
	a.OK(err)
	_, err = owned.Import(t.Context(), acc, free, "")
	a.OK(err)
	limit := func(calls int) {
		t.Helper()
		a.OK(owned.Assign(t.Context(), acc, n.ID, numbers.Assignment{CallsPerHour: &calls}))
	}
	dial := func(from string, at time.Time, want int, until time.Time) {
		t.Helper()
		var placed atomic.Int32
		together(6, func(i int) {
			n := []*fixture{a, b}[i%2]
			r := n.Request(acc, outboundES)
			r.From = from
			s, err := n.StartSession(storetest.At(t.Context(), at), r)
			var p *ledger.Paced
			switch {
			case err == nil:
				placed.Add(1)
				if i%2 == 0 {
					if _, err := n.CloseSession(storetest.At(t.Context(), at), s, ledger.Closing{Reason: store.ReasonFailed}); err != nil {
						t.Error(err)
					}
				}
			case !errors.Is(err, store.ErrPace) || !errors.As(err, &p) || !p.Until.Equal(until):
				t.Errorf("refused with %v; want it paced until %s", err, until)
			}
		})
		if got := int(placed.Load()); got != want {
			t.Errorf("%d calls were placed from %s; want %d", got, from, want)
		}
	}
	dial(paced, t0, 6, time.Time{}) // nobody has limited it
	limit(8)
	dial(paced, t0.Add(time.Minute), 2, t0.Add(time.Hour))
	dial(free, t0.Add(time.Minute), 6, time.Time{})
	dial(paced, t0.Add(time.Hour+time.Second), 6, time.Time{}) // the six of the beginning are older than an hour
	dial(paced, t0.Add(time.Hour+2*time.Second), 0, t0.Add(time.Hour+time.Minute))
	if list, err := owned.Paced(storetest.At(t.Context(), t0.Add(time.Hour+2*time.Second)), acc); err != nil || len(list) != 1 || !list[paced] {
		t.Errorf("paced are %v, %v", list, err)
	}
	limit(1)
	dial(paced, t0.Add(time.Hour+3*time.Second), 0, t0.Add(2*time.Hour+time.Second))
	limit(0)
	dial(paced, t0.Add(time.Hour+3*time.Second), 6, time.Time{})
	if list, err := owned.Paced(t.Context(), acc); err != nil || len(list) > 0 {
		t.Errorf("without a limit %v are paced, %v", list, err)
	}
	a.Verified()
}
