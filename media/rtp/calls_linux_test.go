package rtp_test

import (
	"math"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"parley/media"
	"parley/media/rtp"
)

// BenchmarkCalls is the processor time of a call's packets, wake-ups included, with
// callers on a real clock. An operation is 20 ms of all calls. The floor is one
// goroutine for each call that blocks in a read and answers in the same wake-up,
// measured in turn with it. The least of three rounds each is what counts: other
// load only adds.
func BenchmarkCalls(b *testing.B) {
	for _, calls := range []int{50, 300} {
		b.Run(strconv.Itoa(calls), func(b *testing.B) {
			floor, session := math.Inf(1), math.Inf(1)
			for range 3 {
				floor = min(floor, cost(b, calls, serveFloor))
				session = min(session, cost(b, calls, serveSession))
			}
			b.ReportMetric(floor, "floor-us/pair")
			b.ReportMetric(session, "us/pair")
			b.ReportMetric(session/floor, "x-floor")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// server answers the packets that come to one port until its stop is called.
type server func(b *testing.B, far netip.AddrPort, start time.Time) (addr netip.AddrPort, stop func())

func serveFloor(b *testing.B, _ netip.AddrPort, _ time.Time) (netip.AddrPort, func()) {
	c := listen(b)
	var wg sync.WaitGroup
	wg.Go(func() {
		buf := make([]byte, 1500)
		for {
			n, from, err := c.ReadFromUDPAddrPort(buf)
			if err != nil {
				return
			}
			_, _ = c.WriteToUDPAddrPort(buf[:n], from)
		}
	})
	return c.LocalAddr().(*net.UDPAddr).AddrPort(), func() { c.Close(); wg.Wait() }
}

func serveSession(b *testing.B, far netip.AddrPort, start time.Time) (netip.AddrPort, func()) {
	ours, addr := loopback(b)
	s, err := rtp.New(rtp.Config{RTP: ours, Remote: far, Start: start})
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		f := media.Frame{Samples: make([]int16, 160), Rate: media.Rate8k}
		timer := time.NewTimer(time.Until(s.Next()))
		defer timer.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-timer.C:
				wakeUp(s, now, f)
				timer.Reset(time.Until(s.Next()))
			}
		}
	})
	return addr, func() { close(done); wg.Wait() }
}

// cost runs calls for b.N frames of 20 ms and returns the server's processor time
// in us for each packet answered. The callers share a thread, whose time is known
// and subtracted; their packets are spread over the 20 ms.
func cost(b *testing.B, calls int, serve server) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	far, farAddr := loopback(b)
	start := time.Now().Add(20 * time.Millisecond)
	phones := make([]phoneOn, calls)
	for i := range phones {
		phase := time.Duration(i) * 20 * time.Millisecond / time.Duration(calls)
		addr, stop := serve(b, farAddr, start.Add(phase+2*time.Millisecond))
		defer stop()
		phones[i].conn, phones[i].to = far, addr
	}
	answers := 0
	began := processorTime(unix.RUSAGE_SELF) - processorTime(unix.RUSAGE_THREAD)
	for k := range b.N * calls {
		at := start.Add(time.Duration(k) * 20 * time.Millisecond / time.Duration(calls))
		if d := time.Until(at); d > 0 {
			pause := unix.NsecToTimespec(int64(d)) // the thread's own sleep: no timer of the runtime
			_ = unix.Nanosleep(&pause, nil)
		}
		phones[k%calls].say()
		answers += phones[0].hear()
	}
	spent := processorTime(unix.RUSAGE_SELF) - processorTime(unix.RUSAGE_THREAD) - began
	return float64(spent.Nanoseconds()) / 1000 / float64(max(1, answers))
}

func processorTime(who int) time.Duration {
	var r unix.Rusage
	if unix.Getrusage(who, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
