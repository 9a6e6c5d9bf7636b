package load

import (
	"testing"
	"time"
)

// The program is busy when it has used more than it may for five seconds, and not when
// it has done so for a moment.
func TestProcessorIsBusy(t *testing.T) {
	m := &Monitor{limit: 0.9, cores: 2}
	now, used := time.Unix(0, 0), time.Duration(0)
	for i, s := range []struct {
		cores float64 // in use for the next second
		busy  bool
	}{
		{0, false}, {2, false}, {2, false}, {2, false}, {2, false}, {2, true}, // of five seconds
		{0.5, false}, {2, false}, {2, false}, {2, false}, {2, false}, {1.9, true},
		{1.75, true}, {1.75, true}, {1.75, true}, {1.75, false}, // 1.8 of two is what it may
	} {
		now, used = now.Add(time.Second), used+time.Duration(s.cores*float64(time.Second))
		m.look(now, used, 0)
		if m.Busy() != s.busy {
			t.Errorf("after %d s: busy %v", i, m.Busy())
		}
	}
}

// Workers that stay behind refuse calls, and those that catch up take them again.
func TestWorkersAreBehind(t *testing.T) {
	m := &Monitor{limit: 0.9, cores: 2}
	now := time.Unix(0, 0)
	for i, s := range []struct {
		lag  time.Duration
		busy bool
	}{
		{0, false}, {time.Second, false}, {0, false}, // a moment
		{300 * time.Millisecond, false}, {2 * time.Second, true}, {time.Second, true}, {5 * time.Second, true},
		{250 * time.Millisecond, false},
	} {
		now = now.Add(time.Second)
		m.look(now, 0, s.lag)
		if m.Busy() != s.busy {
			t.Errorf("after %d s: busy %v", i, m.Busy())
		}
	}
}

// What is measured is what the program does.
func TestProcessorTime(t *testing.T) {
	before := ProcessorTime()
	for n := 0; ProcessorTime() == before; n++ {
		if n > 1<<30 {
			t.Fatal("no work takes any time")
		}
	}
}
