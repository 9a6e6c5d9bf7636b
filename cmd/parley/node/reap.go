package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"parley/store"
	"parley/store/bus"
)

const (
	// holderPatience is how long a start waits for a heartbeat of the process that has its
	// name: two of them are due by then.
	holderPatience = 5 * time.Second
	// leavePatience is for telling the others that this node is gone.
	leavePatience = 3 * time.Second
)

// ErrNameHeld refuses the start of a process whose name another one has that lives.
var ErrNameHeld = errors.New("the name of this node is taken")

// takeName begins a life of the node. A name that a living process has is refused; that of
// a dead one is taken over. Of the database that a server runs itself it is the only one.
func (n *Node) takeName(ctx context.Context) (life store.Node, lost []store.Lost, err error) {
	if n.cfg.DatabaseURL != "" {
		addr, err := n.db.NameHeld(ctx, n.cfg.Node, holderPatience)
		if err != nil {
			return life, nil, err
		}
		if addr != "" {
			return life, nil, fmt.Errorf("%w: %q is a running server, which listens on %s; stop it, or give this one another name (PARLEY_NODE)", ErrNameHeld, n.cfg.Node, addr)
		}
	}
	return n.db.RegisterNode(ctx, n.cfg.Node, n.cfg.HTTPAddr, n.db.Now())
}

// leave says that this life of the node is over.
func (n *Node) leave() {
	if n.life.ID == "" {
		return // it never began
	}
	ctx, cancel := context.WithTimeout(context.Background(), leavePatience)
	defer cancel()
	if err := n.db.LeaveNode(ctx, n.life); err != nil {
		n.log.Debug("other nodes were not told that this one is gone", "err", err)
	}
}

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
