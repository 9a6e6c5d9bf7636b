package synthesiser

import (
	"context"
	"slices"
	"sync"
	"time"
)

// pool is the sockets of an engine that are open.
type pool struct {
	engine *Engine
	mu     sync.Mutex
	lanes  []*lane
}

// share is the part of a vendor's limits that is used: a socket that is about to be closed there is none to speak on.
const share = 0.9

// take is a socket on which u may speak, by its path. fresh says that it was opened for it. Without fresh only
// a new one will do.
func (p *pool) take(ctx context.Context, path string, u *utterance, anew bool) (l *lane, fresh bool, err error) {
	if !anew {
		if l := p.find(path, u); l != nil {
			return l, false, nil
		}
	}
	l, err = p.dial(ctx, path)
	if err != nil {
		return nil, true, err
	}
	l.join(u)
	p.add(l)
	return l, true, nil
}

// find is an open socket with a place for u, which it joins; nil: there is none.
func (p *pool) find(path string, u *utterance) *lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lanes {
		if l.path == path && l.fit() && l.join(u) {
			return l
		}
	}
	return nil
}

// warm opens a socket unless there is one.
func (p *pool) warm(ctx context.Context, path string) {
	p.mu.Lock()
	there := slices.ContainsFunc(p.lanes, func(l *lane) bool { return l.path == path && l.fit() })
	p.mu.Unlock()
	if there {
		return
	}
	if l, err := p.dial(ctx, path); err == nil {
		p.add(l)
	}
}

func (p *pool) add(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lanes = append(p.lanes, l)
	l.begin()
}

// drop forgets a socket.
func (p *pool) drop(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lanes = slices.DeleteFunc(p.lanes, func(o *lane) bool { return o == l })
}

// part is the share of a limit that is used; 0: there is no limit.
func part(limit time.Duration) time.Duration { return time.Duration(float64(limit) * share) }
