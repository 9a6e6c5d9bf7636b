package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Why a session ended when the process that ran it did.
const (
	reasonFailed   = "failed"
	detailNodeLost = "node_lost"
)

// Lost is a session without a process that runs it.
type Lost struct {
	Account, ID string
	// Err is why it could not be closed; nil: it is closed, or nobody has tried.
	Err error
}

// ReapNodes closes the sessions of nodes that have been silent for their lease, at their
// last checkpoint, and fences those nodes off: one that is alive after all must register
// again. Any node may call it, as me, and often: it does nothing unless the heartbeats of
// me have come without a gap for a whole lease. So nobody is taken for dead after the
// database was away, when all nodes look alike.
func (db *DB) ReapNodes(ctx context.Context, me Node, now time.Time) ([]Lost, error) {
	const silent = `n.heartbeat_at < now() - $3::interval and exists (select from nodes me
		where me.node_id = $1 and me.epoch = $2 and me.node_id <> n.node_id
			and me.heartbeat_at >= now() - $4::interval and me.steady_since <= now() - $3::interval)`
	args := []any{me.ID, me.Epoch, NodeLease, beatGap}
	found, err := List(ctx, db, "find silent nodes", pgx.RowToStructByPos[Node], `select node_id, epoch from nodes n
		where `+silent+` and exists (select from sessions s where s.node_id = n.node_id and s.state = 'live' and s.counted)
		order by node_id`, args...)
	if err != nil {
		return nil, err
	}
	var all []Lost
	for _, n := range found {
		// All is asked again, for either may have changed meanwhile.
		err := db.One(ctx, "fence node", "update nodes n set "+newEpoch+" where node_id = $5 and "+silent+" returning epoch", append(args, n.ID), &n.Epoch)
		if errors.Is(err, ErrNotFound) {
			continue
		}
		if err != nil {
			return all, err
		}
		lost, err := db.closeEarlier(ctx, n, now)
		all = append(all, lost...)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// closeEarlier closes what epochs before n left open. Tasks are left to those who take
// them up again.
func (db *DB) closeEarlier(ctx context.Context, n Node, now time.Time) ([]Lost, error) {
	lost, err := db.lost(ctx, "s.node_epoch < $2", n.ID, n.Epoch)
	if err != nil {
		return nil, err
	}
	return db.CloseLost(ctx, lost, now)
}

// Orphans are live sessions of a node, of this life and of earlier ones, that began before
// a time. Those that its process does not know are lost.
func (db *DB) Orphans(ctx context.Context, n Node, before time.Time) ([]Lost, error) {
	return db.lost(ctx, "s.node_epoch <= $2 and s.opened_at < $3", n.ID, n.Epoch, before)
}

func (db *DB) lost(ctx context.Context, which string, args ...any) ([]Lost, error) {
	return List(ctx, db, "find lost sessions", func(row pgx.CollectableRow) (l Lost, err error) {
		return l, row.Scan(&l.Account, &l.ID)
	}, "select s.account_id, s.id from sessions s where s.node_id = $1 and s.state = 'live' and s.counted and "+which+" order by s.account_id, s.id", args...)
}

// EndedAt is when the session s with the usage u ended. That of one whose process died is
// its last checkpoint, or else its start: ended_at is when others closed its books, at or
// after every posting, and queries for what was posted go by that.
const EndedAt = `case when s.end_detail = '` + detailNodeLost + `' then greatest(s.opened_at, u.started_at, u.ckpt_at) else s.ended_at end`

// CloseLost closes sessions at their last checkpoint. One that cannot be closed keeps no
// other open: it has an Err. With an error the database was away, and those that are not
// in the result are as they were.
func (db *DB) CloseLost(ctx context.Context, lost []Lost, now time.Time) ([]Lost, error) {
	for i := range lost {
		s := &lost[i]
		_, s.Err = db.close(ctx, s.Account, s.ID, anyEpoch, Closing{Reason: reasonFailed, Detail: detailNodeLost}, now)
		if s.Err != nil && (ctx.Err() != nil || errors.Is(s.Err, ErrUnavailable) && !Locked(s.Err)) {
			return lost[:i], fmt.Errorf("close lost sessions: %w", s.Err)
		}
	}
	return lost, nil
}
