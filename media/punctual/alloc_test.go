//go:build !race

package punctual

import (
	"context"
	"runtime"
	"testing"
)

// TestRunDoesNotAllocate: it runs beside the frames of calls.
func TestRunDoesNotAllocate(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are no such timers")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	turns, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- Run(ctx, func() bool { turns <- struct{}{}; return true }) }()
	<-turns
	if n := testing.AllocsPerRun(50, func() { <-turns }); n > 0 {
		t.Errorf("%v allocations each time", n)
	}
	cancel()
	for {
		select {
		case <-turns:
		case <-ended:
			return
		}
	}
}
