package inference

import (
	"context"
	"sync"
	"time"
)

// Wait is how long an engine was waited for: from when a request went out to it, to when
// the latest of what it gave came in. What is done to make the request, to find a slot for
// it and to pass the answer on is no part of it. Of a request that is tried again, or by
// another engine, the first counts. Safe for use from several goroutines.
type Wait struct {
	mu        sync.Mutex
	sent, got time.Time
}

type waitKey struct{}

// With is ctx for a request whose engine is waited for: the engine notes the times in w.
func (w *Wait) With(ctx context.Context) context.Context { return context.WithValue(ctx, waitKey{}, w) }

// Times are when the request went out and when the latest of the answer came in. An engine
// that notes neither answers where it was asked: was is then when it was asked, and now
// when it gave.
func (w *Wait) Times(was, now time.Time) (sent, got time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sent, got = w.sent, w.got
	if sent.IsZero() {
		sent = was
	}
	if got.IsZero() {
		got = now
	}
	return sent, got
}

// Sent notes that a request goes out now; an engine calls it with the context of Complete
// or Speak.
func Sent(ctx context.Context) {
	if w, ok := ctx.Value(waitKey{}).(*Wait); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.sent.IsZero() {
			w.sent = time.Now()
		}
	}
}

// Got notes when a part of the answer came in.
func Got(ctx context.Context, at time.Time) {
	if w, ok := ctx.Value(waitKey{}).(*Wait); ok {
		w.mu.Lock()
		defer w.mu.Unlock()
		if at.After(w.got) {
			w.got = at
		}
	}
}
