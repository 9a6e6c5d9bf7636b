package store

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
)

// Node is one life of a server process. Of two processes with the same name the
// one with the higher epoch is the node; the other is refused with ErrFenced
// wherever it would write.
type Node struct {
	ID    string
	Epoch int64
}

// Why a session ended when the process that ran it did.
const (
	reasonFailed   = "failed"
	detailNodeLost = "node_lost"
)

// newEpoch ends the present life of a node. Starts of sessions hold a KEY SHARE
// lock on the node's row; epoch has a unique index, which makes changing it a
// change of key that waits for them. So a start is either over, and found by
// closeLost, or finds its epoch gone.
const newEpoch = "epoch = nextval('node_epochs')"

// RegisterNode starts a life of the node named id, reachable at addr, and closes
// the sessions its earlier lives left open, at their last checkpoint. closed is
// how many there were. A node takes calls only after it.
func (db *DB) RegisterNode(ctx context.Context, id, addr string, now time.Time) (n Node, closed int, err error) {
	if id == "" {
		return n, 0, invalid("a node needs a name")
	}
	n.ID = id
	err = db.one(ctx, "register node", `insert into nodes (node_id, epoch, addr, started_at, heartbeat_at)
		values ($1, nextval('node_epochs'), $2, $3, $3)
		on conflict (node_id) do update set `+newEpoch+`, addr = $2, started_at = $3, heartbeat_at = $3 returning epoch`,
		[]any{id, addr, now}, &n.Epoch)
	if err != nil {
		return n, 0, err
	}
	closed, err = db.closeLost(ctx, n, now)
	return n, closed, err
}

// Heartbeat says that the node lives; ErrFenced when a younger process has its name.
func (db *DB) Heartbeat(ctx context.Context, n Node, now time.Time) error {
	tag, err := db.pool.Exec(ctx, "update nodes set heartbeat_at = $3 where node_id = $1 and epoch = $2", n.ID, n.Epoch, now)
	if err == nil && tag.RowsAffected() == 0 {
		err = ErrFenced
	}
	return fail("heartbeat", err)
}

// LiveNodes is how many nodes have said that they live within lease.
func (db *DB) LiveNodes(ctx context.Context, lease time.Duration, now time.Time) (n int, err error) {
	err = db.one(ctx, "count nodes", "select count(*) from nodes where heartbeat_at >= $1", []any{now.Add(-lease)}, &n)
	return n, err
}

// ReapNodes closes the sessions of nodes that have been silent for lease, at their
// last checkpoint, and fences those nodes off: one that is alive after all must
// register again. It returns how many sessions it closed. Any node may call it.
func (db *DB) ReapNodes(ctx context.Context, lease time.Duration, now time.Time) (int, error) {
	silent, err := list(ctx, db, "find silent nodes", pgx.RowToStructByPos[Node], `select node_id, epoch from nodes n
		where heartbeat_at < $1 and exists (select from sessions s where s.node_id = n.node_id and s.state = 'live' and s.counted)
		order by node_id`, now.Add(-lease))
	if err != nil {
		return 0, err
	}
	closed := 0
	for _, n := range silent {
		// The time is asked again, for the node may have come back meanwhile.
		err := db.one(ctx, "fence node", "update nodes set "+newEpoch+" where node_id = $1 and heartbeat_at < $2 returning epoch",
			[]any{n.ID, now.Add(-lease)}, &n.Epoch)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return closed, err
		}
		some, err := db.closeLost(ctx, n, now)
		closed += some
		if err != nil {
			return closed, err
		}
	}
	return closed, nil
}

// closeLost closes what epochs before n left open. Tasks are left to whoever takes
// them up again.
func (db *DB) closeLost(ctx context.Context, n Node, now time.Time) (int, error) {
	type owned struct{ Account, ID string }
	lost, err := list(ctx, db, "find lost sessions", pgx.RowToStructByPos[owned], `select account_id, id from sessions
		where node_id = $1 and node_epoch < $2 and state = 'live' and counted order by account_id, id`, n.ID, n.Epoch)
	if err != nil {
		return 0, err
	}
	for i, s := range lost {
		end := Closing{Reason: reasonFailed, Detail: detailNodeLost}
		if _, err := db.close(ctx, s.Account, s.ID, anyEpoch, end, now); err != nil {
			return i, err
		}
	}
	return len(lost), nil
}
