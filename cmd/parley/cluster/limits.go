package cluster

import (
	"context"
	"time"

	"parley/store/bus"
)

const (
	// reportPause is how long this node waits after each report of what it has let through: what
	// comes meanwhile is one message.
	reportPause = 50 * time.Millisecond
	// quietAfter is several heartbeats. A node that hears no other for once to twice as long reports nothing.
	quietAfter = 10 * time.Second
)

// reportLimits publishes what this node has let through. It alone waits for the bus.
func (m *Member) reportLimits(ctx context.Context) {
	quiet := time.NewTicker(quietAfter)
	defer quiet.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-quiet.C:
			m.cfg.Limits.Quiet()
			continue
		case <-m.cfg.Limits.Due():
		}
		for _, report := range m.cfg.Limits.Reports(bus.MaxPayload) {
			m.publish(bus.Limits(), nil, report, "what this node has let through was not reported to the others")
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(reportPause):
		}
	}
}
