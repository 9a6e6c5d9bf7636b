package punctual

import (
	"context"
	"runtime"
	"testing"
)

// TestRun: it looks again and again whether it is needed, keeps on when it is not, and ends with its context.
func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there are no such timers")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	asked := make(chan int)
	ended := make(chan error, 1)
	go func() {
		n := 0
		ended <- Run(ctx, func() bool {
			n++
			select {
			case asked <- n:
			case <-ctx.Done():
			}
			return n%40 != 0 // now and then it is not
		})
	}()
	for n := range 100 {
		if got := <-asked; got != n+1 {
			t.Fatalf("asked %d times, want %d", got, n+1)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}
