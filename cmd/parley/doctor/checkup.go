package doctor

import (
	"context"
	"time"

	"parley/api/wire"
	"parley/cmd/parley/config"
)

// A checkup starts engines and opens sockets, so there is one at a time, and a request
// soon after gets what the last one found.
const (
	checkupFresh    = 5 * time.Second
	checkupPatience = time.Minute
)

// Checkup makes the checks of parley doctor in a running server. Its methods may be called from
// several goroutines.
type Checkup struct {
	cfg   *config.Config
	dir   func() string // the data directory
	turn  chan struct{} // holds one while somebody looks
	at    time.Time     // of found; the holder of the turn may use them
	found []wire.Check
}

// NewCheckup returns a checkup of a server with the data directory that dir returns.
func NewCheckup(cfg *config.Config, dir func() string) *Checkup {
	return &Checkup{cfg: cfg, dir: dir, turn: make(chan struct{}, 1)}
}

// Look waits for its turn, until ctx ends.
func (c *Checkup) Look(ctx context.Context) ([]wire.Check, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if time.Since(c.at) < checkupFresh {
		return c.found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, checkupPatience)
	defer cancel()
	var found []wire.Check
	for _, f := range append(Examine(ctx, c.cfg, c.dir()), FFmpeg(ctx)) {
		found = append(found, wire.Check{Name: f.Name, Status: string(f.Status), Detail: f.Detail, Fix: f.Fix})
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // what was cut off is not broken
	}
	c.at, c.found = time.Now(), found
	return found, nil
}
