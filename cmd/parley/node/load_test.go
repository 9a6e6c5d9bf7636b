package node

import (
	"testing"
	"time"
)

// The program is busy when it has used more than it may for five seconds, and not when
// it has done so for a moment.
func TestProcessorIsBusy(t *testing.T) {
	p := &processor{limit: 0.9, cores: 2}
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
		p.look(now, used)
		if p.Busy() != s.busy {
			t.Errorf("after %d s: busy %v", i, p.Busy())
		}
	}
}

// What is measured is what the program does.
func TestProcessorTime(t *testing.T) {
	before := processorTime()
	for n := 0; processorTime() == before; n++ {
		if n > 1<<30 {
			t.Fatal("no work takes any time")
		}
	}
}
