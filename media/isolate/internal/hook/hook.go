// Package hook lets tests make the goroutines of calls fail. Only package isolate and
// its test support can import it, so a server cannot.
package hook

import "sync/atomic"

var reached atomic.Pointer[func(site string)]

// Set has f called wherever a site is reached, on its goroutine; nil: nothing is. f may panic.
func Set(f func(site string)) {
	if f == nil {
		reached.Store(nil)
		return
	}
	reached.Store(&f)
}

// Reach says that a site is reached.
func Reach(site string) {
	if f := reached.Load(); f != nil {
		(*f)(site)
	}
}
