package sip_test

import (
	"context"
	"os"
	"runtime"
	"testing"
	"time"

	"parley/media"
	"parley/sip"
	"parley/sip/header"
	"parley/sip/rtpport"
)

// shortCalls is how many calls TestSoakShortCalls makes, how much memory each may
// leave and how long that may take: transactions are kept for 32 s after their end
// (RFC 3261 timers H and J), and the short form does not wait for that.
func shortCalls() (calls int, each uint64, rest time.Duration) {
	if os.Getenv("PARLEY_SOAK") != "" {
		return 2000, 512, 2 * time.Minute
	}
	return 50, 128 << 10, patience
}

// held is what a process holds.
type held struct {
	goroutines, files int
	heap              uint64
}

func holding(t *testing.T) (h held) {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.GC() // what finalizers let go of
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return held{runtime.NumGoroutine(), len(list), m.HeapAlloc}
}

// TestSoakShortCalls: calls with sound, ended by either side, leave no goroutine,
// socket, RTP port or memory behind.
func TestSoakShortCalls(t *testing.T) {
	calls, each, rest := shortCalls()
	// Ports do not drain, so that a socket that is left is a leak.
	pool := func(first uint16) *rtpport.Pool {
		p, err := rtpport.New(rtpport.Config{Addr: loopback, First: first, Last: first + 99, Drain: time.Nanosecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Close)
		return p
	}
	pools := []*rtpport.Pool{pool(19800), pool(19900)}
	over := make(chan error, calls)
	echo := func(ctx context.Context, in *sip.Incoming) {
		leg, err := in.Answer(ctx)
		if err == nil {
			ctx, hangup := context.WithCancelCause(ctx)
			defer hangup(nil)
			err = conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
				if in.From.Number == "stay" {
					return f.Samples
				}
				if leg.Stats().Received > 5 {
					hangup(&media.Ended{Reason: media.AgentHangup})
				}
				return f.Samples
			})
		}
		over <- err
	}
	server := serve(t, sip.Config{Ports: pools[0], OnCall: echo})
	phone := serve(t, sip.Config{Ports: pools[1]})
	call := func(i int) error {
		who := []string{"stay", "leave"}[i%2]
		leg, err := phone.Dial(t.Context(), sip.Target{URI: "sip:x@" + server.Addr().String(), From: header.Identity{Number: who}})
		if err != nil {
			return err
		}
		ctx, hangup := context.WithCancelCause(t.Context())
		defer hangup(nil)
		return conduct(ctx, leg, func(leg *sip.Leg, f media.Frame) []int16 {
			if who == "stay" && leg.Stats().Received > 5 {
				hangup(&media.Ended{Reason: media.AgentHangup})
			}
			return f.Samples
		})
	}
	many := func(n int) {
		t.Helper()
		ended := make(chan error, n)
		slots := make(chan struct{}, 8)
		for i := range n {
			slots <- struct{}{}
			go func() {
				err := call(i)
				<-slots
				ended <- err
			}()
		}
		for range n {
			for _, c := range []chan error{ended, over} {
				if err := wait(t, c, "end of a call"); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	idle := func() bool {
		return server.Stats().Calls == 0 && phone.Stats().Calls == 0 && pools[0].Stats().InUse == 0 && pools[1].Stats().InUse == 0
	}
	many(10) // pools, tables and connections that stay
	eventually(t, "all is given back", idle)
	before := holding(t)
	many(calls)
	eventually(t, "all is given back", idle)
	var after held
	for end := time.Now().Add(rest); ; time.Sleep(100 * time.Millisecond) {
		after = holding(t)
		if after.goroutines <= before.goroutines && after.files <= before.files && after.heap <= before.heap+uint64(calls)*each {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("before %d calls %+v, afterwards %+v", calls, before, after)
		}
	}
	t.Logf("%d calls: before %+v, afterwards %+v", calls, before, after)
}
