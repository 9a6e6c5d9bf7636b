package mediatest

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
)

var (
	continuous = media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true}
	withLead   = media.Format{In: media.Rate16k, Out: media.Rate44k, Lead: 300 * time.Millisecond}
)

// inMemory returns a maker of pairs for TestLegSimulated.
func inMemory(f media.Format) func(t *testing.T) LegPair {
	return func(t *testing.T) LegPair {
		a, b := Pipe(Link{Delay: time.Millisecond})
		far := startMemoryFar(t, b, pipeAddrA, f)
		return LegPair{Leg: newMemoryLeg(a, pipeAddrB, f), Far: far}
	}
}

func TestSuiteInSimulatedTime(t *testing.T) {
	t.Run("continuous", func(t *testing.T) { TestLegSimulated(t, inMemory(continuous)) })
	t.Run("with a lead", func(t *testing.T) { TestLegSimulated(t, inMemory(withLead)) })
}

// A process that is not scheduled for 200 ms hears silence, as it should, and the
// tone is broken.
func TestSuiteRealTime(t *testing.T) {
	RealTime(t)
	overUDP := func(t *testing.T) LegPair {
		var conns [2]*net.UDPConn
		for i := range conns {
			var err error
			if conns[i], err = net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)}); err != nil {
				t.Fatal(err)
			}
		}
		leg, peer := conns[0], conns[1]
		far := startMemoryFar(t, peer, leg.LocalAddr().(*net.UDPAddr).AddrPort(), continuous)
		return LegPair{Leg: newMemoryLeg(leg, peer.LocalAddr().(*net.UDPAddr).AddrPort(), continuous), Far: far}
	}
	TestLeg(t, overUDP)
}

// faultyLeg is a memoryLeg with a fault in one method.
type faultyLeg struct {
	*memoryLeg
	run    func(ctx context.Context) error
	next   func() time.Time
	readFn func(now time.Time) (media.Frame, bool)
	due    func(now time.Time) int
	write  func(f media.Frame)
	flush  func(now time.Time) media.Time
	played func(now time.Time) media.Time
}

func (l *faultyLeg) Run(ctx context.Context) error {
	if l.run != nil {
		return l.run(ctx)
	}
	return l.memoryLeg.Run(ctx)
}

func (l *faultyLeg) Next() time.Time {
	if l.next != nil {
		return l.next()
	}
	return l.memoryLeg.Next()
}

func (l *faultyLeg) Read(now time.Time) (media.Frame, bool) {
	if l.readFn != nil {
		return l.readFn(now)
	}
	return l.memoryLeg.Read(now)
}

func (l *faultyLeg) Due(now time.Time) int {
	if l.due != nil {
		return l.due(now)
	}
	return l.memoryLeg.Due(now)
}

func (l *faultyLeg) Write(f media.Frame) {
	if l.write != nil {
		l.write(f)
		return
	}
	l.memoryLeg.Write(f)
}

func (l *faultyLeg) Flush(now time.Time) media.Time {
	if l.flush != nil {
		return l.flush(now)
	}
	return l.memoryLeg.Flush(now)
}

func (l *faultyLeg) Played(now time.Time) media.Time {
	if l.played != nil {
		return l.played(now)
	}
	return l.memoryLeg.Played(now)
}

// faults are legs that break the contract, and the check that must say so.
var faults = []struct {
	name     string
	format   media.Format
	check    string // of legChecks
	says     string // in one of its errors
	sabotage func(t *testing.T, l *faultyLeg)
}{
	{"loses a frame", continuous, "audio both ways", "broken", func(t *testing.T, l *faultyLeg) {
		n := 0
		l.write = func(f media.Frame) {
			if n++; n != 50 {
				l.memoryLeg.Write(f)
			}
		}
	}},
	{"keeps what it is given", continuous, "audio both ways", "far end heard", func(t *testing.T, l *faultyLeg) {
		var kept media.Frame
		l.write = func(f media.Frame) {
			if kept.Samples != nil {
				l.memoryLeg.Write(kept)
			}
			kept = f
		}
	}},
	{"repeats a time", continuous, "audio both ways", "want 20ms", func(t *testing.T, l *faultyLeg) {
		l.readFn = func(now time.Time) (media.Frame, bool) {
			f, ok := l.memoryLeg.Read(now)
			f.At = 0
			return f, ok
		}
	}},
	{"gives short frames", continuous, "audio both ways", "20 ms at 8000 Hz", func(t *testing.T, l *faultyLeg) {
		l.readFn = func(now time.Time) (media.Frame, bool) {
			f, ok := l.memoryLeg.Read(now)
			f.Samples = f.Samples[:len(f.Samples)/2]
			return f, ok
		}
	}},
	{"waits in Read", continuous, "audio both ways", "waited", func(t *testing.T, l *faultyLeg) {
		l.readFn = func(now time.Time) (media.Frame, bool) {
			time.Sleep(time.Millisecond)
			return l.memoryLeg.Read(now)
		}
	}},
	{"does not fill silence", continuous, "silence is filled", "lags", func(t *testing.T, l *faultyLeg) {
		l.readFn = func(now time.Time) (media.Frame, bool) { return l.memoryLeg.Read(l.started) }
	}},
	{"runs ahead", continuous, "silence is filled", "lags", func(t *testing.T, l *faultyLeg) {
		l.readFn = func(now time.Time) (media.Frame, bool) { return l.memoryLeg.Read(now.Add(250 * time.Millisecond)) }
	}},
	{"never wakes", continuous, "silence is filled", "lags", func(t *testing.T, l *faultyLeg) {
		l.next = func() time.Time { return l.started.Add(time.Hour) }
	}},
	{"wakes for nothing", withLead, "pacing", "Next is", func(t *testing.T, l *faultyLeg) {
		l.next = func() time.Time { return l.started }
	}},
	{"asks for too much", withLead, "pacing", "again after", func(t *testing.T, l *faultyLeg) {
		l.due = func(now time.Time) int { return l.memoryLeg.Due(now) + 1 }
	}},
	{"asks for too little", withLead, "pacing", "written in a second", func(t *testing.T, l *faultyLeg) {
		l.due = func(now time.Time) int { return max(0, l.memoryLeg.Due(now)-10) }
	}},
	{"asks for every second frame", continuous, "pacing", "written in a second", func(t *testing.T, l *faultyLeg) {
		n := 0
		l.due = func(now time.Time) int {
			d := l.memoryLeg.Due(now)
			n += d
			return d * (n % 2)
		}
	}},
	{"catches up on all it missed", continuous, "a stall", "Due is 2", func(t *testing.T, l *faultyLeg) {
		next := l.started
		l.next = func() time.Time { return next }
		l.due = func(now time.Time) (n int) {
			for ; !now.Before(next); n++ {
				next = next.Add(media.FrameDuration)
			}
			return n
		}
	}},
	{"says it flushed and does not", withLead, "flush", "played by the far end", func(t *testing.T, l *faultyLeg) {
		l.flush = func(now time.Time) media.Time {
			l.peer = pipeAddrA // nowhere
			defer func() { l.peer = pipeAddrB }()
			return l.memoryLeg.Flush(now)
		}
	}},
	{"flushes what was played", withLead, "flush", "Flush dropped", func(t *testing.T, l *faultyLeg) {
		l.flush = func(now time.Time) media.Time { return l.written }
	}},
	{"counts flushed audio as played", withLead, "flush", "flushed", func(t *testing.T, l *faultyLeg) {
		l.played = func(now time.Time) media.Time { return l.memoryLeg.Played(now) + l.flushed }
	}},
	{"unplays", withLead, "flush", "fell", func(t *testing.T, l *faultyLeg) {
		l.played = func(now time.Time) media.Time { return l.written - l.flushed - 2*l.ahead(now) }
	}},
	{"reports a key twice", continuous, "digits", "55", func(t *testing.T, l *faultyLeg) {
		l.run = func(ctx context.Context) error {
			l.events <- media.LegEvent{Kind: media.LegDigit, Digit: '5'}
			return l.memoryLeg.Run(ctx)
		}
	}},
	{"fails when it is ended", continuous, "end of context", "context canceled", func(t *testing.T, l *faultyLeg) {
		l.run = func(ctx context.Context) error {
			l.memoryLeg.Run(ctx)
			return ctx.Err()
		}
	}},
	{"closes its events", continuous, "far end hangs up", "closed", func(t *testing.T, l *faultyLeg) {
		l.run = func(ctx context.Context) error {
			defer close(l.events)
			return l.memoryLeg.Run(ctx)
		}
	}},
	{"is deaf to goodbye", continuous, "far end hangs up", "has not returned", func(t *testing.T, l *faultyLeg) {
		l.run = func(ctx context.Context) error {
			l.memoryLeg.Run(ctx)
			<-ctx.Done()
			return nil
		}
	}},
	{"leaves a goroutine", continuous, "end of context", "left goroutines", func(t *testing.T, l *faultyLeg) {
		over := make(chan struct{})
		t.Cleanup(func() { close(over) })
		l.run = func(ctx context.Context) error {
			go func() { <-over }()
			return l.memoryLeg.Run(ctx)
		}
	}},
	{"has no lead", media.Format{In: media.Rate8k, Out: media.Rate8k}, "pacing", "Format", func(*testing.T, *faultyLeg) {}},
}

func TestSuiteFindsFaults(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pair := inMemory(fault.format)(t)
				leg := &faultyLeg{memoryLeg: pair.Leg.(*memoryLeg)}
				fault.sabotage(t, leg)
				pair.Leg = leg
				found := failures(t, pair, fault.check)
				if !strings.Contains(found, fault.says) {
					t.Errorf("%q says %q, want %q", fault.check, found, fault.says)
				}
			})
		})
	}
}

// failures runs one check and returns what it found.
func failures(t *testing.T, pair LegPair, name string) string {
	r := &recorder{TB: t}
	for _, c := range legChecks {
		if c.name == name {
			done := make(chan struct{})
			go func() {
				defer close(done)
				conduct(r, pair, true, c.check)
			}()
			<-done
			return r.found.String()
		}
	}
	t.Fatalf("no check %q", name)
	return ""
}

// recorder takes down the failures of a test instead of failing.
type recorder struct {
	testing.TB
	found strings.Builder
}

func (r *recorder) Helper() {}

func (r *recorder) Error(args ...any) { fmt.Fprintln(&r.found, args...) }

func (r *recorder) Errorf(format string, args ...any) { fmt.Fprintf(&r.found, format+"\n", args...) }

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
