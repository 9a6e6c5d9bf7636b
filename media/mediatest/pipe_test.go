package mediatest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// arrival is a numbered packet and when it came after the start.
type arrival struct {
	n  uint32
	at time.Duration
}

// transfer sends n numbered packets, one each 20 ms, and returns what arrives.
func transfer(t *testing.T, link Link, n int) (got []arrival, stats LinkStats) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe(link)
		start := time.Now()
		var wg sync.WaitGroup
		wg.Go(func() {
			buf := make([]byte, 100)
			for {
				k, from, err := b.ReadFromUDPAddrPort(buf)
				if err != nil {
					return
				}
				if k != 4 || from != pipeAddrA {
					t.Errorf("%d bytes from %v", k, from)
				}
				got = append(got, arrival{binary.BigEndian.Uint32(buf), time.Since(start)})
			}
		})
		for i := range n {
			if _, err := a.WriteTo(binary.BigEndian.AppendUint32(nil, uint32(i)), b.LocalAddr()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(time.Second)
		stats = a.Stats()
		b.Close()
		wg.Wait()
	})
	return got, stats
}

func TestPipePerfect(t *testing.T) {
	got, stats := transfer(t, Link{}, 50)
	for i, a := range got {
		if a != (arrival{uint32(i), time.Duration(i) * 20 * time.Millisecond}) {
			t.Fatalf("arrival %d: %+v", i, a)
		}
	}
	if len(got) != 50 || stats != (LinkStats{Sent: 50}) {
		t.Errorf("%d arrived, %+v", len(got), stats)
	}
}

func TestPipeDelayAndJitter(t *testing.T) {
	const delay, jitter = 40 * time.Millisecond, 30 * time.Millisecond
	got, _ := transfer(t, Link{Seed: 7, Delay: delay, Jitter: jitter}, 400)
	var least, most time.Duration = time.Hour, 0
	for i, a := range got {
		if a.n != uint32(i) {
			t.Fatalf("packet %d came in place %d", a.n, i)
		}
		took := a.at - time.Duration(i)*20*time.Millisecond
		least, most = min(least, took), max(most, took)
	}
	if least < delay || most > delay+jitter || most-least < jitter*9/10 {
		t.Errorf("delays from %v to %v", least, most)
	}
}

func TestPipeLossDuplicationAndOrder(t *testing.T) {
	const n = 4000
	got, stats := transfer(t, Link{Seed: 3, Loss: 0.1, Duplicate: 0.05, Reorder: 0.02}, n)
	near := func(what string, got uint64, part float64) {
		if want := part * n; float64(got) < want*0.8 || float64(got) > want*1.2 {
			t.Errorf("%s: %d of %d, want about %.0f", what, got, n, want)
		}
	}
	near("lost", stats.Lost, 0.1)
	near("duplicated", stats.Duplicated, 0.05*0.9)
	near("reordered", stats.Reordered, 0.02*0.9)
	if want := stats.Sent - stats.Lost + stats.Duplicated; uint64(len(got)) != want {
		t.Errorf("%d arrived, want %d: %+v", len(got), want, stats)
	}
	back := 0
	for i := 1; i < len(got); i++ {
		if got[i].n < got[i-1].n {
			back++
		}
	}
	if back < int(stats.Reordered)*8/10 || back > int(stats.Reordered) {
		t.Errorf("%d steps back, %d packets reordered", back, stats.Reordered)
	}
}

func TestPipeIsRepeatable(t *testing.T) {
	link := Link{Seed: 11, Loss: 0.2, Duplicate: 0.1, Reorder: 0.1, Delay: 10 * time.Millisecond, Jitter: 50 * time.Millisecond}
	first, _ := transfer(t, link, 300)
	again, _ := transfer(t, link, 300)
	if !slices.Equal(first, again) {
		t.Error("the same seed gave another fate")
	}
	link.Seed++
	if other, _ := transfer(t, link, 300); slices.Equal(first, other) {
		t.Error("another seed gave the same fate")
	}
}

func TestPipeSetLink(t *testing.T) {
	a, b := Pipe(Link{})
	a.SetLink(Link{Loss: 1})
	a.WriteTo([]byte("lost"), b.LocalAddr())
	a.SetLink(Link{})
	a.WriteTo([]byte("found"), b.LocalAddr())
	buf := make([]byte, 3)
	n, from, err := b.ReadFrom(buf)
	if err != nil || string(buf[:n]) != "fou" || from.String() != a.LocalAddr().String() {
		t.Errorf("%q from %v, %v", buf[:n], from, err)
	}
	if s := a.Stats(); s != (LinkStats{Sent: 2, Lost: 1}) {
		t.Errorf("%+v", s)
	}
}

func TestPipeOverflows(t *testing.T) {
	a, b := Pipe(Link{})
	for range maxInFlight + 5 {
		a.WriteTo([]byte("x"), b.LocalAddr())
	}
	if s := a.Stats(); s.Overflowed != 5 {
		t.Errorf("%+v", s)
	}
}

func TestPipeOtherAddresses(t *testing.T) {
	a, b := Pipe(Link{})
	if n, err := a.WriteToUDPAddrPort([]byte("gone"), netip.MustParseAddrPort("192.0.2.9:1")); n != 4 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	mapped := netip.MustParseAddrPort("[::ffff:192.0.2.2]:50000")
	a.WriteToUDPAddrPort([]byte("here"), mapped)
	buf := make([]byte, 10)
	if n, _, _ := b.ReadFromUDPAddrPort(buf); string(buf[:n]) != "here" {
		t.Errorf("got %q", buf[:n])
	}
	if _, err := a.WriteTo(nil, &net.TCPAddr{}); err == nil {
		t.Error("wrote to a TCP address")
	}
}

func TestPipeDeadlineAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := Pipe(Link{Delay: time.Second})
		buf := make([]byte, 10)
		start := time.Now()
		a.WriteTo([]byte("late"), b.LocalAddr())
		b.SetDeadline(start.Add(300 * time.Millisecond))
		_, _, err := b.ReadFrom(buf)
		if timeout, ok := errors.AsType[net.Error](err); !errors.Is(err, os.ErrDeadlineExceeded) || !ok || !timeout.Timeout() {
			t.Errorf("got %v", err)
		}
		if took := time.Since(start); took != 300*time.Millisecond {
			t.Errorf("deadline after %v", took)
		}
		b.SetReadDeadline(time.Time{})
		if n, _, err := b.ReadFrom(buf); n != 4 || err != nil || time.Since(start) != time.Second {
			t.Errorf("%d, %v after %v", n, err, time.Since(start))
		}

		var wg sync.WaitGroup
		for range 3 { // a Close wakes every reader, a change of deadline too
			wg.Go(func() {
				if _, _, err := b.ReadFrom(buf); !errors.Is(err, net.ErrClosed) {
					t.Errorf("read: %v", err)
				}
			})
		}
		synctest.Wait()
		b.SetReadDeadline(time.Now().Add(time.Hour))
		b.Close()
		wg.Wait()
		if _, err := b.WriteTo(buf, a.LocalAddr()); !errors.Is(err, net.ErrClosed) {
			t.Errorf("write: %v", err)
		}
		if _, err := a.WriteTo(buf, b.LocalAddr()); err != nil {
			t.Errorf("write to a closed end: %v", err)
		}
	})
}

func ExamplePipe() {
	a, b := Pipe(Link{})
	a.WriteTo([]byte("hello"), b.LocalAddr())
	buf := make([]byte, 1500)
	n, from, _ := b.ReadFromUDPAddrPort(buf)
	fmt.Printf("%s from %v\n", buf[:n], from)
	// Output: hello from 192.0.2.1:40000
}
