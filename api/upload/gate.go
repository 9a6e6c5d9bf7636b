package upload

import (
	"context"
	"sync"
	"time"

	"parley/api"
)

// Gate bounds how many files are in memory at once, of everybody together and of
// one account, so that a client with slow lines does not keep all others out. It
// is safe for use from several goroutines.
type Gate struct {
	mostOfOne int
	wait      time.Duration

	mu    sync.Mutex
	free  int
	inUse map[string]int // by account
	left  chan struct{}  // closed when a place becomes free
}

// NewGate returns a gate for most files, half of them of one account. Who finds it
// full waits, and is refused after wait.
func NewGate(most int, wait time.Duration) *Gate {
	return &Gate{mostOfOne: (most + 1) / 2, wait: wait, free: most, inUse: map[string]int{}, left: make(chan struct{})}
}

// Enter takes a place, which leave gives back. It fails with api.ErrBusy, or with
// the cause of ctx.
func (g *Gate) Enter(ctx context.Context, account string) (leave func(), err error) {
	full := time.NewTimer(g.wait)
	defer full.Stop()
	for {
		left, ok := g.try(account)
		if ok {
			return sync.OnceFunc(func() { g.leave(account) }), nil
		}
		select {
		case <-left:
		case <-full.C:
			return nil, api.ErrBusy
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// try takes a place if there is one, else it says when to try again.
func (g *Gate) try(account string) (left <-chan struct{}, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.free == 0 || g.inUse[account] >= g.mostOfOne {
		return g.left, false
	}
	g.free--
	g.inUse[account]++
	return nil, true
}

func (g *Gate) leave(account string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.free++
	if g.inUse[account]--; g.inUse[account] == 0 {
		delete(g.inUse, account)
	}
	close(g.left)
	g.left = make(chan struct{})
}
