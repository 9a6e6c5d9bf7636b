package denoise_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/mediatest"
)

var rates = []media.Rate{media.Rate8k, media.Rate16k, media.Rate22k, media.Rate24k, media.Rate44k, media.Rate48k}

func TestNew(t *testing.T) {
	for _, name := range []string{denoise.Spectral, denoise.GTCRN, denoise.Off} {
		for _, rate := range rates {
			if _, err := denoise.New(name, rate); err != nil {
				t.Error(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		rate media.Rate
	}{{"magic", media.Rate8k}, {"", media.Rate8k}, {denoise.Spectral, 11025}, {denoise.Off, 0}} {
		var want *denoise.Error
		if _, err := denoise.New(c.name, c.rate); !errors.As(err, &want) {
			t.Errorf("New(%q, %d): error %v, want *denoise.Error", c.name, c.rate, err)
		}
	}
}

func TestOff(t *testing.T) {
	s, err := denoise.New(denoise.Off, media.Rate8k)
	if err != nil {
		t.Fatal(err)
	}
	in := media.Frame{Samples: mediatest.Tone(440, media.Rate8k, 160, 0.5), Rate: media.Rate8k, At: 7}
	want := slices.Clone(in.Samples)
	if out := s.Process(in); !slices.Equal(out.Samples, want) || out.At != 7 || s.Delay() != 0 || s.Analysis() != nil {
		t.Error("off changes the frame, delays it or analyses it")
	}
}

// pulses is a tone that swells and fades like syllables over a faint hiss, after a
// second of the hiss alone.
func pulses(rate media.Rate, seconds int) []int16 {
	rng := rand.New(rand.NewPCG(3, 4))
	x := mediatest.Tone(600, rate, int(rate)*seconds, 0.4)
	for i, v := range x {
		s := math.Sin(math.Pi * 3 * float64(i) / float64(rate))
		if i < int(rate) {
			s = 0
		}
		x[i] = int16(math.Round(float64(v)*s*s + 3*rng.NormFloat64()))
	}
	return x
}

// TestRates: at every rate frames keep their length and time, and the signal comes
// out after exactly Delay.
func TestRates(t *testing.T) {
	for _, rate := range rates {
		s := newSpectral(t, rate)
		if d := s.Delay(); d > 14*media.Millisecond || d != rate.Duration(d.Samples(rate)) {
			t.Errorf("%v: delay is %v", rate, d.Duration())
		}
		in := pulses(rate, 5)
		untouched := slices.Clone(in)
		f := s.Process(media.Frame{Samples: in[:rate.FrameSamples()], Rate: rate, At: 9})
		if len(f.Samples) != rate.FrameSamples() || f.Rate != rate || f.At != 9 {
			t.Errorf("%v: frame of %d samples, rate %v, at %d", rate, len(f.Samples), f.Rate, f.At)
		}
		s.Reset()
		out := process(s, rate, in)
		if !slices.Equal(in, untouched) {
			t.Errorf("%v: the input was changed", rate)
		}
		if seg := noisetest.SegSNR(floats(in), floats(out), int(rate)); seg < 20 {
			t.Errorf("%v: segmental SNR %.1f dB, want at least 20", rate, seg)
		}
		if whole := clip(t, denoise.Spectral, in, rate); noisetest.SegSNR(floats(in), floats(whole), int(rate)) < 20 {
			t.Errorf("%v: a recording is shifted or distorted", rate)
		}
	}
}

// TestReset: after Reset the suppressor is like a new one.
func TestReset(t *testing.T) {
	const rate = media.Rate16k
	in := pulses(rate, 2)
	s := newSpectral(t, rate)
	first := process(s, rate, in)
	process(s, rate, noisetest.PCM(noisetest.Mix(make([]float64, 32000), noisetest.White(32000, 1), 0)))
	s.Reset()
	if !slices.Equal(process(s, rate, in), first) {
		t.Error("it remembers what came before Reset")
	}
}

// TestRecovers: no input, however wild, spoils what comes after it.
func TestRecovers(t *testing.T) {
	const rate = media.Rate8k
	rng := rand.New(rand.NewPCG(1, 1))
	s := newSpectral(t, rate)
	wild := make([]int16, rate)
	for round := range 4 {
		for i := range wild {
			switch round {
			case 0:
				wild[i] = int16(rng.Uint32())
			case 1:
				wild[i] = math.MinInt16
			case 2:
				wild[i] = int16(math.MaxInt16 * (1 - i%2*2))
			case 3:
				wild[i] = 0
			}
		}
		process(s, rate, wild)
	}
	s.Process(media.Frame{Rate: rate}) // nothing at all
	s.Process(media.Frame{Rate: rate, Samples: wild[:77]})
	in := pulses(rate, 6)
	out := process(s, rate, in)
	tail := 4 * int(rate)
	if seg := noisetest.SegSNR(floats(in[tail:]), floats(out[tail:]), int(rate)); seg < 20 {
		t.Errorf("segmental SNR afterwards %.1f dB, want at least 20", seg)
	}
}

// TestAnalysis: levels are those of the signal, and the ratio tells speech from noise.
func TestAnalysis(t *testing.T) {
	const rate = media.Rate16k
	s := newSpectral(t, rate)
	a := s.Analysis()
	play := func(x []int16) {
		for ; len(x) >= 320; x = x[320:] {
			s.Process(media.Frame{Samples: x[:320], Rate: rate})
		}
	}
	noise := noisetest.PCM(noisetest.Mix(make([]float64, 64000), noisetest.White(64000, 2), 20)) // -44 dBFS
	play(noise)
	if math.Abs(float64(a.Noise)+44) > 1 || math.Abs(float64(a.Input)+44) > 1 || a.Level > -54 || a.LLR > 0.1 {
		t.Errorf("noise at -44 dBFS: %+v", *a)
	}
	tone := mediatest.Tone(1000, rate, 960, 0.1) // -23 dBFS
	for i := range tone {
		tone[i] += noise[i]
	}
	play(tone)
	if math.Abs(float64(a.Input)+23) > 0.5 || math.Abs(float64(a.Level)+23) > 0.5 || a.LLR < 5 || a.Least < 5 || a.Least > a.LLR {
		t.Errorf("tone at -23 dBFS: %+v", *a)
	}
	play(make([]int16, 3200))
	if a.Input != denoise.MinLevel || math.Abs(float64(a.Noise)+44) > 1 {
		t.Errorf("silence: %+v, want the noise remembered", *a)
	}
	if s.Analysis() != a {
		t.Error("the pointer changed")
	}
}

func TestProcessDoesNotAllocate(t *testing.T) {
	for _, rate := range rates {
		s, n := newSpectral(t, rate), newNeural(t, rate)
		a := denoise.NewAnalyser(rate)
		f := media.Frame{Samples: pulses(rate, 2)[int(rate):][:rate.FrameSamples()], Rate: rate}
		mediatest.NoAllocs(t, func() { s.Process(f); n.Process(f); a.Analyse(f) })
	}
}
