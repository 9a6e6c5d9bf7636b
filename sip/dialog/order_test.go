package dialog_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/sip/dialog"
)

// A request that overtakes another waits for it, and a repetition does not hold up its successor.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := dialog.NewOrder(500 * time.Millisecond)
		for _, seq := range []uint32{1, 2, 2, 3} {
			o.Arrived(seq)
		}
		var done []uint32
		begun := time.Now()
		for _, seq := range []uint32{3, 2, 1} {
			go func() {
				o.Await(seq)
				done = append(done, seq) // one after the other, which the race detector sees
				o.Handled(seq)
			}()
			synctest.Wait()
		}
		if !slices.Equal(done, []uint32{1, 2, 3}) || time.Since(begun) != 0 {
			t.Errorf("%v after %v", done, time.Since(begun))
		}
	})
}

// One that never comes so far is waited for as long as its repetition takes to come, and forgotten then.
func TestOrderOfOneThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := dialog.NewOrder(500 * time.Millisecond)
		o.Arrived(1)
		o.Arrived(2)
		begun := time.Now()
		o.Await(2)
		if waited := time.Since(begun); waited != 500*time.Millisecond {
			t.Errorf("it waited %v", waited)
		}
		o.Handled(2)
		o.Arrived(3)
		if o.Await(3); time.Since(begun) != 500*time.Millisecond {
			t.Error("the lost one is waited for again")
		}
	})
}
