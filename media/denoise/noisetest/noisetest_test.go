package noisetest

import (
	"math"
	"testing"
)

func TestNoises(t *testing.T) {
	u := Utterances(t)
	for name, noise := range Noises(u) {
		n := noise(2*Rate, 1)
		if p := DB(blockPowers(n, len(n))[0]) - DB(1); math.Abs(p) > 1e-6 {
			t.Errorf("%s: power is %.3f dB, want 0", name, p)
		}
		same, other := noise(2*Rate, 1), noise(2*Rate, 2)
		if same[999] != n[999] || other[999] == n[999] {
			t.Errorf("%s does not follow its seed", name)
		}
	}
	// What makes them different is where their power lies.
	for _, c := range []struct {
		name       string
		above, max float64 // share of the power above 3.6 kHz, in dB
	}{{"white", -3.1, -2}, {"pink", -12, -6}, {"car", -70, -20}} {
		n := Noises(u)[c.name](4*Rate, 1)
		low := DB(blockPowers(Halve(n), 2*Rate)[0]) - DB(1)
		if share := 10 * math.Log10(1-math.Pow(10, low/10)+1e-9); share < c.above || share > c.max {
			t.Errorf("%s: %.1f dB above 3.6 kHz, want %.0f to %.0f", c.name, share, c.above, c.max)
		}
	}
}

func TestMix(t *testing.T) {
	track := Lay(Utterances(t)[:6], 1)
	if got := ActiveLevel(track.Samples, Rate); math.Abs(got-SpeechLevel) > 1 {
		t.Errorf("speech is at %.1f dBFS, want %d", got, SpeechLevel)
	}
	noise := White(len(track.Samples), 1)
	x := Mix(track.Samples, noise, 10)
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = x[i] - track.Samples[i]
	}
	if got := DB(blockPowers(rest, len(rest))[0]); math.Abs(got-(SpeechLevel-10)) > 0.01 {
		t.Errorf("noise is at %.2f dBFS, want %d", got, SpeechLevel-10)
	}
	a, b := SegSNR(track.Samples, x, Rate), SegSNR(track.Samples, Mix(track.Samples, noise, 13), Rate)
	if d := b - a; d < 2.5 || d > 3.01 {
		t.Errorf("3 dB less noise changes the segmental ratio by %.2f dB", d)
	}
}
