package enginetest

import (
	"context"
	"iter"
	"sync"
	"testing"
	"time"
)

// guard ends a check that would otherwise wait for ever. It is no bar: nothing
// passes or fails by how much of it was used.
const guard = 20 * time.Second

// check is one named check of a suite.
type check struct {
	name string
	run  func(t *testing.T)
}

// bubble is how a suite runs its checks: synctest.Test, or directly.
type bubble func(*testing.T, func(*testing.T))

func (b bubble) runAll(t *testing.T, checks []check) {
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			if b == nil {
				c.run(t)
				return
			}
			b(t, c.run)
		})
	}
}

// inTime runs f and fails the test when it has not returned by the guard.
func inTime(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(guard)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		t.Fatalf("%s has not ended", what)
	}
}

// idle waits until the engine has no work left.
func idle(t *testing.T, busy func() int) {
	t.Helper()
	if busy == nil {
		return
	}
	for deadline := time.Now().Add(guard); busy() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d slots are still taken", busy())
		}
	}
}

// outcome is what a sequence gave.
type outcome[T any] struct {
	values []T
	err    error
	after  int // things yielded after the error
}

// collect reads a sequence to its end. each, when set, sees every value and may
// leave by returning false.
func collect[T any](t *testing.T, seq iter.Seq2[T, error], each func(T) bool) outcome[T] {
	t.Helper()
	var o outcome[T]
	inTime(t, "the sequence", func() {
		for v, err := range seq {
			if o.err != nil {
				o.after++
				continue
			}
			if err != nil {
				o.err = err
				continue
			}
			o.values = append(o.values, v)
			if each != nil && !each(v) {
				break
			}
		}
	})
	if o.after > 0 {
		t.Errorf("%d values after the error %v", o.after, o.err)
	}
	return o
}

// cancelAfterFirst reads a sequence and cancels its context at the first value;
// nothing may follow but one error.
func cancelAfterFirst[T any](t *testing.T, open func(context.Context) iter.Seq2[T, error]) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := collect(t, open(ctx), func(T) bool {
		cancel()
		return true
	})
	if len(o.values) == 0 {
		t.Fatalf("no value before the cancellation: %v", o.err)
	}
	if len(o.values) > 1 {
		t.Errorf("%d values after the cancellation", len(o.values)-1)
	}
}

// many runs f several times at once.
func many(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// languages checks the form of an engine's language list.
func languages(t *testing.T, list []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, l := range list {
		if len(l) != 2 || l[0] < 'a' || l[0] > 'z' || l[1] < 'a' || l[1] > 'z' || seen[l] {
			t.Errorf("languages %q", list)
			return
		}
		seen[l] = true
	}
	if len(list) == 0 {
		t.Error("no languages")
	}
}
