package sip

import (
	"sync/atomic"
	"time"
)

// Place is a call's place on a trunk, taken before the call: a channel, and a turn
// under the trunk's calls a second. It is for calls that can wait, so that they wait
// before anything else is spent on them, and behind everybody who does not. A nil
// Place is none. Its methods may be called from several goroutines.
type Place struct {
	line *line
	gone atomic.Bool // used, or given back
}

// crowded is how soon to ask again for a channel.
const crowded = time.Second

// Take takes a place for a call from number, on the first trunk of those that Dial
// would try that has one. When there is none it says how soon to ask again. Without a
// trunk that carries the number it returns neither: Dial says what is wrong.
func (u *UserAgent) Take(number string) (p *Place, wait time.Duration) {
	for _, l := range u.linesFor(number) {
		w := l.take()
		if w == 0 {
			return &Place{line: l}, 0
		}
		if wait == 0 || w < wait {
			wait = w
		}
	}
	return nil, wait
}

// take is seize without waiting: 0, or how soon to ask again. A turn is left to those
// who wait for theirs already.
func (l *line) take() time.Duration {
	if !l.enter() {
		return crowded
	}
	if l.pace != nil && !l.pace.Allow() {
		l.calls.Add(-1)
		return max(time.Millisecond, time.Duration((1-l.pace.Tokens())/float64(l.pace.Limit())*float64(time.Second)))
	}
	return 0
}

// use says whether the place is on l, and hands it over.
func (p *Place) use(l *line) bool { return p != nil && p.line == l && !p.gone.Swap(true) }

// Free gives the place back that was not used. The turn is spent.
func (p *Place) Free() {
	if p != nil && !p.gone.Swap(true) {
		p.line.release()
	}
}
