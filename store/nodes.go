package store

import (
	"context"
	"errors"
	"time"
)

// Node is one life of a server process. Of two processes with the same name the
// one with the higher epoch is the node; the other is refused with ErrFenced
// wherever it would write.
type Node struct {
	ID    string
	Epoch int64
}

// NewEpoch ends the present life of a node. Starts of sessions hold a KEY SHARE
// lock on the node's row; epoch has a unique index, which makes changing it a
// change of key that waits for them. So a start is either over, and found by
// closeEarlier, or finds its epoch gone.
const NewEpoch = "epoch = nextval('node_epochs')"

// Leases of nodes are counted in the database's clock, in SQL: now() there.
const (
	// NodeLease is how long a node may be silent before others take it for dead and close
	// its sessions. It hangs up by itself before.
	NodeLease = 12 * time.Second
	// BeatGap is how far apart the heartbeats of a node that has a database may be: they
	// come every 2 s and are waited for 3 s.
	BeatGap = 6 * time.Second
	// holderLook is how often it is looked whether the holder of a name lives.
	holderLook = 200 * time.Millisecond
)

// BeginEpoch starts a life of the node named id, reachable at addr. What its earlier lives
// left open is the ledger's to close.
func (db *DB) BeginEpoch(ctx context.Context, id, addr string) (n Node, err error) {
	if id == "" {
		return n, Invalid("a node needs a name")
	}
	n.ID = id
	err = db.One(ctx, "register node", `insert into nodes (node_id, epoch, addr, started_at, heartbeat_at, steady_since, connections)
		values ($1, nextval('node_epochs'), $2, now(), now(), now(), $3)
		on conflict (node_id) do update set `+NewEpoch+`, addr = $2, started_at = now(), heartbeat_at = now(), steady_since = now(),
			draining = false, left_at = null, fenced_at = null, advertised = '', version = '', connections = $3 returning epoch`,
		[]any{id, addr, db.connections}, &n.Epoch)
	if err == nil {
		err = db.began(ctx, n)
	}
	return n, err
}

// Heartbeat says that the node lives, and reads the database's clock and whether the node drains
// (Drains); ErrFenced when a younger process has its name. A heartbeat that comes late begins the
// time anew for which the node has been there without a gap.
func (db *DB) Heartbeat(ctx context.Context, n Node) error {
	asked := time.Now()
	var there time.Time
	seen := &beat{at: asked}
	err := db.One(ctx, "heartbeat", `update nodes set heartbeat_at = now(),
			steady_since = case when heartbeat_at >= now() - $3::interval then least(steady_since, now()) else now() end
		where node_id = $1 and epoch = $2 returning clock_timestamp(), draining,
			1 + (select count(*) from nodes o where o.node_id <> $1 and o.heartbeat_at >= now() - $4::interval),
			exists (select from nodes o where o.node_id <> $1 and o.heartbeat_at < now() - $4::interval
				and exists (select from sessions s where s.node_id = o.node_id and s.state = 'live')),
			coalesce((select string_agg(o.epoch || o.advertised, ' ' order by o.epoch) from nodes o where o.node_id <> $1 and o.heartbeat_at >= now() - $4::interval and not o.draining), '')`,
		[]any{n.ID, n.Epoch, BeatGap, NodeLease}, &there, &seen.drains, &seen.live, &seen.left, &seen.others)
	switch {
	case err == nil:
		db.clock.read(asked, there)
		if last := db.beat.Swap(seen); last == nil || last.others != seen.others || last.left != seen.left {
			db.hints.Hear(HintNodes)
		}
	case errors.Is(err, ErrNotFound):
		err = Fail("heartbeat", ErrFenced)
	}
	return err
}

// Drains says whether this process's node takes nothing new any more, as the last heartbeat has read it: DrainNode or AskDrain has said so.
func (db *DB) Drains() bool {
	b := db.beat.Load()
	return b != nil && b.drains
}

// beat is what a heartbeat of this process has seen of the other nodes, which need not be asked for again then.
type beat struct {
	at   time.Time // of this machine
	live int       // nodes, with this one
	left bool      // a node is silent, and sessions of it are live

	drains bool   // this node
	others string // the epochs of those that live and do not drain, with where they are reached
}

// seen is what the last heartbeat saw; nil: it is too long ago, or there was none.
func (db *DB) seen() *beat {
	if b := db.beat.Load(); b != nil && time.Since(b.at) < BeatGap {
		return b
	}
	return nil
}

// MayHaveSilent says whether there may be a node that has been silent for its lease and has live sessions: as the last heartbeat of this
// process saw it, and without one of the last seconds there may be.
func (db *DB) MayHaveSilent() bool {
	b := db.seen()
	return b == nil || b.left
}

// OtherNodes tells which other lives of nodes take what is new, as a heartbeat of the last seconds saw them: it changes with them, and
// with where they are reached. Empty: there is none. Not
// known: this process had none.
func (db *DB) OtherNodes() (mark string, known bool) {
	b := db.seen()
	if b == nil {
		return "", false
	}
	return b.others, true
}

// CountedNodes is LiveNodes, as a heartbeat of the last seconds saw it, if this process had one.
func (db *DB) CountedNodes(ctx context.Context) (n int, err error) {
	if b := db.seen(); b != nil {
		return b.live, nil
	}
	return db.LiveNodes(ctx)
}

// NodeLives checks that a life of a node is not over; ErrFenced when a younger process has its
// name.
func (db *DB) NodeLives(ctx context.Context, n Node) error {
	err := db.Must(ctx, "look for node", "select from nodes where node_id = $1 and epoch = $2", n.ID, n.Epoch)
	if errors.Is(err, ErrNotFound) {
		err = Fail("look for node", ErrFenced)
	}
	return err
}

// NameHeld waits for a heartbeat of the process that has the name of a node, and returns
// where it is reached; empty when none comes within patience: it is dead, or has left. A process of which the database shows no
// connection, as it shows ours, is not waited for.
func (db *DB) NameHeld(ctx context.Context, id string, patience time.Duration) (addr string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience+LockTimeout)
	defer cancel()
	look := func() (addr string, beat time.Time, err error) {
		err = db.One(ctx, "look for the holder of a name", "select coalesce(nullif(advertised, ''), addr), heartbeat_at from nodes n where node_id = $1 and heartbeat_at >= now() - $2::interval"+
			" and not (n.connections <> '' and exists (select from pg_stat_activity where application_name = nullif($3, ''))"+
			" and not exists (select from pg_stat_activity where application_name = n.connections))",
			[]any{id, NodeLease, db.connections}, &addr, &beat)
		return addr, beat, err
	}
	tick := time.NewTicker(holderLook)
	defer tick.Stop()
	_, first, err := look()
	for begun := time.Now(); err == nil && time.Since(begun) < patience; {
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case <-tick.C:
		}
		var beat time.Time
		if addr, beat, err = look(); err == nil && beat.After(first) {
			return addr, nil
		}
	}
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return "", err
}

// Lease is how long others take the node for alive from now on, unless another heartbeat comes; below 0 they do not
// any more. ErrFenced when a younger process has its name.
func (db *DB) Lease(ctx context.Context, n Node) (left time.Duration, err error) {
	left, err = Value[time.Duration](ctx, db, "look for lease", "select heartbeat_at + $3::interval - now() from nodes where node_id = $1 and epoch = $2", n.ID, n.Epoch, NodeLease)
	if errors.Is(err, ErrNotFound) {
		err = Fail("look for lease", ErrFenced)
	}
	return left, err
}

// LeaveNode says that a life of a node is over, so that its name need not be waited for and
// its share is others' at once.
func (db *DB) LeaveNode(ctx context.Context, n Node) error {
	return db.Do(ctx, "leave", "update nodes set left_at = now(), heartbeat_at = now() - 2 * $3::interval where node_id = $1 and epoch = $2", n.ID, n.Epoch, NodeLease)
}

// LiveNodes is how many nodes have said within their lease that they live.
func (db *DB) LiveNodes(ctx context.Context) (n int, err error) {
	return Value[int](ctx, db, "count nodes", "select count(*) from nodes where heartbeat_at >= now() - $1::interval", NodeLease)
}

// LiveAddr is the public HTTP address, as it was set, of the youngest node that lives.
// ErrNotFound: there is none.
func (db *DB) LiveAddr(ctx context.Context) (addr string, err error) {
	return Value[string](ctx, db, "find a node", "select addr from nodes where heartbeat_at >= now() - $1::interval order by epoch desc limit 1", NodeLease)
}
