package upload

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/api"
)

// TestGate: four places, two for one account, and a bounded wait.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewGate(4, 10*time.Second)
		enter := func(account string) func() {
			t.Helper()
			leave, err := g.Enter(t.Context(), account)
			if err != nil {
				t.Fatal(err)
			}
			return leave
		}
		a := enter("a")
		enter("a")
		start := time.Now()
		if _, err := g.Enter(t.Context(), "a"); !errors.Is(err, api.ErrBusy) || time.Since(start) != 10*time.Second {
			t.Errorf("a third of one account: %v after %v", err, time.Since(start))
		}
		enter("b")
		enter("c")
		entered := make(chan error)
		go func() {
			_, err := g.Enter(t.Context(), "d")
			entered <- err
		}()
		time.Sleep(9 * time.Second)
		a()
		a() // once is enough
		if err := <-entered; err != nil {
			t.Errorf("after a place became free: %v", err)
		}
		if _, err := g.Enter(t.Context(), "e"); !errors.Is(err, api.ErrBusy) {
			t.Errorf("a fifth: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.Enter(ctx, "e"); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has gone: %v", err)
		}
		if len(g.inUse) != 4 {
			t.Errorf("places %v", g.inUse)
		}
	})
}
