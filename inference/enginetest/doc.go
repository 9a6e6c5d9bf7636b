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
