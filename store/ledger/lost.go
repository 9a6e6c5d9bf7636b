package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/store"
)

// Lost is a session without a process that runs it.
type Lost struct {
	Account, ID string
	store.Node  // the life that had it
	// Err is why it could not be closed; nil: it is closed, or was not tried.
	Err error `db:"-"`
}

// Rescue takes over what it can of sessions whose node is dead and fenced off, and returns those that are to be closed. It is called
// once for each such node, also where that had none. Others leave the node alone for store.NodeLease meanwhile. nil takes over none.
type Rescue func(ctx context.Context, lost []Lost) (left []Lost)

// BeginNode starts a life of the node named id, reachable at addr, and returns the sessions that its earlier lives left open: this one
// may take them over, and closes the others. A node takes calls only after it.
func (l *Ledger) BeginNode(ctx context.Context, id, addr string) (n store.Node, lost []Lost, err error) {
	if n, err = l.db.BeginEpoch(ctx, id, addr); err == nil {
		lost, err = l.earlier(ctx, n)
	}
	return n, lost, err
}

// RegisterNode is BeginNode for a node that takes over nothing: it closes the sessions at their last checkpoint. One that
// could not be closed has an Err, and stays; see Orphans.
func (l *Ledger) RegisterNode(ctx context.Context, id, addr string) (n store.Node, lost []Lost, err error) {
	if n, lost, err = l.BeginNode(ctx, id, addr); err == nil {
		lost, err = l.CloseLost(ctx, lost)
	}
	return n, lost, err
}

// ReapNodes fences nodes off that have been silent for their lease: one that is alive after all must register
// again. It has rescue take their sessions over and closes the others, at their last checkpoint, which it returns. Any node
// may call it, as me, and often: it does nothing unless the heartbeats of me have come without a gap for a whole lease. So no
// node is taken for dead after the database was away, when all nodes look alike.
func (l *Ledger) ReapNodes(ctx context.Context, me store.Node, rescue Rescue) ([]Lost, error) {
	const silent = `n.heartbeat_at < now() - $3::interval and coalesce(n.fenced_at < now() - $3::interval, true) and exists (select from nodes me
		where me.node_id = $1 and me.epoch = $2 and me.node_id <> n.node_id
			and me.heartbeat_at >= now() - $4::interval and me.steady_since <= now() - $3::interval)`
	args := []any{me.ID, me.Epoch, store.NodeLease, store.BeatGap}
	found, err := store.List[store.Node](ctx, l.db, "find silent nodes", `select node_id, epoch from nodes n
		where `+silent+` and exists (select from sessions s where s.node_id = n.node_id and s.state = 'live' and `+endsWithNode+`)
		order by node_id`, args...)
	if err != nil {
		return nil, err
	}
	var all []Lost
	for _, n := range found {
		// All is asked again, for either may have changed meanwhile.
		lost, err := l.fence(ctx, n, rescue, silent+" and n.node_id = $5 and n.epoch = $6", append(args, n.ID, n.Epoch)...)
		all = append(all, lost...)
		if err != nil && !errors.Is(err, store.ErrFenced) {
			return all, err
		}
	}
	return all, nil
}

// FenceDead does to a life of a node that is dead, as the caller has proof, what ReapNodes does to a silent one. ErrFenced: that life is
// over, or has ended in good order, or the caller, me, has no heartbeat within its lease itself; nothing was done.
func (l *Ledger) FenceDead(ctx context.Context, me, dead store.Node, rescue Rescue) ([]Lost, error) {
	const alive = `n.node_id = $1 and n.epoch = $2 and n.left_at is null and exists (select from nodes me
		where me.node_id = $3 and me.epoch = $4 and me.node_id <> n.node_id and me.heartbeat_at >= now() - $5::interval)`
	return l.fence(ctx, dead, rescue, alive, dead.ID, dead.Epoch, me.ID, me.Epoch, store.NodeLease)
}

// fence ends a life of a node where a condition on it, n, holds, has rescue take its sessions over, and closes the others. Then the node
// is silent: its name is free, and its share is others'. ErrFenced: the condition does not hold.
func (l *Ledger) fence(ctx context.Context, n store.Node, rescue Rescue, which string, args ...any) ([]Lost, error) {
	err := l.db.One(ctx, "fence node", "update nodes n set "+store.NewEpoch+", fenced_at = now() where "+which+" returning epoch", args, &n.Epoch)
	if errors.Is(err, store.ErrNotFound) {
		err = store.Fail("fence node", store.ErrFenced)
	}
	if err != nil {
		return nil, err
	}
	lost, err := l.earlier(ctx, n)
	if err != nil {
		return nil, err
	}
	if rescue != nil {
		lost = rescue(ctx, lost)
	}
	if lost, err = l.CloseLost(ctx, lost); err != nil {
		return lost, err
	}
	return lost, l.db.Do(ctx, "fence node", "update nodes set heartbeat_at = least(heartbeat_at, now() - $3::interval) where node_id = $1 and epoch = $2", n.ID, n.Epoch, store.NodeLease)
}

// earlier is what epochs before n left open. Tasks are left to those who take them up again.
func (l *Ledger) earlier(ctx context.Context, n store.Node) ([]Lost, error) {
	return l.lost(ctx, "s.node_epoch < $2", n.ID, n.Epoch)
}

// Orphans are live sessions of a node, of this life and of earlier ones, that began before
// a time. Those that its process does not know are lost.
func (l *Ledger) Orphans(ctx context.Context, n store.Node, before time.Time) ([]Lost, error) {
	return l.lost(ctx, "s.node_epoch <= $2 and s.opened_at < $3", n.ID, n.Epoch, before)
}

// endsWithNode is a condition on sessions: all but those of tasks do.
const endsWithNode = "(s.counted or s.kind = 'outbound')"

func (l *Ledger) lost(ctx context.Context, which string, args ...any) ([]Lost, error) {
	return store.List[Lost](ctx, l.db, "find lost sessions",
		"select s.account_id, s.id, s.node_id, s.node_epoch from sessions s where s.node_id = $1 and s.state = 'live' and "+endsWithNode+" and "+which+" order by s.account_id, s.id", args...)
}

// CloseLost closes sessions at their last checkpoint, each only while it is of the life that is said to have had it; where none is
// said, whose it may be. One that another node has adopted stays open and is not in the result. One that cannot be closed keeps no
// other open: it has an Err. With an error the database was away, and those that are not in the result are as they were.
func (l *Ledger) CloseLost(ctx context.Context, lost []Lost) (closed []Lost, err error) {
	for _, s := range lost {
		epoch := s.Epoch
		if s.Node == (store.Node{}) {
			epoch = anyEpoch
		}
		_, s.Err = l.close(ctx, s.Account, s.ID, epoch, Closing{Reason: store.ReasonFailed, Detail: store.DetailNodeLost})
		switch {
		case errors.Is(s.Err, store.ErrFenced): // adopted
			continue
		case s.Err != nil && (ctx.Err() != nil || errors.Is(s.Err, store.ErrUnavailable) && !store.Locked(s.Err)):
			return closed, fmt.Errorf("close lost sessions: %w", s.Err)
		}
		closed = append(closed, s)
	}
	return closed, nil
}
