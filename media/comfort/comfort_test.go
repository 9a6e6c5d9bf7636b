package comfort_test

import (
	"math"
	"testing"

	"parley/media/comfort"
	"parley/media/mediatest"
)

// TestLevel: noise is as loud as it is said to be, and never so loud that it is taken for speech.
func TestLevel(t *testing.T) {
	for level, want := range map[uint8]float64{66: -66, 50: -50, 30: -30, 29: -30, 0: -30} {
		var n comfort.Noise
		n.Set(level)
		out := make([]int16, 16000)
		n.Fill(out)
		if got := mediatest.Level(out); math.Abs(got-want) > 0.5 || !n.Sounds() {
			t.Errorf("level %d is heard at %.1f dBov", level, got)
		}
	}
}

func TestSilence(t *testing.T) {
	var n comfort.Noise
	out := []int16{1, 2, 3}
	for range 2 {
		if n.Fill(out); n.Sounds() || out[0] != 0 || out[2] != 0 {
			t.Errorf("silence is %v", out)
		}
		n.Set(127) // below what a sample can have
	}
	n.Set(40)
	n.Silence()
	if n.Fill(out); out[1] != 0 {
		t.Errorf("silence is %v", out)
	}
}

func TestNoAllocations(t *testing.T) {
	var n comfort.Noise
	n.Set(66)
	frame := make([]int16, 320)
	mediatest.NoAllocs(t, func() { n.Fill(frame) })
}

func BenchmarkFrame(b *testing.B) {
	var n comfort.Noise
	n.Set(66)
	frame := make([]int16, 320)
	b.ReportAllocs()
	for b.Loop() {
		n.Fill(frame)
	}
}
