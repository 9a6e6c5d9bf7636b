package sip

import "time"

// clock is the time of what takes minutes: session timers, back-off, transfers.
// Tests turn its hands.
type clock interface {
	Now() time.Time
	// Timer gives a channel that is sent to at the time, and what forgets it.
	Timer(at time.Time) (due <-chan time.Time, stop func())
}

type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Timer(at time.Time) (<-chan time.Time, func()) {
	t := time.NewTimer(time.Until(at))
	return t.C, func() { t.Stop() }
}

// timers are what a call's goroutine has to do later. They belong to it.
type timers struct {
	clock clock
	set   map[*timer]struct{} // a handful
}

type timer struct {
	at time.Time
	f  func()
}

// after has f run on the call's goroutine in d. An old timer that is given is
// stopped; nil is none.
func (a *timers) after(d time.Duration, old *timer, f func()) *timer {
	a.stop(old)
	n := &timer{at: a.clock.Now().Add(d), f: f}
	if a.set == nil {
		a.set = map[*timer]struct{}{}
	}
	a.set[n] = struct{}{}
	return n
}

func (a *timers) stop(old *timer) { delete(a.set, old) }

// next is the timer that is due first; nil: none.
func (a *timers) next() *timer {
	var first *timer
	for n := range a.set {
		if first == nil || n.at.Before(first.at) {
			first = n
		}
	}
	return first
}

// wait is a channel for the next timer; nil when there is none.
func (a *timers) wait() (due <-chan time.Time, stop func()) {
	n := a.next()
	if n == nil {
		return nil, func() {}
	}
	return a.clock.Timer(n.at)
}

// fire runs what is due.
func (a *timers) fire() {
	for n := a.next(); n != nil && !n.at.After(a.clock.Now()); n = a.next() {
		a.stop(n)
		n.f()
	}
}
