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
	// Err is why it could not be closed; nil: it is closed, or was not tried.
	Err error `db:"-"`
}

// RegisterNode starts a life of the node named id, reachable at addr, and closes
// the sessions its earlier lives left open, at their last checkpoint: those are lost.
// One that could not be closed has an Err, and stays; see Orphans. A node takes calls
// only after it.
func (l *Ledger) RegisterNode(ctx context.Context, id, addr string) (n store.Node, lost []Lost, err error) {
	if n, err = l.db.BeginEpoch(ctx, id, addr); err == nil {
		lost, err = l.closeEarlier(ctx, n)
	}
	return n, lost, err
}

// ReapNodes closes the sessions of nodes that have been silent for their lease, at their
// last checkpoint, and fences those nodes off: one that is alive after all must register
// again. Any node may call it, as me, and often: it does nothing unless the heartbeats of
// me have come without a gap for a whole lease. So no node is taken for dead after the
// database was away, when all nodes look alike.
func (l *Ledger) ReapNodes(ctx context.Context, me store.Node) ([]Lost, error) {
	const silent = `n.heartbeat_at < now() - $3::interval and exists (select from nodes me
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
		err := l.db.One(ctx, "fence node", "update nodes n set "+store.NewEpoch+" where node_id = $5 and "+silent+" returning epoch", append(args, n.ID), &n.Epoch)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return all, err
		}
		lost, err := l.closeEarlier(ctx, n)
		all = append(all, lost...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// closeEarlier closes what epochs before n left open. Tasks are left to those who take
// them up again.
func (l *Ledger) closeEarlier(ctx context.Context, n store.Node) ([]Lost, error) {
	lost, err := l.lost(ctx, "s.node_epoch < $2", n.ID, n.Epoch)
	if err != nil {
		return nil, err
	}
	return l.CloseLost(ctx, lost)
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
		"select s.account_id, s.id from sessions s where s.node_id = $1 and s.state = 'live' and "+endsWithNode+" and "+which+" order by s.account_id, s.id", args...)
}

// CloseLost closes sessions at their last checkpoint. One that cannot be closed keeps no
// other open: it has an Err. With an error the database was away, and those that are not
// in the result are as they were.
func (l *Ledger) CloseLost(ctx context.Context, lost []Lost) ([]Lost, error) {
	for i := range lost {
		s := &lost[i]
		_, s.Err = l.close(ctx, s.Account, s.ID, anyEpoch, Closing{Reason: store.ReasonFailed, Detail: store.DetailNodeLost})
		if s.Err != nil && (ctx.Err() != nil || errors.Is(s.Err, store.ErrUnavailable) && !store.Locked(s.Err)) {
			return lost[:i], fmt.Errorf("close lost sessions: %w", s.Err)
		}
	}
	return lost, nil
}
