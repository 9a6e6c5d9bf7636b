package hold_test

import (
	"math"
	"testing"

	"parley/media"
	"parley/media/hold"
)

// heard is what a player plays in so many frames.
func heard(p *hold.Player, frames int) (samples []int16) {
	for range frames {
		samples = append(samples, p.Next().Samples...)
	}
	return samples
}

// steepest is the largest step from one sample to the next.
func steepest(samples []int16) (most int) {
	for i := 1; i < len(samples); i++ {
		most = max(most, max(int(samples[i])-int(samples[i-1]), int(samples[i-1])-int(samples[i])))
	}
	return most
}

func loudness(samples []int16) float64 {
	sum := 0.0
	for _, s := range samples {
		sum += float64(s) * float64(s)
	}
	return math.Sqrt(sum / float64(max(1, len(samples))))
}

// strength is the amplitude of a frequency in samples.
func strength(samples []int16, hz float64, rate media.Rate) float64 {
	re, im := 0.0, 0.0
	for i, s := range samples {
		w := 2 * math.Pi * hz * float64(i) / float64(rate)
		re, im = re+float64(s)*math.Cos(w), im+float64(s)*math.Sin(w)
	}
	return 2 * math.Hypot(re, im) / float64(len(samples))
}

// TestMusic: it is soft at each rate, the same each time round, begins in C, and does not click where it begins again.
func TestMusic(t *testing.T) {
	const round = 800 // frames: 16 s
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k, media.Rate48k} {
		n := rate.FrameSamples()
		all := heard(hold.Music(rate), 2*round+50)
		if l := loudness(all); l < 1000 || l > 2400 {
			t.Errorf("at %v it has a level of %.0f", rate, l)
		}
		bound := steepest(all[n : round*n])
		if s := steepest(all[(round-1)*n : (round+1)*n]); s > bound*3/4 {
			t.Errorf("at %v the seam has a step of %d, and the music none above %d", rate, s, bound)
		}
		first, second := all[n:round*n], all[(round+1)*n:2*round*n]
		for i := range first {
			if d := int(first[i]) - int(second[i]); d < -2 || d > 2 {
				t.Fatalf("at %v sample %d is another the second time", rate, i)
			}
		}
		chord := all[:75*n] // of the first bar
		if c, off := strength(chord, 261.63, rate), strength(chord, 277.18, rate); c < 100 || off > c/4 {
			t.Errorf("at %v it has C with %.0f and C sharp with %.0f", rate, c, off)
		}
	}
}

// tone is a tone of 440 Hz.
func tone(samples int) []int16 {
	s := make([]int16, samples)
	for i := range s {
		s[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/16000))
	}
	return s
}

// TestRecording: a recording is heard, each time from its beginning, and does not click between.
func TestRecording(t *testing.T) {
	original := tone(16000 + 100) // ends in the midst of a frame and of a wave
	codes := hold.Encode(append([]int16(nil), original...))
	if len(codes) != 51*160 {
		t.Fatalf("%d bytes of 51 frames", len(codes))
	}
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k, media.Rate48k} {
		n := rate.FrameSamples()
		all := heard(hold.Recording(codes, rate), 120)
		if s := strength(all[5*n:45*n], 440, rate); s < 7600 || s > 8400 {
			t.Errorf("at %v the tone has an amplitude of %.0f", rate, s)
		}
		if seam, wave := steepest(all[49*n:53*n]), steepest(all[5*n:45*n]); seam > wave*5/4 {
			t.Errorf("at %v the seam has a step of %d, and the tone none above %d", rate, seam, wave)
		}
		if s := strength(all[56*n:96*n], 440, rate); s < 7600 {
			t.Errorf("at %v it is not heard the second time", rate)
		}
	}
	if d := hold.Decode(codes); len(d) != 51*320 || strength(d[1600:14400], 440, media.Rate16k) < 7600 {
		t.Errorf("%d samples are decoded", len(d))
	}
	for _, codes := range [][]byte{nil, make([]byte, 159)} {
		if got := heard(hold.Recording(codes, media.Rate8k), 3); len(got) != 3*160 {
			t.Errorf("of %d bytes %d samples are played", len(codes), len(got))
		}
	}
}

func TestNextDoesNotAlloc(t *testing.T) {
	for name, p := range map[string]*hold.Player{"music": hold.Music(media.Rate8k), "recording": hold.Recording(hold.Encode(tone(16000)), media.Rate8k)} {
		if n := testing.AllocsPerRun(200, func() { p.Next() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for name, p := range map[string]*hold.Player{"music": hold.Music(media.Rate8k), "recording": hold.Recording(hold.Encode(tone(16000)), media.Rate8k)} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Next()
			}
		})
	}
}
