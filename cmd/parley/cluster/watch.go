package cluster

import (
	"cmp"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"parley/media/isolate"
	"parley/store"
	"parley/store/ledger"
)

// Each node watches the others, to notice at once when one dies: it has each of them hold a request, which is answered when that node
// leaves. A request that breaks is a suspicion. Proof are two things together: the life that held it is not at that address any more,
// which refuses connections, or where a younger life answers; and the database, which had connections of its process, has none. Then
// it is fenced off. All else proves nothing, such as a time-out, or a connection that is accepted: silence decides (Reap).

const (
	// watchEvery is how often a node is asked that holds no request.
	watchEvery = 2 * time.Second
	// lookPause is the pause between two looks at a node whose request broke, and lookFor is for how long it is looked at.
	lookPause = 100 * time.Millisecond
	lookFor   = store.NodeLease
	// refusals are how many connections in a row its address refuses.
	refusals = 2
	// lookPatience is how long the database is asked.
	lookPatience = 3 * time.Second
)

// watched is a life of another node. While it is busy its goroutine has the other fields.
type watched struct {
	store.Peer
	busy atomic.Bool
	at   string // IP:PORT of the last connection to it
	held bool   // it held the last request
	seen bool   // the database had connections of its process while it held one
}

// watch watches the other nodes until ctx ends, each on a goroutine, which all waits for.
func (m *Member) watch(ctx context.Context, all *sync.WaitGroup) {
	mark, nodes := "", map[int64]*watched{}                                  // by epoch
	_ = m.cfg.Store.Hints().Every(ctx, store.HintNodes, watchEvery, func() { // it returns nil
		if others, known := m.cfg.Store.OtherNodes(); known && others != mark {
			peers, err := m.cfg.Store.Peers(ctx, m.cfg.Life)
			if err != nil {
				m.cfg.Log.Debug("the nodes to watch were not listed", "err", err)
				return
			}
			mark, nodes = others, listed(nodes, peers)
		}
		for _, w := range nodes {
			if w.busy.CompareAndSwap(false, true) {
				all.Add(1)
				isolate.Go("cmd/parley/cluster/watched", nil, func() { m.attend(ctx, w) }, func() { w.busy.Store(false) }, all.Done)
			}
		}
	})
}

// listed are the nodes to watch: those that are listed now, and those that hold a request though they are not, because they drain.
func listed(before map[int64]*watched, peers []store.Peer) map[int64]*watched {
	nodes := map[int64]*watched{}
	for epoch, w := range before {
		if w.busy.Load() {
			nodes[epoch] = w
		}
	}
	for _, p := range peers {
		nodes[p.Epoch] = cmp.Or(before[p.Epoch], &watched{Peer: p})
	}
	return nodes
}

// attend watches a node until it leaves, is dead, or does not hold a request.
func (m *Member) attend(ctx context.Context, w *watched) {
	var broke time.Time // when a request broke last that it held
	for ctx.Err() == nil {
		answer, err := m.askToHold(ctx, w)
		switch {
		case answer == answerLeaves || !w.seen:
			return
		case answer == answerAgain:
			continue
		case errors.Is(err, errYounger):
			m.bury(ctx, w, "a younger life answers at its address")
			return
		case w.held:
			broke = time.Now()
		case time.Since(broke) > lookFor:
			return
		}
		if refuses(ctx, w.at) {
			m.bury(ctx, w, "its address refuses connections")
			return
		}
		pause(ctx)
	}
}

// refuses says whether an address refuses connections. A live process may miss one for another reason, and does not refuse it.
func refuses(ctx context.Context, at string) bool {
	dialer := net.Dialer{Timeout: peerDial}
	for i := range refusals {
		if i > 0 {
			pause(ctx)
		}
		conn, err := dialer.DialContext(ctx, "tcp", at)
		if err == nil {
			conn.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return false
		}
	}
	return true
}

// bury fences a node off whose life is not at its address any more, as soon as the database agrees. A connection may outlast its
// process for as long as a statement lasts.
func (m *Member) bury(ctx context.Context, w *watched, why string) {
	for begun := time.Now(); ctx.Err() == nil && time.Since(begun) < lookFor; pause(ctx) {
		connected, err := m.connected(ctx, w)
		if errors.Is(err, store.ErrNotFound) { // another node was first, or it has left
			return
		}
		if err != nil || connected {
			continue
		}
		lost, err := m.cfg.Ledger.FenceDead(ctx, m.cfg.Life, w.Node, m.fenced(byProof, w.ID, why+", and the database has no connection of its process"))
		m.cfg.Calls.Lost(lost)
		if err == nil || errors.Is(err, store.ErrFenced) {
			return
		}
		m.cfg.Log.Debug("a node that is dead was not fenced off, or not all of its sessions were closed", "node", w.ID, "err", err)
	}
	w.seen = false // nothing is proof for this life any more
}

// What shows that a node is dead.
const (
	byProof   = "proof"
	bySilence = "silence"
)

// fenced counts and logs a node that was fenced off, and has its sessions taken over. node may be empty where it has some.
func (m *Member) fenced(by, node, why string) ledger.Rescue {
	return func(ctx context.Context, lost []ledger.Lost) []ledger.Lost {
		m.NodesLost.WithLabelValues(by).Inc()
		if len(lost) > 0 {
			node = lost[0].Node.ID
		}
		m.cfg.Log.Warn("a node is dead", "node", node, "because", why, "sessions", len(lost))
		if m.cfg.Rescue == nil || len(lost) == 0 {
			return lost
		}
		return m.cfg.Rescue(ctx, lost)
	}
}

// pause waits for lookPause, or until ctx ends.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(lookPause):
	}
}
