package node

import (
	"context"
	"time"
)

// How often nodes are counted, and after how much silence one counts no more. Nodes
// report every 2 s.
const (
	countEvery = 5 * time.Second
	nodeLease  = 15 * time.Second
)

// shareTrunks keeps the node to its part of what trunks take, until ctx ends. A node
// that comes is counted by the others within seconds, and until then their parts
// together are more than the whole; one that goes leaves its part unused for the lease.
func (n *Node) shareTrunks(ctx context.Context) error {
	tick := time.NewTicker(countEvery)
	defer tick.Stop()
	for {
		n.shareTrunksNow(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// shareTrunksNow counts once. Without the database the parts stay.
func (n *Node) shareTrunksNow(ctx context.Context) {
	live, err := n.db.LiveNodes(ctx, nodeLease, time.Now())
	if err != nil {
		n.log.Debug("nodes were not counted", "err", err)
		return
	}
	n.phone.Share(live)
}
