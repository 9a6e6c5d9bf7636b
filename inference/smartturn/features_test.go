package smartturn

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowly makes the features of one frame by the definition: a sum for each bin, and a triangle for
// each band at each bin.
func slowly(x []float64, frame int) (bands [Bands]float64) {
	at := func(i int) float64 {
		if i < 0 {
			i = -i
		}
		if i >= len(x) {
			i = 2*len(x) - 2 - i
		}
		return x[i]
	}
	var power [201]float64
	for k := range power {
		var re, im float64
		for n := range 400 {
			v := at(frame*160-200+n) * (1 - math.Cos(2*math.Pi*float64(n)/400)) / 2
			re += v * math.Cos(2*math.Pi*float64(k*n)/400)
			im += v * math.Sin(2*math.Pi*float64(k*n)/400)
		}
		power[k] = re*re + im*im
	}
	edge := func(i int) float64 { // 81 steps of equal size from 0 to the 45.2456 mels of 8 kHz
		m := 45.245640471924965 * float64(i) / 81
		if m < 15 {
			return m / 0.015
		}
		return 1000 * math.Pow(6.4, (m-15)/27)
	}
	for b := range bands {
		low, middle, high := edge(b), edge(b+1), edge(b+2)
		for k := range power {
			f := 40 * float64(k)
			bands[b] += power[k] * max(0, min((f-low)/(middle-low), (high-f)/(high-middle))) * 2 / (high - low)
		}
	}
	return bands
}

// TestFeatures compares those of a voice-like sound, loud at first and quiet at its end, with the definition.
func TestFeatures(t *testing.T) {
	const length = 5 * 16000
	rng, speech := rand.New(rand.NewPCG(1, 2)), make([]int16, length)
	for i := range speech {
		at := float64(i) / 16000
		v := 6000*math.Sin(2*math.Pi*140*at) + 2500*math.Sin(2*math.Pi*(700+300*math.Sin(9*at))*at) + 900*math.Sin(2*math.Pi*6100*at) + 80*rng.NormFloat64()
		speech[i] = int16(v * math.Exp(-at))
	}
	x, mean, variance := make([]float64, Samples), 0.0, 0.0
	for i, v := range speech {
		x[Samples-length+i] = float64(v) / 32768
	}
	for _, v := range x {
		mean += v / Samples
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / Samples
	}
	for i := range x {
		x[i] = (x[i] - mean) / math.Sqrt(variance+1e-7)
	}
	got := NewFeatures().Of(speech)
	if len(got) != 80*800 {
		t.Fatalf("%d values", len(got))
	}
	loudest := math.Inf(-1)
	frames := []int{0, 1, 298, 299, 300, 301, 350, 500, 640, 798, 799}
	want := map[int][Bands]float64{}
	for _, n := range frames {
		want[n] = slowly(x, n)
	}
	for _, v := range got {
		loudest = max(loudest, float64(v)*4-4)
	}
	for _, n := range frames {
		for b := range Bands {
			level := (max(math.Log10(max(1e-10, want[n][b])), loudest-8) + 4) / 4
			if d := math.Abs(float64(got[b*Frames+n]) - level); d > 2e-3 {
				t.Errorf("band %d of frame %d: %v, want %v", b, n, got[b*Frames+n], level)
			}
		}
	}
}

// TestFeaturesOfSilence: what is only silence has no variance to divide by.
func TestFeaturesOfSilence(t *testing.T) {
	f := NewFeatures()
	for _, n := range []int{0, 100, Samples, Samples + 5} {
		for i, v := range f.Of(make([]int16, n)) {
			if v != -1.5 { // the floor: (-10 + 4) / 4
				t.Fatalf("%d samples: value %d is %v", n, i, v)
			}
		}
	}
}

// TestFeaturesOfTheEnd: of more than 8 s the last count.
func TestFeaturesOfTheEnd(t *testing.T) {
	long := make([]int16, Samples+8000)
	for i := range long {
		long[i] = int16(i * 7919)
	}
	f, g := NewFeatures(), NewFeatures()
	a, b := f.Of(long), g.Of(long[8000:])
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("value %d: %v and %v", i, a[i], b[i])
		}
	}
}
