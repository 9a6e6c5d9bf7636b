package jitter

import (
	"math"
	"testing"

	"parley/media"
	"parley/media/mediatest"
)

// hear runs samples through a concealer in frames of 20 ms and conceals those that
// lost names.
func hear(rate media.Rate, samples []int16, lost func(frame int) bool) []int16 {
	c := newConcealer(rate)
	out := make([]int16, len(samples))
	size := rate.FrameSamples()
	for i := 0; i+size <= len(samples); i += size {
		frame := out[i : i+size]
		if lost(i / size) {
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

// eachRate runs a test at both rates; frame is the samples of 20 ms.
func eachRate(t *testing.T, test func(t *testing.T, rate media.Rate, frame int)) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		t.Run(rate.String(), func(t *testing.T) { test(t, rate, rate.FrameSamples()) })
	}
}

// A lost frame of a tone must go on as that tone, without a click at either end.
func TestConcealedToneIsContinuous(t *testing.T) {
	eachRate(t, func(t *testing.T, rate media.Rate, frame int) {
		for _, freq := range []float64{100, 133, 200, 250, 440, 697, 1000, 1477} {
			tone := mediatest.Tone(freq, rate, 20*frame, 0.3)
			out := hear(rate, tone, func(f int) bool { return f == 10 })
			if got, want := steepest(out), steepest(tone); got > 1.35*want {
				t.Errorf("%v Hz: a step of %.0f; the tone's own are at most %.0f", freq, got, want)
			}
			gap := out[10*frame : 10*frame+frame/2]
			whole := tone[10*frame : 10*frame+frame/2]
			if got, want := mediatest.Level(gap), mediatest.Level(whole); math.Abs(got-want) > 1.5 {
				t.Errorf("%v Hz: the first 10 ms are at %.1f dB, the tone at %.1f", freq, got, want)
			}
			if snr := mediatest.SNR(gap, rate, freq); snr < 12 {
				t.Errorf("%v Hz: only %.1f dB of the concealed audio is the tone", freq, snr)
			}
		}
	})
}

// The envelope of the standard: 10 ms at full level, 20 % less each 10 ms, silence
// from 60 ms.
func TestConcealmentFadesOut(t *testing.T) {
	eachRate(t, func(t *testing.T, rate media.Rate, frame int) {
		tone := mediatest.Tone(200, rate, 30*frame, 0.5)
		out := hear(rate, tone, func(f int) bool { return f >= 10 && f < 20 })
		gap := out[10*frame : 20*frame]
		full := mediatest.Level(tone[:frame])
		for i := range 6 {
			// The gain falls evenly within each 10 ms; its mean there:
			gain := 1 - 0.2*(float64(i)-0.5)
			if i == 0 {
				gain = 1
			}
			got := mediatest.Level(gap[i*frame/2:(i+1)*frame/2]) - full
			if want := 20 * math.Log10(gain); math.Abs(got-want) > 1.5 {
				t.Errorf("%d to %d ms: %.1f dB, want %.1f", i*10, i*10+10, got, want)
			}
		}
		for i, s := range gap[3*frame:] {
			if s != 0 {
				t.Fatalf("%.1f ms after the loss: %d, want silence", 60+float64(i)*20/float64(frame), s)
			}
		}
		if got, want := steepest(out), steepest(tone); got > 1.35*want {
			t.Errorf("a step of %.0f when the tone comes back; its own are at most %.0f", got, want)
		}
	})
}

// Audio without losses passes untouched.
func TestGoodAudioIsUntouched(t *testing.T) {
	eachRate(t, func(t *testing.T, rate media.Rate, frame int) {
		tone := mediatest.Tone(440, rate, 20*frame, 0.5)
		out := hear(rate, tone, func(int) bool { return false })
		for i := range tone {
			if tone[i] != out[i] {
				t.Fatalf("sample %d changed from %d to %d", i, tone[i], out[i])
			}
		}
	})
}

func TestPitchIsFound(t *testing.T) {
	for _, period := range []int{41, 50, 64, 80, 97, 119} {
		h := make([]float32, historyLen)
		for i := range h { // a decaying pulse each period, as a voice has
			h[i] = float32(8000 * math.Exp(-float64(i%period)/10) * math.Cos(float64(i%period)))
		}
		if got := findPitch(h, 1); got%period != 0 {
			t.Errorf("pitch of %d samples found as %d", period, got)
		}
	}
}

// Any split of the stream into calls gives the same samples.
func TestConcealmentDoesNotDependOnChunks(t *testing.T) {
	tone := mediatest.Tone(180, Rate, 800, 0.5)
	whole, pieces := newConcealer(Rate), newConcealer(Rate)
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
	eachRate(t, func(t *testing.T, rate media.Rate, frame int) {
		gap := 10 * frame
		for freq := 70.0; freq < 200; freq += 7 {
			tone := mediatest.Tone(freq, rate, 20*frame, 0.6)
			own := steepest(tone)
			tone[gap-1] = math.MaxInt16
			out := hear(rate, tone, func(f int) bool { return f == gap/frame })
			if got := steepest(out[gap-1 : gap+frame]); got > 4*own {
				t.Errorf("%v Hz: a step of %.0f; the tone's own are at most %.0f", freq, got, own)
			}
		}
		for i, v := range hear(rate, make([]int16, 20*frame), func(f int) bool { return f%2 == 1 }) {
			if v != 0 {
				t.Fatalf("sample %d of silence is %d", i, v)
			}
		}
	})
}
