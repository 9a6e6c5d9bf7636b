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
)

// processor notices that the program uses more of the machine's processors than it may.
// Calls in progress would suffer from another one then: it is refused, and the carrier
// tries another node. The zero processor has a limit of nothing and is never busy.
type processor struct {
	limit float64 // share of all processors, 0 to 1; 0: none
	cores int

	used [looks]time.Duration // processor time until each of the last looks
	at   [looks]time.Time     // when that was
	n    int                  // looks so far
	busy atomic.Bool
}

func newProcessor(percent int) *processor {
	return &processor{limit: float64(percent) / 100, cores: runtime.GOMAXPROCS(0)}
}

// Busy says whether new calls should wait. It may be called from any goroutine.
func (p *processor) Busy() bool { return p.busy.Load() }

// run looks every second until ctx ends.
func (p *processor) run(ctx context.Context) error {
	if p.limit == 0 {
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
			p.look(now, processorTime())
		}
	}
}

// look takes how much processor time the program has used until now.
func (p *processor) look(now time.Time, used time.Duration) {
	i := p.n % looks // of the oldest
	if p.n >= looks {
		most := p.limit * float64(p.cores) * float64(now.Sub(p.at[i]))
		p.busy.Store(float64(used-p.used[i]) > most)
	}
	p.at[i], p.used[i] = now, used
	p.n++
}

// processorTime is what this process has used since its start; its workers are others.
func processorTime() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u) // it cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
