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

// alarms are what a call's goroutine has to do later. They belong to it.
type alarms struct {
	clock clock
	set   map[*alarm]struct{} // a handful
}

type alarm struct {
	at time.Time
	f  func()
}

// after has f run on the call's goroutine in d. An old alarm that is given is
// stopped; nil is none.
func (a *alarms) after(d time.Duration, old *alarm, f func()) *alarm {
	a.stop(old)
	n := &alarm{at: a.clock.Now().Add(d), f: f}
	if a.set == nil {
		a.set = map[*alarm]struct{}{}
	}
	a.set[n] = struct{}{}
	return n
}

func (a *alarms) stop(old *alarm) { delete(a.set, old) }

// next is the alarm that is due first; nil: none.
func (a *alarms) next() *alarm {
	var first *alarm
	for n := range a.set {
		if first == nil || n.at.Before(first.at) {
			first = n
		}
	}
	return first
}

// wait is a channel for the next alarm; nil when there is none.
func (a *alarms) wait() (due <-chan time.Time, stop func()) {
	n := a.next()
	if n == nil {
		return nil, func() {}
	}
	return a.clock.Timer(n.at)
}

// ring runs what is due.
func (a *alarms) ring() {
	for n := a.next(); n != nil && !n.at.After(a.clock.Now()); n = a.next() {
		a.stop(n)
		n.f()
	}
}
