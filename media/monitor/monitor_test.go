package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"parley/media"
	"parley/media/mediatest"
	"parley/media/monitor"
	"parley/media/record"
)

var _ record.Keeper = (*monitor.Monitor)(nil)

// telephone is the format of a leg of telephones, socket that of one that takes audio ahead of time.
var (
	telephone = media.Format{In: media.Rate8k, Out: media.Rate8k, Continuous: true}
	socket    = media.Format{In: media.Rate16k, Out: media.Rate24k, Lead: time.Second}
)

// conductor plays a call to a monitor.
type conductor struct {
	*monitor.Monitor
	f media.Format
	n int // frames so far
}

func begun(f media.Format) *conductor {
	c := &conductor{monitor.New(nil), f, 0}
	c.Begin(f)
	return c
}

// frame is one in which all samples are v.
func frame(r media.Rate, v int16) media.Frame {
	f := media.Frame{Samples: make([]int16, r.FrameSamples()), Rate: r}
	for i := range f.Samples {
		f.Samples[i] = v
	}
	return f
}

// hear has the caller say a frame of v, and speak the agent, who is heard ahead later.
func (c *conductor) hear(v int16) {
	f := frame(c.f.In, v)
	f.At = media.Time(c.n) * media.FrameTime
	c.n++
	c.Heard(f, time.Now())
}

func (c *conductor) speak(v int16, ahead media.Time) { c.Spoke(frame(c.f.Out, v), time.Now(), ahead) }

// listen takes what is there to hear: of each frame the sample in the middle of either channel.
func listen(t *testing.T, l *monitor.Listener) (caller, agent []int16) {
	t.Helper()
	n := l.Rate().FrameSamples()
	stereo := make([]int16, monitor.Channels*n)
	for {
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		err := l.Next(ctx, stereo)
		stop()
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			return caller, agent
		}
		caller, agent = append(caller, stereo[n]), append(agent, stereo[n+1])
	}
}

func same(t *testing.T, what string, got []int16, want ...int16) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
		return
	}
	for i := range want {
		if got[i] < want[i]-2 || got[i] > want[i]+2 {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// TestBothSides: whoever listens in hears both sides from then on, on channels of their own, and then that the call is over; who
// leaves hears no more.
func TestBothSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begun(telephone)
		c.hear(1)
		c.speak(100, 0)
		early, err := c.Join()
		if err != nil || early.Rate() != media.Rate8k {
			t.Fatal(early, err)
		}
		late, err := c.Join()
		if err != nil {
			t.Fatal(err)
		}
		for i := range int16(3) {
			c.hear(10 + i)
			c.speak(110+i, 0)
		}
		late.Leave()
		c.hear(20)
		c.speak(120, 0)
		c.Close()
		caller, agent := listen(t, early)
		same(t, "the caller", caller, 10, 11, 12, 20)
		same(t, "the agent", agent, 0, 110, 111, 112)
		caller, _ = listen(t, late)
		same(t, "who has left heard", caller, 10, 11, 12)
		if err := early.Next(t.Context(), make([]int16, 320)); err != io.EOF {
			t.Errorf("after the end: %v", err)
		}
	})
}

// TestAhead: what is sent ahead of time is heard when the caller hears it, and not at all when it is recalled before.
func TestAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begun(socket)
		l, err := c.Join()
		if err != nil || l.Rate() != media.Rate16k {
			t.Fatal(l, err)
		}
		c.hear(0)
		for i := range int16(6) { // 120 ms at once
			c.speak(1000, media.Time(i)*media.FrameTime)
		}
		for range 3 {
			c.hear(0)
		}
		c.Recalled(2 * media.FrameTime)
		for range 4 {
			c.hear(0)
		}
		_, agent := listen(t, l)
		same(t, "the agent", agent, 0, agent[1], 1000, 1000, 1000, agent[5], 0, 0)
		if agent[1] < 500 {
			t.Errorf("the first frame is %d", agent[1])
		}
	})
}

// TestStall: frames of the agent that come late all at once do not make a listener late for the rest of the call.
func TestStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := begun(telephone)
		l, err := c.Join()
		if err != nil {
			t.Fatal(err)
		}
		for i := range int16(20) {
			c.speak(i, 0)
		}
		for i := range int16(10) {
			c.hear(0)
			c.speak(100+i, 0)
		}
		_, agent := listen(t, l)
		if last := agent[len(agent)-1]; last < 100 {
			t.Errorf("after the stall: %v", agent)
		}
	})
}

// TestSlowListener: who does not take what there is misses it, and the conductor waits for nobody.
func TestSlowListener(t *testing.T) {
	c := begun(telephone)
	l, err := c.Join()
	if err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		c.hear(1)
		c.speak(2, 0)
	}
	if missed := l.Missed(); missed != 2000-128 {
		t.Errorf("missed %d", missed)
	}
}

// TestJoin is for calls that are going on, and for a few.
func TestJoin(t *testing.T) {
	m := monitor.New(nil)
	if _, err := m.Join(); err != monitor.ErrNotBegun {
		t.Errorf("before: %v", err)
	}
	m.Begin(telephone)
	for range monitor.MaxListeners {
		if _, err := m.Join(); err != nil {
			t.Fatal(err)
		}
	}
	l, err := m.Join()
	if l != nil || err != monitor.ErrFull {
		t.Errorf("one too many: %v", err)
	}
	m.Close()
	m.Close()
	if _, err := m.Join(); err != monitor.ErrOver {
		t.Errorf("after: %v", err)
	}
}

// TestNothingIsAllocated on the conductor's side, whether somebody listens in or not.
func TestNothingIsAllocated(t *testing.T) {
	for _, listeners := range []int{0, 2} {
		c := begun(telephone)
		for range listeners {
			if _, err := c.Join(); err != nil {
				t.Fatal(err)
			}
		}
		said, now := frame(media.Rate8k, 1), time.Now()
		mediatest.NoAllocs(t, func() {
			c.Heard(said, now)
			c.Spoke(said, now, 0)
			c.Recalled(0)
		})
	}
}

func BenchmarkMonitor(b *testing.B) {
	for _, listeners := range []int{0, 1} {
		b.Run(fmt.Sprint(listeners), func(b *testing.B) {
			c := begun(telephone)
			for range listeners {
				if _, err := c.Join(); err != nil {
					b.Fatal(err)
				}
			}
			said, now := frame(media.Rate8k, 1), time.Now()
			b.ReportAllocs()
			for b.Loop() {
				c.Heard(said, now)
				c.Spoke(said, now, 0)
			}
		})
	}
}
