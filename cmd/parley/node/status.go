package node

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"parley/api/status"
	"parley/media/transcode"
)

// leastFree is how much of the disk, in bytes, must be free for the server to go
// on: the database stops at none.
const leastFree = 100 << 20

// status is what the discovery and status routes tell of the node.
func (n *Node) status() *status.Server {
	return &status.Server{
		Version: n.Version, Started: time.Now(), Engines: n.engines.Listed,
		Database:   func(ctx context.Context) error { return n.db.Ping(ctx) },
		Storage:    func(context.Context) error { return storage(n.DataDir) },
		Calls:      func() int { return n.manager.Live() },
		Load:       n.load,
		Counts:     &n.counts,
		Compressed: transcode.Available(),
	}
}

// load is how many of the calls that the node may have it has, from 0 to 1.
func (n *Node) load() float64 {
	most := cmp.Or(n.cfg.MaxCalls, n.cfg.RTPPorts.Pairs(), 1)
	return float64(n.manager.Live()) / float64(most)
}

// storage says why nothing can be kept in a directory.
func storage(dir string) error {
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("the data directory: %w", err)
	}
	var disk unix.Statfs_t
	if err := unix.Statfs(dir, &disk); err != nil {
		return fmt.Errorf("the data directory: %w", err)
	}
	if free := disk.Bavail * uint64(disk.Bsize); free < leastFree {
		return fmt.Errorf("the data directory: %d MB are free", free>>20)
	}
	return nil
}
