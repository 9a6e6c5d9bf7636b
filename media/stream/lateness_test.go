package stream

import (
	"testing"
	"time"
)

func TestLatenessQuantile(t *testing.T) {
	var l, other Lateness
	if l.Quantile(0.5) != 0 {
		t.Error("a quantile of nothing")
	}
	for range 999 {
		l.add(300 * time.Microsecond)
	}
	other.add(70 * time.Millisecond)
	l.Add(other)
	for q, want := range map[float64]time.Duration{
		0.5: 500 * time.Microsecond, 0.999: 500 * time.Microsecond, 1: 70 * time.Millisecond,
	} {
		if got := l.Quantile(q); got != want {
			t.Errorf("quantile %v: %v, want %v", q, got, want)
		}
	}
	if frames, within := l.Cumulative(); frames != 1000 || within[0.0005] != 999 || within[0.04] != 999 || within[0.08] != 1000 || len(within) != len(latenessBounds) {
		t.Errorf("%d frames, %v", frames, within)
	}
}
