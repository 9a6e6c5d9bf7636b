// Package load notices that calls in progress would suffer from another one, so that a node
// refuses it and the carrier tries another node.
package load

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"parley/media/isolate"
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

// Monitor measures the load: a node is busy when the program uses more of the machine's
// processors than it may, or when its engine workers, which run at a lower priority, are behind
// the callers.
type Monitor struct {
	limit float64 // share of all processors, 0 to 1; 0: never busy
	cores int
	lag   func() time.Duration // of the worker that is furthest behind

	used   [looks]time.Duration // processor time until each of the last looks
	at     [looks]time.Time     // when that was
	n      int                  // looks so far
	behind int                  // looks in a row with too much lag
	busy   atomic.Bool
}

// New returns a monitor that is busy above a share of the processors, in percent; 0: never.
func New(percent int, lag func() time.Duration) *Monitor {
	return &Monitor{limit: float64(percent) / 100, cores: runtime.GOMAXPROCS(0), lag: lag}
}

// Busy says whether new calls should wait. It may be called from any goroutine.
func (m *Monitor) Busy() bool { return m.busy.Load() }

// Run looks every second until ctx ends.
func (m *Monitor) Run(ctx context.Context) error {
	if m.limit == 0 {
		<-ctx.Done()
		return nil
	}
	return isolate.Every(ctx, lookEvery, func() {
		begun := time.Now()
		m.look(begun, ProcessorTime(), m.lag())
	})
}

// look takes how much processor time the program has used until now, and how far its
// workers are behind.
func (m *Monitor) look(now time.Time, used, lag time.Duration) {
	if lag > maxLag {
		m.behind++
	} else {
		m.behind = 0
	}
	busy := m.behind >= lagLooks
	i := m.n % looks // of the oldest
	if m.n >= looks {
		most := m.limit * float64(m.cores) * float64(now.Sub(m.at[i]))
		busy = busy || float64(used-m.used[i]) > most
	}
	m.busy.Store(busy)
	m.at[i], m.used[i] = now, used
	m.n++
}

// ProcessorTime is what this process has used since its start; its workers are others.
func ProcessorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // it cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
