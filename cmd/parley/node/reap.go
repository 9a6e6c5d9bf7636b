package node

import (
	"context"
	"fmt"
	"time"

	"parley/store/bus"
)

// reapEvery is how often nodes are looked for that have been silent for their lease.
const reapEvery = 2 * time.Second

// reap closes the sessions of nodes that are gone, under whichever name they ran, until
// ctx ends.
func (n *Node) reap(ctx context.Context) error {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		lost, err := n.db.ReapNodes(ctx, n.life, n.db.Now())
		n.manager.Lost(lost)
		if err != nil && ctx.Err() == nil {
			n.log.Debug("sessions of nodes that are gone were not looked for", "err", err)
		}
	}
}

// alive is what a node says of itself on the bus: its life.
func (n *Node) alive() string { return fmt.Sprintf("%s %d", n.life.ID, n.life.Epoch) }

// sayAlive says on the bus that a heartbeat of this node has reached the database.
func (n *Node) sayAlive() {
	if err := n.bus.Publish(bus.Heartbeats(), []byte(n.alive())); err != nil {
		n.log.Debug("other nodes were not told that this one has a database", "err", err)
	}
}

// hearAlive takes what a node says of itself.
func (n *Node) hearAlive(m bus.Message) {
	if string(m.Payload) != n.alive() {
		n.manager.Heard()
	}
}
