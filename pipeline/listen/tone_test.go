package listen

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"parley/media"
)

// sounding is a stretch of a synthetic voice: its pitch in Hz goes from one to the other, and 0 is silence; noise hisses.
type sounding struct {
	ms       int
	from, to float64
	noise    bool
}

// samples are those of stretches. Each swells and fades like a syllable.
func samples(rate media.Rate, list []sounding) (all []int16) {
	noise := rand.New(rand.NewPCG(1, 2))
	phase := 0.0
	for _, s := range list {
		n := s.ms * int(rate) / 1000
		for i := range n {
			at := float64(i) / float64(n)
			loud := 3000 * min(1, 12*at, 12*(1-at))
			v := 0.0
			switch {
			case s.noise:
				v = noise.NormFloat64()
			case s.from > 0:
				phase += (s.from + (s.to-s.from)*at) / float64(rate)
				for k := 1.0; k <= 10; k++ {
					v += math.Sin(2*math.Pi*k*phase) / k
				}
			}
			all = append(all, int16(loud*v))
		}
	}
	return all
}

// TestTone: the end of speech is told by its pitch and by its last syllable.
func TestTone(t *testing.T) {
	for _, c := range []struct {
		name string
		said []sounding
		want Tone
	}{
		{"a low voice falls", []sounding{{300, 120, 120, false}, {240, 120, 85, false}}, Falling},
		{"a high voice falls", []sounding{{300, 230, 240, false}, {300, 240, 170, false}}, Falling},
		{"and ends in a consonant", []sounding{{240, 200, 140, false}, {100, 0, 0, true}}, Falling},
		{"one pitch, drawn out", []sounding{{200, 110, 130, false}, {60, 0, 0, false}, {340, 120, 118, false}}, Level},
		{"of a high voice", []sounding{{400, 220, 224, false}}, Level},
		{"one pitch, and short", []sounding{{200, 110, 130, false}, {60, 0, 0, false}, {140, 120, 118, false}}, NoTone},
		{"a rise", []sounding{{300, 150, 150, false}, {240, 150, 230, false}}, NoTone},
		{"a hiss", []sounding{{500, 0, 0, true}}, NoTone},
		{"a click", []sounding{{500, 0, 0, false}, {20, 150, 150, false}}, NoTone},
		{"nothing", []sounding{{500, 0, 0, false}}, NoTone},
	} {
		for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
			t.Run(fmt.Sprintf("%s at %d Hz", c.name, rate), func(t *testing.T) {
				var heard Caller
				heard.feed.begin(rate, rate)
				heard.guard.begin(0)
				frame := rate.FrameSamples()
				pcm := append(samples(rate, append([]sounding{{600, 0, 0, false}}, c.said...)), make([]int16, 10*frame)...)
				speech := len(pcm)/frame - 10
				for i := range speech + 10 {
					heard.front = speaks(i < speech)
					got := heard.Hear(media.Frame{Samples: pcm[i*frame:][:frame], Rate: rate, At: media.Time(i) * media.FrameTime}).Tone
					want := NoTone
					if i == speech+toneAfter-1 {
						want = c.want
					}
					if got != want {
						t.Errorf("frame %d: %v, want %v", i, got, want)
					}
				}
			})
		}
	}
}

// speaks is a front end that hears speech, or none.
type speaks bool

func (s speaks) Hear(f media.Frame) (media.Frame, Activity) {
	return f, Activity{Speech: bool(s), Level: -20}
}

// TestAllocTone: it costs no memory.
func TestAllocTone(t *testing.T) {
	c := newFeed(nil)
	c.hearFrames(100)
	if n := testing.AllocsPerRun(20, func() { c.feed.tone() }); n != 0 {
		t.Errorf("allocates %v times", n)
	}
}

// BenchmarkTone is once a pause.
func BenchmarkTone(b *testing.B) {
	var x [toneFrames * toneStep]float32
	for i, v := range samples(media.Rate16k, []sounding{{500, 200, 140, false}}) {
		x[i/4] += float32(v)
	}
	for b.Loop() {
		toneOf(&x)
	}
}
