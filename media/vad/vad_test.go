package vad_test

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
	"parley/media/vad"
)

func TestNew(t *testing.T) {
	for _, name := range []string{vad.Spectral, vad.Silero} {
		if _, err := vad.New(name, media.Rate22k, nil); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		name string
		rate media.Rate
	}{{"magic", media.Rate8k}, {vad.Spectral, 1234}} {
		var want *vad.Error
		if _, err := vad.New(c.name, c.rate, nil); !errors.As(err, &want) {
			t.Errorf("New(%q, %d): error %v, want *vad.Error", c.name, c.rate, err)
		}
	}
}

// noisy is some speech in white noise at 10 dB.
func noisy(t testing.TB) (noisetest.Track, []int16) {
	track := noisetest.Lay(noisetest.Utterances(t)[:8], 1)
	return track, noisetest.PCM(noisetest.Mix(track.Samples, noisetest.White(len(track.Samples), 3), 10))
}

// TestWithoutSuppressor: the decisions are the same with the suppressor's analysis
// and with the detector's own.
func TestWithoutSuppressor(t *testing.T) {
	_, x := noisy(t)
	if !slices.Equal(detect(t, vad.Spectral, denoise.Off, media.Rate16k, x), detect(t, vad.Spectral, denoise.Spectral, media.Rate16k, x)) {
		t.Error("decisions differ")
	}
}

// TestDecisions: both fields agree with the signal.
func TestDecisions(t *testing.T) {
	const rate = media.Rate16k
	track, x := noisy(t)
	ds := detect(t, vad.Spectral, denoise.Spectral, rate, x)
	for i, d := range ds {
		if d.Level < -100 || d.Level > 0 {
			t.Fatalf("frame %d: %+v", i, d)
		}
	}
	loud, off := 0, 0.0
	for i, d := range ds {
		level := noisetest.LevelWhere(track.Samples[i*320:][:320], []bool{true}, true, int(rate))
		if level > noisetest.SpeechLevel {
			loud++
			off += math.Abs(float64(d.Level) - level)
		}
	}
	// The analysis looks at windows that reach into the frame before.
	if loud == 0 || off/float64(loud) > 1.5 {
		t.Errorf("in %d loud frames the level is off by %.1f dB", loud, off/float64(loud))
	}
}

// TestClicks: what lasts 10 ms or less starts nothing.
func TestClicks(t *testing.T) {
	const rate = noisetest.Rate
	rng := rand.New(rand.NewPCG(5, 5))
	for _, length := range []int{1, rate / 1000, rate / 200, rate / 100} {
		x := noisetest.White(30*rate, 3)
		for i := range x {
			x[i] *= 60
		}
		for second := 1; second < 29; second++ {
			at := second*rate + rng.IntN(rate/5)
			for i := at; i < at+length; i++ {
				x[i] += 3000 * rng.NormFloat64()
			}
		}
		if f := consume(detect(t, vad.Spectral, denoise.Spectral, rate, noisetest.PCM(x)), noisetest.Track{}, rate, -99, 0); f.falseStarts > 0 {
			t.Errorf("clicks of %d samples: %d starts", length, f.falseStarts)
		}
	}
}

// TestGate: the same voice 25 dB weaker is a bystander's while the caller speaks, and
// the caller's once the caller has been silent for long.
func TestGate(t *testing.T) {
	const rate = media.Rate16k
	u := noisetest.Utterances(t)
	caller, other := u[0], slices.Clone(u[3])
	for i := range other {
		other[i] *= 0.056
	}
	var x []float64
	var others []int // where the weak voice starts, in frames
	for _, silence := range []int{0, 15 * int(rate)} {
		x = append(append(x, make([]float64, 2*rate)...), caller...)
		x = append(x, make([]float64, int(rate)/2+silence)...)
		others = append(others, len(x)/320)
		x = append(x, other...)
	}
	ds := detect(t, vad.Spectral, denoise.Spectral, rate, noisetest.PCM(x))
	for i, want := range []bool{false, true} {
		heard := 0
		for _, d := range ds[others[i]:][:len(other)/320] {
			if d.Speech {
				heard++
			}
		}
		if frames := len(other) / 320; want && heard < frames/2 || !want && heard > frames/10 {
			t.Errorf("round %d: %d of %d frames of the weak voice are speech", i, heard, frames)
		}
	}
}

func TestReset(t *testing.T) {
	_, x := noisy(t)
	for _, name := range []string{vad.Spectral, vad.Silero} {
		d, err := vad.New(name, media.Rate16k, nil)
		if err != nil {
			t.Fatal(err)
		}
		run := func() (all []vad.Decision) {
			for i := 0; i+320 <= len(x); i += 320 {
				all = append(all, d.Detect(media.Frame{Samples: x[i : i+320], Rate: media.Rate16k}))
			}
			return all
		}
		first := run()
		d.Reset()
		if !slices.Equal(run(), first) {
			t.Errorf("%s remembers what came before Reset", name)
		}
	}
}

func TestDetectDoesNotAllocate(t *testing.T) {
	_, x := noisy(t)
	for _, c := range [][2]string{{vad.Spectral, denoise.Spectral}, {vad.Spectral, denoise.Off}, {vad.Silero, denoise.Off}} {
		s, _ := denoise.New(c[1], media.Rate16k)
		d, _ := vad.New(c[0], media.Rate16k, s)
		i := 0
		mediatest.NoAllocs(t, func() {
			d.Detect(s.Process(media.Frame{Samples: x[i : i+320], Rate: media.Rate16k}))
			i += 320
		})
	}
}

// TestShout: words 18 dB below a shout are heard right after it, by those who spoke so before
// and by those whose first word it was.
func TestShout(t *testing.T) {
	const rate = media.Rate16k
	const pause = int(rate) * 3 / 10
	speech := func(x []float64, from int) (heard int) {
		for _, d := range detect(t, vad.Spectral, denoise.Spectral, rate, noisetest.PCM(x))[from/320:] {
			if d.Speech {
				heard++
			}
		}
		return heard
	}
	for voice := range 3 {
		before := noisetest.Say(t, voice, "I would like to book a table for four people on Friday evening.")
		words := noisetest.Say(t, voice, "Please cancel the appointment.")
		shout := noisetest.Say(t, voice, "Hello?")
		for i := range shout {
			shout[i] *= 7.94 // 18 dB
		}
		for name, lead := range map[string][]float64{"after words": before, "first of all": nil} {
			quiet := slices.Concat(make([]float64, rate), lead, make([]float64, pause))
			loud := slices.Concat(quiet, shout, make([]float64, pause))
			want := speech(slices.Concat(quiet, words), len(quiet))
			if got := speech(slices.Concat(loud, words), len(loud)); got < want*9/10 {
				t.Errorf("voice %d, the shout %s: %d frames of the words are speech, without it %d", voice, name, got, want)
			}
		}
	}
}
