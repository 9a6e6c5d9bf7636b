package node

import (
	"context"
	"time"
)

// countEvery is how often nodes are counted.
const countEvery = 5 * time.Second

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
	live, err := n.db.LiveNodes(ctx)
	if err != nil {
		n.log.Debug("nodes were not counted", "err", err)
		return
	}
	n.phone.Share(live)
}
