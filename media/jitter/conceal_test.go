package jitter

import (
	"math"
	"testing"

	"parley/media/mediatest"
)

// hear runs samples through a concealer in frames of 20 ms and conceals those that
// lost names.
func hear(samples []int16, lost func(frame int) bool) []int16 {
	var c concealer
	out := make([]int16, len(samples))
	for i := 0; i+frameSamples <= len(samples); i += frameSamples {
		frame := out[i : i+frameSamples]
		if lost(i / frameSamples) {
			c.extend(frame)
			continue
		}
		copy(frame, samples[i:])
		c.good(frame)
	}
	return out
}

// steepest is the largest step between neighbouring samples.
func steepest(s []int16) (step float64) {
	for i := 1; i < len(s); i++ {
		step = max(step, math.Abs(float64(s[i])-float64(s[i-1])))
	}
	return step
}

// A lost frame of a tone must go on as that tone, without a click at either end.
func TestConcealedToneIsContinuous(t *testing.T) {
	for _, freq := range []float64{100, 133, 200, 250, 440, 697, 1000, 1477} {
		tone := mediatest.Tone(freq, Rate, 20*frameSamples, 0.3)
		out := hear(tone, func(f int) bool { return f == 10 })
		if got, want := steepest(out), steepest(tone); got > 1.35*want {
			t.Errorf("%v Hz: a step of %.0f; the tone's own are at most %.0f", freq, got, want)
		}
		gap := out[10*frameSamples : 10*frameSamples+80]
		whole := tone[10*frameSamples : 10*frameSamples+80]
		if got, want := mediatest.Level(gap), mediatest.Level(whole); math.Abs(got-want) > 1.5 {
			t.Errorf("%v Hz: the first 10 ms are at %.1f dB, the tone at %.1f", freq, got, want)
		}
		if snr := mediatest.SNR(gap, Rate, freq); snr < 12 {
			t.Errorf("%v Hz: only %.1f dB of the concealed audio is the tone", freq, snr)
		}
	}
}

// The envelope of the standard: 10 ms at full level, 20 % less each 10 ms, silence
// from 60 ms.
func TestConcealmentFadesOut(t *testing.T) {
	tone := mediatest.Tone(200, Rate, 30*frameSamples, 0.5)
	out := hear(tone, func(f int) bool { return f >= 10 && f < 20 })
	gap := out[10*frameSamples : 20*frameSamples]
	full := mediatest.Level(tone[:frameSamples])
	for i := range 6 {
		// The gain falls evenly within each 10 ms; its mean there:
		gain := 1 - 0.2*(float64(i)-0.5)
		if i == 0 {
			gain = 1
		}
		got := mediatest.Level(gap[i*80:(i+1)*80]) - full
		if want := 20 * math.Log10(gain); math.Abs(got-want) > 1.5 {
			t.Errorf("%d to %d ms: %.1f dB, want %.1f", i*10, i*10+10, got, want)
		}
	}
	for i, s := range gap[480:] {
		if s != 0 {
			t.Fatalf("%.1f ms after the loss: %d, want silence", 60+float64(i)/8, s)
		}
	}
	if got, want := steepest(out), steepest(tone); got > 1.35*want {
		t.Errorf("a step of %.0f when the tone comes back; its own are at most %.0f", got, want)
	}
}

// Audio without losses passes untouched.
func TestGoodAudioIsUntouched(t *testing.T) {
	tone := mediatest.Tone(440, Rate, 20*frameSamples, 0.5)
	out := hear(tone, func(int) bool { return false })
	for i := range tone {
		if tone[i] != out[i] {
			t.Fatalf("sample %d changed from %d to %d", i, tone[i], out[i])
		}
	}
}

func TestPitchIsFound(t *testing.T) {
	for _, period := range []int{41, 50, 64, 80, 97, 119} {
		var h [historyLen]float32
		for i := range h { // a decaying pulse each period, as a voice has
			h[i] = float32(8000 * math.Exp(-float64(i%period)/10) * math.Cos(float64(i%period)))
		}
		if got := findPitch(&h); got%period != 0 {
			t.Errorf("pitch of %d samples found as %d", period, got)
		}
	}
}

// Any split of the stream into calls gives the same samples.
func TestConcealmentDoesNotDependOnChunks(t *testing.T) {
	tone := mediatest.Tone(180, Rate, 800, 0.5)
	var whole, pieces concealer
	whole.good(append([]int16(nil), tone...))
	pieces.good(append([]int16(nil), tone...))
	a, b := make([]int16, 640), make([]int16, 640)
	whole.extend(a)
	for i, n := 0, 0; i < len(b); i += n {
		n = min(7+i%90, len(b)-i)
		pieces.extend(b[i : i+n])
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("sample %d: %d in one call, %d in pieces", i, a[i], b[i])
		}
	}
}

// A tone that ends in a click at full scale is led over from the click without overflowing,
// and silence goes on as silence.
func TestConcealmentOfExtremesIsBounded(t *testing.T) {
	const gap = 10 * frameSamples
	for freq := 70.0; freq < 200; freq += 7 {
		tone := mediatest.Tone(freq, Rate, 20*frameSamples, 0.6)
		own := steepest(tone)
		tone[gap-1] = math.MaxInt16
		out := hear(tone, func(f int) bool { return f == gap/frameSamples })
		if got := steepest(out[gap-1 : gap+frameSamples]); got > 4*own {
			t.Errorf("%v Hz: a step of %.0f; the tone's own are at most %.0f", freq, got, own)
		}
	}
	for i, v := range hear(make([]int16, 20*frameSamples), func(f int) bool { return f%2 == 1 }) {
		if v != 0 {
			t.Fatalf("sample %d of silence is %d", i, v)
		}
	}
}
