package listen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"parley/media"
	"parley/media/denoise/noisetest"
)

// talk is speech of so many seconds at 16 kHz and the ordinary level. Seeds that differ
// by an odd number have different voices.
func talk(t testing.TB, seconds int, seed uint64) []float64 {
	u := noisetest.Utterances(t)
	rng := rand.New(rand.NewPCG(seed, 7))
	var x []float64
	for len(x) < seconds*noisetest.Rate {
		i := rng.IntN(len(u)/3)*3 + int(seed%2)*(1+rng.IntN(2))
		x = append(x, u[i]...)
		x = append(x, make([]float64, rng.IntN(4000))...)
	}
	return x[:seconds*noisetest.Rate]
}

// line is an echo guard between two ends at 16 kHz.
type line struct {
	guard
	delay   int     // samples
	gain    float64 // of the echo
	far     []float64
	level   float64 // power from which on a frame is the caller's; 0: 1e-3
	caught  int     // frames of the far end's voice that passed for the caller's
	passed  int     // frames of the caller's that passed
	blocked int     // and that did not
}

// loud is the mean power of a frame above which a detector would hear it.
const loud = 1e-5

func (l *line) play(t testing.TB, far, near []float64) {
	n := media.Rate16k.FrameSamples()
	pcm := func(x []float64) media.Frame { return media.Frame{Samples: noisetest.PCM(x), Rate: media.Rate16k} }
	at := len(l.far)
	l.far = append(l.far, far...)
	for i := 0; i+n <= len(far); i += n {
		heard := make([]float64, n)
		power, own := 0.0, 0.0
		for k := range heard {
			if j := at + i + k - l.delay; j >= 0 {
				heard[k] = l.gain * l.far[j]
			}
			if near != nil {
				heard[k] += near[i+k]
				own += near[i+k] * near[i+k] / 32768 / 32768 / float64(n)
			}
			power += heard[k] * heard[k] / 32768 / 32768 / float64(n)
		}
		l.wrote(pcm(far[i:i+n]), true)
		l.listen(pcm(heard))
		speech := l.speech(power > loud)
		level := l.level
		if level == 0 {
			level = 1e-3
		}
		switch {
		case speech && own < loud/10:
			l.caught++
		case speech && own > level:
			l.passed++
		case own > level:
			l.blocked++
		}
	}
}

func db(x float64) float64 { return math.Pow(10, x/20) }

// TestEcho: the agent's own voice does not pass for the caller's, whatever its delay,
// and the caller's does.
func TestEcho(t *testing.T) {
	for _, c := range []struct {
		delay int // ms
		level float64
	}{{0, -20}, {180, -20}, {333, -6}, {490, -10}} {
		t.Run(fmt.Sprintf("%d ms %v dB", c.delay, c.level), func(t *testing.T) {
			l := &line{delay: c.delay * 16, gain: db(c.level)}
			l.begin(0)
			l.play(t, talk(t, 4, 2), nil)
			before := l.caught
			l.play(t, talk(t, 4, 4), nil)
			if l.caught > before {
				t.Errorf("%d frames of echo passed after 4 s", l.caught-before)
			}
			if !l.found || l.lag < 2*c.delay-1 || l.lag > 2*c.delay+1 || math.Abs(10*math.Log10(float64(l.guard.gain))-c.level) > 1 {
				t.Errorf("found %v: %v ms, %.1f dB", l.found, float64(l.lag)/2, 10*math.Log10(float64(l.guard.gain)))
			}
			l.play(t, talk(t, 4, 6), talk(t, 4, 7))
			if l.passed < 2*l.blocked || c.level <= -20 && l.blocked > 0 {
				t.Errorf("%d frames of the caller's passed, %d did not", l.passed, l.blocked)
			}
		})
	}
}

// TestNoEcho: on a line without echo everything passes.
func TestNoEcho(t *testing.T) { playNoEcho(t, 2) }

func TestSoakNoEcho(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set")
	}
	playNoEcho(t, 500)
}

func playNoEcho(t *testing.T, seeds uint64) {
	for seed := range seeds {
		l := &line{}
		l.begin(0)
		l.play(t, talk(t, 2, 2*seed), nil)
		l.play(t, talk(t, 20, 2*seed), talk(t, 20, 2*seed+101))
		if l.found {
			t.Errorf("seed %d: found an echo of %v ms, %.1f dB", seed, l.lag/2, 10*math.Log10(float64(l.guard.gain)))
		}
		if l.blocked > 0 {
			t.Errorf("seed %d: passed %d, blocked %d", seed, l.passed, l.blocked)
		}
	}
}

// TestQuietOverEcho: who speaks 14 dB below the usual level is heard over the agent, on a
// line that is not known yet and on one that has an echo.
func TestQuietOverEcho(t *testing.T) {
	quiet := func(seed uint64) []float64 {
		x := talk(t, 4, seed)
		for i := range x {
			x[i] *= db(-14)
		}
		return x
	}
	for name, gain := range map[string]float64{"no echo": 0, "echo": db(-35)} {
		l := &line{delay: 100 * 16, gain: gain}
		l.begin(0)
		l.level = 1e-4
		if gain != 0 {
			l.play(t, talk(t, 4, 2), nil)
		}
		l.play(t, talk(t, 4, 6), quiet(7))
		if l.passed < 4*l.blocked {
			t.Errorf("%s: %d frames of the caller's passed, %d did not (found %v)", name, l.passed, l.blocked, l.found)
		}
	}
}

func BenchmarkEchoSearch(b *testing.B) {
	l := &line{delay: 3000, gain: 0.1}
	l.begin(0)
	l.play(b, talk(b, 2, 1), nil)
	f := media.Frame{Samples: noisetest.PCM(talk(b, 2, 1)[8000:8320]), Rate: media.Rate16k}
	for b.Loop() {
		l.wrote(f, true)
		l.listen(f)
		l.speech(true)
	}
}

func BenchmarkEchoIdle(b *testing.B) {
	var g guard
	g.begin(0)
	f := media.Frame{Samples: make([]int16, 320), Rate: media.Rate16k}
	for b.Loop() {
		g.wrote(f, false)
		g.listen(f)
		g.speech(false)
	}
}

// TestTranscriptEcho: which texts are the agent's own.
func TestTranscriptEcho(t *testing.T) {
	now := time.Now()
	var l transcriptEcho
	l.note("We have a table by the window.", now.Add(-5*time.Second))
	l.note("It is quiet there.", now.Add(-3*time.Second))
	l.note("Shall I book it for Friday at nine?", now)
	for _, c := range []struct {
		text        string
		over, found bool
		want        bool
	}{
		{"shall I book it for Friday", true, false, true},
		{"Shall I look it for Friday", true, false, true}, // five of six
		{"it is quiet there shall I book", true, false, true},
		{"shall I book it for Friday", false, true, false}, // said afterwards
		{"Friday at nine", true, false, false},             // an answer
		{"Friday at nine", true, true, true},
		{"nine at Friday", true, true, false},
		{"we have a table by the window", true, false, false}, // long ago
		{"no wait I meant Saturday", true, true, false},
		{"yes please book it for Friday at noon", true, false, false},
		{"", true, true, false}, {"...", true, true, false},
	} {
		if got := l.repeats(c.text, c.over, c.found, now); got != c.want {
			t.Errorf("%q over %v, found %v: %v", c.text, c.over, c.found, got)
		}
	}
	for n := range 20 {
		l.note(strings.Repeat("word ", n), now)
	}
	if !l.repeats("word word word word word", true, false, now) || l.repeats("shall I book it for Friday", true, false, now) {
		t.Error("the latest eight count")
	}
}
