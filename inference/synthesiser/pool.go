package synthesiser

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// pool is the sockets of an engine that are open.
type pool struct {
	engine *Engine
	work   sync.WaitGroup // utterances, and the readers of sockets

	mu     sync.Mutex
	lanes  []*lane
	closed bool
}

var errClosed = errors.New("the engine is closed")

// enter counts a goroutine that begins, unless the engine is closed.
func (p *pool) enter() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.work.Add(1)
	}
	return !p.closed
}

// close lets nothing begin any more, and returns the sockets.
func (p *pool) close() []*lane {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	return slices.Clone(p.lanes)
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
	return l, true, p.add(l)
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

// add has a new socket read. It fails when the engine is closed.
func (p *pool) add(l *lane) error {
	p.mu.Lock()
	closed := p.closed
	if !closed {
		p.work.Add(1)
		p.lanes = append(p.lanes, l)
		l.begin()
	}
	p.mu.Unlock()
	if !closed {
		return nil
	}
	l.socket.Close()
	return p.engine.closed()
}

// drop forgets a socket.
func (p *pool) drop(l *lane) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lanes = slices.DeleteFunc(p.lanes, func(o *lane) bool { return o == l })
}

// part is the share of a limit that is used; 0: there is no limit.
func part(limit time.Duration) time.Duration { return time.Duration(float64(limit) * share) }
