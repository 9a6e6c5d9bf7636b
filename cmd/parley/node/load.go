package node

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// What new calls would take is measured over so many looks: a moment's work, the
// collector's or a batch's, refuses nobody.
const (
	lookEvery = time.Second
	looks     = 5
	// lagLooks looks in a row that find engine workers more than maxLag behind mean that
	// they cannot keep up: replies come late, and more callers would lose words.
	lagLooks = 2
	maxLag   = 250 * time.Millisecond
)

// load notices that calls in progress would suffer from another one: the program uses more
// of the machine's processors than it may, or its engine workers, which run at a lower
// priority, are behind the callers. A new call is refused then, and the carrier tries
// another node. The zero load has no limits and is never busy.
type load struct {
	limit float64 // share of all processors, 0 to 1; 0: no limits
	cores int
	lag   func() time.Duration // of the worker that is furthest behind

	used   [looks]time.Duration // processor time until each of the last looks
	at     [looks]time.Time     // when that was
	n      int                  // looks so far
	behind int                  // looks in a row with too much lag
	busy   atomic.Bool
}

func newLoad(percent int, lag func() time.Duration) *load {
	return &load{limit: float64(percent) / 100, cores: runtime.GOMAXPROCS(0), lag: lag}
}

// Busy says whether new calls should wait. It may be called from any goroutine.
func (l *load) Busy() bool { return l.busy.Load() }

// run looks every second until ctx ends.
func (l *load) run(ctx context.Context) error {
	if l.limit == 0 {
		<-ctx.Done()
		return nil
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			l.look(now, processorTime(), l.lag())
		}
	}
}

// look takes how much processor time the program has used until now, and how far its
// workers are behind.
func (l *load) look(now time.Time, used, lag time.Duration) {
	if lag > maxLag {
		l.behind++
	} else {
		l.behind = 0
	}
	busy := l.behind >= lagLooks
	i := l.n % looks // of the oldest
	if l.n >= looks {
		most := l.limit * float64(l.cores) * float64(now.Sub(l.at[i]))
		busy = busy || float64(used-l.used[i]) > most
	}
	l.busy.Store(busy)
	l.at[i], l.used[i] = now, used
	l.n++
}

// processorTime is what this process has used since its start; its workers are others.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // it cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
