package amd_test

import (
	"log/slog"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/espeak"
	"parley/inference/worker/workertest"
	"parley/media"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
	"parley/media/g711"
	"parley/media/mediatest"
	"parley/media/resample"
	"parley/media/vad"
	"parley/pipeline/amd"
	"parley/pipeline/listen"
)

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

const rate = media.Rate8k

// voices speak for those who answer.
type voices struct {
	*testing.T
	engine *espeak.Engine
}

// newVoices has one process, so that what is said in the same order sounds the same: the engine's breath goes on from text to text.
func newVoices(t *testing.T) voices {
	t.Helper()
	e := workertest.Run(t, espeak.New(espeak.Config{Program: program, Processes: 1, Log: slog.New(slog.DiscardHandler)}))
	return voices{t, e}
}

// say is text at the rate of a telephone line, without the silence before and after it.
func (v voices) say(voice, language, text string) []int16 {
	v.Helper()
	return v.speak(inference.Speech{Text: text, VoiceConfig: inference.VoiceConfig{Voice: voice, Language: language}})
}

func (v voices) speak(s inference.Speech) []int16 {
	v.Helper()
	var all []int16
	from := espeak.Rate
	for c, err := range v.engine.Speak(v.Context(), s) {
		if err != nil {
			v.Fatal(err)
		}
		all, from = append(all, c.Samples...), c.Rate
	}
	all = resample.All(all, from, rate)
	first, last := len(all), 0
	for i, s := range all {
		if s > 200 || s < -200 {
			first, last = min(first, i), i+1
		}
	}
	return all[min(first, last):last]
}

func silence(ms int) []int16 { return make([]int16, 8*ms) }

func beep(hz float64, ms int) []int16 { return mediatest.Tone(hz, rate, 8*ms, 0.25) }

// line is what lies between the far end and the detector.
type line struct {
	noise noisetest.Noise // nil: none
	snr   float64         // dB
	music bool            // quiet music behind everything
}

// carry sends samples over the line.
func (l line) carry(samples []int16, seed uint64) []int16 {
	x := make([]float64, len(samples))
	for i, s := range samples {
		x[i] = float64(s)
	}
	if l.music {
		rng := rand.New(rand.NewPCG(seed, 9))
		chord := [3]float64{}
		for i := range x {
			if i%3200 == 0 {
				for again := true; again; again = chord[0] == chord[1] && chord[1] == chord[2] { // one note alone is a tone
					for j := range chord {
						chord[j] = 220 * math.Pow(2, float64(rng.IntN(24))/12)
					}
				}
			}
			for _, hz := range chord {
				x[i] += 120 * math.Sin(2*math.Pi*hz*float64(i)/float64(rate))
			}
		}
	}
	if l.noise != nil {
		for i, n := range l.noise(len(x), seed) { // of power one
			x[i] += n * 1800 * math.Pow(10, -l.snr/20)
		}
	}
	out := noisetest.PCM(x)
	codes := make([]byte, len(out))
	g711.PCMA.Encode(codes, out)
	g711.PCMA.Decode(out, codes)
	return out
}

// heard is what a detector made of an answer. Times are the ends of frames.
type heard struct {
	verdict amd.Verdict
	at      time.Duration // of the verdict; 0: none
	open    time.Duration // when one may speak to a machine; 0: never
}

// detect plays samples to a detector behind the front end of a call.
func detect(t testing.TB, language string, samples []int16) (h heard) {
	t.Helper()
	front, err := listen.NewFrontEnd(denoise.Spectral, vad.Spectral, rate)
	if err != nil {
		t.Fatal(err)
	}
	d := amd.New(language, rate)
	var frame [160]int16
	for n := 0; len(samples) >= len(frame); n, samples = n+1, samples[len(frame):] {
		copy(frame[:], samples)
		f := media.Frame{Samples: frame[:], Rate: rate, At: media.Time(n) * media.FrameTime}
		now := time.Duration(n+1) * media.FrameDuration
		d.Listen(f)
		_, a := front.Hear(f)
		if v := d.Step(a.Speech, a.Level); v != h.verdict {
			h.verdict, h.at = v, now
		}
		if h.open == 0 && d.Open() {
			h.open = now
		}
	}
	return h
}
