package store

import (
	"context"
	"time"
)

// NodeState is how a node is, as far as the database knows.
type NodeState string

// States of nodes.
const (
	NodeServing  NodeState = "serving"
	NodeDraining NodeState = "draining" // it has calls in progress and takes nothing new
	NodeSilent   NodeState = "silent"   // its lease is over: it is taken for dead
)

// SeenNode is a node as operators see it. Times are by the database's clock.
type SeenNode struct {
	ID          string
	Advertised  string // HOST:PORT of its HTTP side, for others
	Version     string // of its program
	State       NodeState
	StartedAt   time.Time
	HeartbeatAt time.Time // the last one; a silent node is silent since then
	Calls       int       // in progress
}

// rememberNodes is how long a silent node is listed: names of machines and pods come and go.
const rememberNodes = 7 * 24 * time.Hour

// Nodes lists the nodes by name: those that live, and those that have been silent for up to a week. One that ended in good
// order is not among them.
func (db *DB) Nodes(ctx context.Context) ([]SeenNode, error) {
	return List[SeenNode](ctx, db, "list nodes", `select n.node_id, n.advertised, n.version,
			case when n.heartbeat_at < now() - $1::interval then 'silent' when n.draining then 'draining' else 'serving' end, n.started_at, n.heartbeat_at,
			(select count(*) from sessions s where s.node_id = n.node_id and s.state = 'live' and s.kind in ('web', 'inbound', 'outbound'))
		from nodes n where n.left_at is null and n.heartbeat_at >= now() - $2::interval order by n.node_id`, NodeLease, rememberNodes)
}

// IntroduceNode stores what others learn of a life of a node: where its HTTP side is reached, HOST:PORT, and the version of
// its program.
func (db *DB) IntroduceNode(ctx context.Context, n Node, advertised, version string) error {
	return db.Do(ctx, "introduce node", "update nodes set advertised = $3, version = $4 where node_id = $1 and epoch = $2", n.ID, n.Epoch, advertised, version)
}

// NodeAt is the life of a node with an epoch, and where its HTTP side is reached by others, HOST:PORT. ErrNotFound: none has it that has
// not ended in good order.
func (db *DB) NodeAt(ctx context.Context, epoch int64) (n Node, advertised string, err error) {
	err = db.One(ctx, "look for node", "select node_id, epoch, advertised from nodes where epoch = $1 and left_at is null",
		[]any{epoch}, &n.ID, &n.Epoch, &advertised)
	return n, advertised, err
}

// Peer is a node that serves, as others reach it.
type Peer struct {
	Node
	Advertised string // HOST:PORT of its HTTP side
	Calls      int    // in progress
}

// Peers lists the nodes that live and do not drain, but for me, those with the fewest calls first.
func (db *DB) Peers(ctx context.Context, me Node) ([]Peer, error) {
	return List[Peer](ctx, db, "list peers", `select n.node_id, n.epoch, n.advertised,
			(select count(*) from sessions s where s.node_id = n.node_id and s.node_epoch = n.epoch and s.state = 'live') as calls
		from nodes n where n.node_id <> $1 and not n.draining and n.left_at is null and n.advertised <> '' and n.heartbeat_at >= now() - $2::interval
		order by calls, n.node_id`, me.ID, NodeLease)
}

// NodeConnected says whether the database has connections of the process of a node's life. It has none where the operator has named
// connections himself, or a pooler hides them: who wants to conclude something from there being none must have seen some before.
// ErrNotFound: the life is over, has left, or has been silent for its lease.
func (db *DB) NodeConnected(ctx context.Context, n Node) (bool, error) {
	return Value[bool](ctx, db, "look for connections of a node", `select n.connections <> '' and exists (select from pg_stat_activity a where a.application_name = n.connections)
		from nodes n where n.node_id = $1 and n.epoch = $2 and n.left_at is null and n.heartbeat_at >= now() - $3::interval`, n.ID, n.Epoch, NodeLease)
}

// AskDrain has the node of a name drain, within a heartbeat. ErrNotFound: none lives under that name.
func (db *DB) AskDrain(ctx context.Context, name string) error {
	return db.Must(ctx, "ask to drain", "update nodes set draining = true where node_id = $1 and left_at is null and heartbeat_at >= now() - $2::interval", name, NodeLease)
}

// DrainNode says that a life of a node takes nothing new any more: what others can take over is theirs. It returns whether there
// are others, which live and do not drain.
func (db *DB) DrainNode(ctx context.Context, n Node) (others bool, err error) {
	if err := db.Do(ctx, "drain", "update nodes set draining = true where node_id = $1 and epoch = $2", n.ID, n.Epoch); err != nil {
		return false, err
	}
	return Value[bool](ctx, db, "look for nodes that serve", "select exists (select from nodes where node_id <> $1 and not draining and heartbeat_at >= now() - $2::interval)", n.ID, NodeLease)
}
