// Package enginetest holds what tests need of speech engines: the conformance
// suites TestLLM, TestTTS and TestASR that every engine passes, and FakeLLM,
// FakeTTS and FakeASR, engines whose every delay is a field, so that a test of a
// conversation can say to the millisecond what happens when.
//
// The fakes understand nothing: they play back what the test tells them. They
// wait with ordinary timers, so inside a testing/synctest bubble their timing is
// exact and costs nothing. Set their fields before the first use.
package enginetest

import (
	"context"
	"time"
)

// sleep waits for d of the bubble's or the real time, or until ctx ends, and
// returns why it ended early.
func sleep(ctx context.Context, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// deliver sends what next takes, as soon as it is due, until ctx ends or what it sent was the
// last. next says how long until something is due (0: nothing is), and wake that there is more.
func deliver[T any](ctx context.Context, wake <-chan struct{}, out chan<- T, next func() (v T, wait time.Duration, ok bool), last func(T) bool) {
	for {
		v, wait, ok := next()
		if !ok {
			var timer <-chan time.Time
			if wait > 0 {
				timer = time.After(wait)
			}
			select {
			case <-ctx.Done():
				return
			case <-wake:
			case <-timer:
			}
			continue
		}
		select {
		case out <- v:
		case <-ctx.Done():
			return
		}
		if last(v) {
			return
		}
	}
}

// earliest is the index of what is due first, the oldest of several; -1: there is nothing.
func earliest[T any](due []T, at func(T) time.Time) int {
	first := -1
	for i, d := range due {
		if first < 0 || at(d).Before(at(due[first])) {
			first = i
		}
	}
	return first
}
