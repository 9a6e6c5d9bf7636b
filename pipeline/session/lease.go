package session

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"parley/media"
	"parley/media/isolate"
	"parley/store"
)

const (
	heartbeatEvery = 2 * time.Second
	// cutOff is how long calls go on without a heartbeat while other nodes have theirs:
	// after store.NodeLease those close this node's sessions.
	cutOff = 8 * time.Second
	// heardFor is how long a node counts as having a database after it has said so: until its next heartbeat. With
	// cutOff it makes 5 s by which the last heartbeats of two nodes may differ that lose the database together.
	heardFor = heartbeatEvery + time.Second
	// beatFor is how long a heartbeat shows that there is a database: two may be lost.
	beatFor = 3 * heartbeatEvery
	// nodeLost is the detail of sessions that end with their node.
	nodeLost = "node_lost"
)

// endNodeLost is the end of calls whose books nobody keeps any more.
var endNodeLost = &media.Ended{Reason: media.Failed, Detail: nodeLost}

// lease is what a node knows of its place among the others.
type lease struct {
	mu    sync.Mutex
	beat  time.Time // the last heartbeat that was acknowledged was sent
	heard time.Time // another node said that its own was

	// In place of heartbeats, which say so too late: silent says that other nodes may have the calls of this one, and looked is when
	// that was judged last, in nanoseconds since born; 0: never. A process that was stopped has not looked.
	silent atomic.Bool
	looked atomic.Int64
	born   time.Time
}

// stopped is for how long a process that runs looks at its lease at least once.
const stopped = 5 * time.Second

// muted says that other nodes may have taken the calls of this one over, or have. It is for each packet.
func (l *lease) muted() bool {
	looked := l.looked.Load()
	return l.silent.Load() || looked != 0 && time.Since(l.born)-time.Duration(looked) > stopped
}

// look notes whether other nodes may have the calls of this one. A process that was stopped believes so until a heartbeat of it is
// acknowledged.
func (l *lease) look(silent bool) {
	now := time.Since(l.born)
	last := time.Duration(l.looked.Swap(int64(now)))
	if silent || last != 0 && now-last > stopped {
		l.silent.Store(true)
	}
}

// Heard records, from any goroutine, that a heartbeat of another node has reached the
// database.
func (m *Manager) Heard() {
	m.lease.mu.Lock()
	defer m.lease.mu.Unlock()
	m.lease.heard = time.Now()
}

// Heartbeats reports that the node lives until ctx ends. It returns store.ErrFenced when a
// younger process has taken this node's name, or others took it for dead; its calls have
// ended then.
func (m *Manager) Heartbeats(ctx context.Context) error {
	tick := time.NewTicker(heartbeatEvery)
	defer tick.Stop()
	for {
		err := error(isolate.Internal)
		isolate.Do("pipeline/session/heartbeats", nil, func() { err = m.beat(ctx) })
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, store.ErrFenced):
			m.lease.silent.Store(true)
			m.lose((*Session).loseTo)
			return err
		case err != nil:
			m.log.Warn("the database does not hear that this node lives", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// beat sends one heartbeat and announces it to the other nodes.
func (m *Manager) beat(ctx context.Context) error {
	sent := time.Now()
	ctx, cancel := context.WithTimeout(ctx, ledgerPatience)
	defer cancel()
	if err := m.ledger.Heartbeat(ctx, m.node); err != nil {
		return err
	}
	m.lease.mu.Lock()
	m.lease.beat = sent
	m.lease.mu.Unlock()
	if time.Since(sent) < stopped { // an answer that waited while the process was stopped says nothing of now
		m.lease.silent.Store(false)
	}
	if m.onDrain != nil && m.ledger.Drains() {
		m.onDrain()
	}
	if m.others != nil {
		m.others.Alive()
	}
	return nil
}

// WatchLease ends the calls of a node that the others are about to take for dead, before
// they do. One that hears nobody is not alone in having no database, as far as it can
// tell, and goes on for blindMax. It runs until ctx ends.
func (m *Manager) WatchLease(ctx context.Context) error {
	m.lease.mu.Lock()
	m.lease.beat = time.Now() // it has registered
	m.lease.mu.Unlock()
	return isolate.Every(ctx, meterTick, func() { isolate.Do("pipeline/session/lease", nil, m.judgeLease) })
}

// HasDatabase says whether heartbeats reach the database, as far as is known; before
// WatchLease runs they count as if they did.
func (m *Manager) HasDatabase() bool {
	m.lease.mu.Lock()
	defer m.lease.mu.Unlock()
	return m.lease.beat.IsZero() || time.Since(m.lease.beat) < beatFor
}

func (m *Manager) judgeLease() {
	m.lease.mu.Lock()
	silent, heard := time.Since(m.lease.beat), time.Since(m.lease.heard)
	m.lease.mu.Unlock()
	lost := silent >= cutOff && heard <= heardFor
	m.lease.look(lost)
	if !lost {
		return
	}
	m.log.Warn("other nodes have the database and this one does not: its calls end", "for", silent.Round(time.Second).String())
	end := (*Session).sayGoodbye
	if silent >= store.NodeLease {
		end = (*Session).cutOff // the others may have closed its sessions
	}
	m.lose(func(s *Session, why *media.Ended) {
		if !s.rescuable() { // else it is silent, and goes on here if a heartbeat comes before another node takes it over
			end(s, why)
		}
	})
}

// stamp is a moment of this process by the clock that all nodes have in common.
func (m *Manager) stamp(t time.Time) time.Time { return m.ledger.Now().Add(-time.Since(t)) }

// lose ends every call because nobody keeps its books any more.
func (m *Manager) lose(end func(*Session, *media.Ended)) {
	for _, s := range m.sessions() {
		end(s, endNodeLost)
	}
}
