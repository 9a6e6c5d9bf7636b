package dashboard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/api"
)

// TestHashesAreBounded: a few wait for their turn, the next is told to come back, and one
// network cannot ask for ever.
func TestHashesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHasher()
		for range cap(h.slots) {
			h.slots <- struct{}{}
		}
		ctx, cancel := context.WithCancel(t.Context())
		waited := make(chan error, maxWaiting)
		for range maxWaiting {
			go func() {
				_, err := h.hash(ctx, "correct horse battery")
				waited <- err
			}()
		}
		synctest.Wait()
		if _, err := h.hash(ctx, "correct horse battery"); !errors.Is(err, api.ErrBusy) {
			t.Errorf("one more than may wait: %v", err)
		}
		cancel()
		for range maxWaiting {
			if err := <-waited; !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		}
		for range cap(h.slots) {
			<-h.slots
		}
		n := 0
		for ; n < 100; n++ {
			if _, err := h.key(t.Context(), "x", []byte("salt of this test"), 8, 1, 1, 32); errors.Is(err, api.ErrBackOff) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if want := hashBurst - maxWaiting - 1; n != want {
			t.Errorf("%d more hashes at once, want %d", n, want)
		}
		time.Sleep(hashEvery)
		if _, err := h.key(t.Context(), "x", []byte("salt of this test"), 8, 1, 1, 32); err != nil {
			t.Errorf("a while later: %v", err)
		}
	})
}
