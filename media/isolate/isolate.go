// Package isolate begins the goroutines that serve calls, so that a panic in one of them
// ends one call and not the process. A panic is counted by its site, logged with its
// stack, and reported to the owner of the call, who ends it as failed/internal.
//
// Every, beside it, is the loop of work that is done again and again.
//
// What the Go runtime does not let a program recover from ends the process all the same:
// running out of memory or of stack, and concurrent writes to a map.
//
// A site is the name of one place in the source, "package/what", as a string literal: the
// metric has it as its label, and tests find all sites and fail each.
package isolate

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/isolate/internal/hook"
)

// Internal is how a call ends that a panic ends. It is the cause that failed is called with.
var Internal = &media.Ended{Reason: media.Failed, Detail: "internal"}

// Go runs f on a new goroutine. When f panics, failed is called there with Internal; it must
// not block, and may be a context.CancelCauseFunc. A nil failed says that the panic ends
// nothing: the goroutine serves many calls, or none.
//
// However f ends, after is called next, one function after the other, so a waiter for
// the goroutine learns of a panic first. A panic in one of them is handled like one of f.
func Go(site string, failed func(error), f func(), after ...func()) {
	go Do(site, failed, f, after...)
}

// Do is Go on the calling goroutine: for callbacks of libraries, and for the single items
// of a loop that serves many calls and must survive each. It returns when all has been
// called.
func Do(site string, failed func(error), f func(), after ...func()) {
	defer all(site, failed, after) // deferred: a test that gives up ends its goroutine here
	contain(site, failed, func() {
		hook.Reach(site)
		f()
	})
}

// all calls one function after the other, and recovers the panic of each.
func all(site string, failed func(error), list []func()) {
	for _, next := range list {
		contain(site, failed, next)
	}
}

// contain calls f and recovers its panic.
func contain(site string, failed func(error), f func()) {
	defer func() {
		p := recover()
		if p == nil {
			return
		}
		report(site, p)
		if failed != nil {
			contain(site, nil, func() { failed(Internal) })
		}
	}()
	f()
}

// faults counts what went wrong in this process.
var faults = struct {
	sync.Mutex
	panics map[string]uint64
	leaked atomic.Uint64
	log    atomic.Pointer[slog.Logger]
}{panics: map[string]uint64{}}

// report counts and logs a panic. Its value may hold words of a caller or a secret, so only
// that of the runtime's own errors is logged, which hold neither; the stack has no values.
func report(site string, p any) {
	faults.Lock()
	faults.panics[site]++
	faults.Unlock()
	what := fmt.Sprintf("%T", p)
	if e, ok := p.(runtime.Error); ok {
		what = e.Error()
	}
	cmp.Or(faults.log.Load(), slog.Default()).Error("a panic was contained", "site", site, "panic", what, "stack", string(debug.Stack()))
}

// Log has panics logged by l from now on, in the whole process. Before the first call they
// go to slog.Default.
func Log(l *slog.Logger) { faults.log.Store(l) }

// Panics is how many there were since the process began, by site.
func Panics() map[string]uint64 {
	faults.Lock()
	defer faults.Unlock()
	return maps.Clone(faults.panics)
}

// Leak counts n goroutines of a call that ended without them, because they did not return
// within the time they had.
func Leak(n int) { faults.leaked.Add(uint64(n)) }

// Leaked is how many there were since the process began. Those that return later still count.
func Leaked() uint64 { return faults.leaked.Load() }

// keepPause is how long Keep waits after a panic, so that one that always comes does not
// use up a processor.
const keepPause = 10 * time.Millisecond

// Keep is Go for a loop that serves many calls: after a panic f runs again, until it returns
// by itself or ctx ends. after is called once, at the end.
func Keep(ctx context.Context, site string, f func(), after ...func()) {
	go func() {
		defer all(site, nil, after)
		for again := true; again && ctx.Err() == nil; {
			Do(site, nil, func() {
				f()
				again = false
			})
			if again {
				time.Sleep(keepPause)
			}
		}
	}()
}

// Every calls f once in each period, the first time after one, until ctx ends. It returns nil, for
// a Run to end with it. A panic in f is not contained; where other work must survive it, f has Do.
func Every(ctx context.Context, period time.Duration, f func()) error {
	tick := time.Tick(period)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick:
			f()
		}
	}
}
