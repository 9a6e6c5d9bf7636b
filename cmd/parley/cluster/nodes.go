package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"parley/store"
	"parley/store/bus"
	"parley/store/ledger"
	"parley/store/passports"
)

const (
	// holderPatience is how long a start waits for a heartbeat of the process that has its
	// name: two of them are due by then.
	holderPatience = 5 * time.Second
	// drainPatience is for storing that this node drains.
	drainPatience = time.Second
	// leavePatience is for storing that this node is gone.
	leavePatience = 3 * time.Second
)

// ErrNameHeld refuses the start of a process whose name a living one has.
var ErrNameHeld = errors.New("the name of this node is taken")

// TakeName begins a life of the node that listens on addr, and returns the sessions of its last
// life: those that were closed, and those that this one may go on with (Restore). It refuses a name that a living process has, with
// ErrNameHeld, and takes over that of a dead one. The only node of a database does not look for others.
func TakeName(ctx context.Context, db *store.DB, name, addr string, only bool) (life store.Node, lost, left []ledger.Lost, err error) {
	if !only {
		held, err := db.NameHeld(ctx, name, holderPatience)
		if err != nil {
			return life, nil, nil, err
		}
		if held != "" {
			return life, nil, nil, fmt.Errorf("%w: %q is a running server, which listens on %s; stop it, or give this one another name (PARLEY_NODE)", ErrNameHeld, name, held)
		}
	}
	life, all, err := ledger.New(db).BeginNode(ctx, name, addr)
	if err != nil || len(all) == 0 {
		return life, nil, nil, err
	}
	ids := make([]string, len(all))
	for i := range all {
		ids[i] = all[i].ID
	}
	has, err := passports.New(db).Has(ctx, ids)
	if err != nil {
		return life, nil, nil, err
	}
	for _, l := range all {
		if has[l.ID] {
			left = append(left, l)
		} else {
			lost = append(lost, l)
		}
	}
	lost, err = ledger.New(db).CloseLost(ctx, lost)
	return life, lost, left, err
}

// restoreWithin is how long what the last life of a node has left waits until this one is ready.
const restoreWithin = 15 * time.Second

// Restore goes on with the calls of this node's last life, as soon as the node is ready, and closes those that do not go on.
func (m *Member) Restore(ctx context.Context, left []ledger.Lost, ready func(context.Context) error) {
	if len(left) == 0 {
		return
	}
	for begun := time.Now(); ready(ctx) != nil && time.Since(begun) < restoreWithin && ctx.Err() == nil; {
		pause(ctx)
	}
	if m.cfg.Rescue != nil {
		left = m.cfg.Rescue(ctx, left)
	}
	lost, err := m.cfg.Ledger.CloseLost(ctx, left)
	m.cfg.Calls.Lost(lost)
	if err != nil && ctx.Err() == nil {
		m.cfg.Log.Warn("calls of this node's last life are not closed yet", "err", err) // see session.Manager.Reconcile
	}
}

// Drain says that this life of the node takes nothing new any more, and returns whether other nodes do.
func Drain(ctx context.Context, db *store.DB, life store.Node, log *slog.Logger) (others bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainPatience) // who has no patience with calls tells the others all the same
	defer cancel()
	others, err := db.DrainNode(ctx, life)
	if err != nil {
		log.Debug("it was not stored that this node drains", "err", err)
	}
	return others
}

// Leave ends this life of the node.
func Leave(db *store.DB, life store.Node, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
	defer cancel()
	if err := db.LeaveNode(ctx, life); err != nil {
		log.Debug("the end of this node was not stored", "err", err)
	}
}

// reapEvery is how often nodes are looked for that have been silent for their lease.
const reapEvery = 2 * time.Second

// Reap takes over or closes the sessions of nodes that have been silent for their lease, whatever their names, until ctx ends. While
// heartbeats see no such node it does not ask for them.
func (m *Member) Reap(ctx context.Context) error {
	return m.cfg.Store.Hints().Every(ctx, store.HintNodes, reapEvery, func() {
		if !m.cfg.Store.MayHaveSilent() {
			return
		}
		lost, err := m.cfg.Ledger.ReapNodes(ctx, m.cfg.Life, m.fenced(bySilence, "", "it has been silent for its lease"))
		m.cfg.Calls.Lost(lost)
		if err != nil && ctx.Err() == nil {
			m.cfg.Log.Debug("sessions of nodes that are gone were not looked for", "err", err)
		}
	})
}

// name is what a node publishes of itself: its life.
func (m *Member) name() string { return fmt.Sprintf("%s %d", m.cfg.Life.ID, m.cfg.Life.Epoch) }

// sayAlive publishes that a heartbeat of this node has reached the database.
func (m *Member) sayAlive() {
	m.publish(bus.Heartbeats(), nil, []byte(m.name()), "a heartbeat was not published")
}

// hearAlive takes the heartbeat of a node.
func (m *Member) hearAlive(in bus.Message) {
	if string(in.Payload) != m.name() {
		m.cfg.Calls.Heard()
		m.cfg.Limits.Heard()
	}
}

// countEvery is how often nodes are counted.
const countEvery = 5 * time.Second

// Count hands share the number of nodes that live, every 5 s and when heartbeats see a change, until ctx ends. The others count a
// new node within seconds, and until then the shares together are more than the whole; the share
// of one that goes stays unused for its lease. Without the database share is not called.
func (m *Member) Count(ctx context.Context, share func(live int)) error {
	m.countNow(ctx, share)
	return m.cfg.Store.Hints().Every(ctx, store.HintNodes, countEvery, func() { m.countNow(ctx, share) })
}

func (m *Member) countNow(ctx context.Context, share func(live int)) {
	live, err := m.cfg.Store.CountedNodes(ctx)
	if err != nil {
		m.cfg.Log.Debug("nodes were not counted", "err", err)
		return
	}
	share(live)
}
