//go:build !linux

package punctual

import "context"

// Run does nothing until ctx ends: other systems have no such timers.
func Run(ctx context.Context, _ func() bool) error {
	<-ctx.Done()
	return nil
}
