package status

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestHangingLooksPileNothingUp: a look that ends for nobody keeps the first who ask for its
// patience, and all others not at all; what it finds in the end counts.
func TestHangingLooksPileNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Recent[int]
		var looks atomic.Int64
		end := make(chan struct{})
		look := func(ctx context.Context) int {
			n := looks.Add(1)
			<-ctx.Done()
			<-end // a file system that is away ends for nobody
			return int(n)
		}
		ask := func() (found int, ok bool, took time.Duration) {
			began := time.Now()
			found, ok = r.Get(time.Second, 2*time.Second, look)
			return found, ok, time.Since(began)
		}
		var wg sync.WaitGroup
		for range 100 {
			wg.Go(func() {
				if _, ok, took := ask(); ok || took != 2*time.Second+grace {
					t.Errorf("%v after %v", ok, took)
				}
			})
		}
		wg.Wait()
		for range 100 {
			if _, ok, took := ask(); ok || took != 0 {
				t.Errorf("%v after %v", ok, took)
			}
		}
		if n := looks.Load(); n != 1 {
			t.Errorf("%d looks at once", n)
		}
		close(end)
		synctest.Wait()
		if found, ok, _ := ask(); !ok || found != 1 {
			t.Errorf("%d, %v at the end", found, ok)
		}
	})
}
