// Package noisetest makes noisy speech for tests and measures it: real sentences
// from the flite synthesiser, seeded noises, mixtures at a chosen signal-to-noise
// ratio, and the segmental measures by which noise suppressors are compared.
//
// All signals are mono and 16 kHz unless a function says otherwise; Halve makes
// them 8 kHz. Samples travel as float64 in 16-bit units until PCM rounds them.
package noisetest

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"parley/media/wav"
)

// Rate is the sample rate of everything made here.
const Rate = 16000

// SpeechLevel is the active level of every utterance, in dBFS (0 dBFS is the
// power of a constant at full scale): an ordinary telephone level.
const SpeechLevel = -24

// block is 5 ms: the resolution of where speech begins and ends.
const block = Rate / 200

var voices = []string{"slt", "rms", "awb"}

var sentences = []string{
	"I would like to book a table for four people on Friday evening.",
	"Yes.",
	"My order number is seven three nine two, and it has not arrived yet.",
	"Could you please tell me what time you open tomorrow?",
	"No, thank you, that is all.",
	"Please cancel the appointment.",
	"She had your dark suit in greasy wash water all year.",
	"Hello?",
	"Fifty five, sixty six, seventy seven.",
	"What would it cost to ship this to Portugal?",
	"The quick brown fox jumps over the lazy dog.",
}

// Utterances returns 33 utterances, eleven sentences in three voices (three sentences
// under the race detector), at SpeechLevel and without the silence before and after
// them. They are synthesised once per test binary; the test is skipped where flite
// is not installed. Do not change them.
func Utterances(t testing.TB) [][]float64 {
	t.Helper()
	u, err := utterances()
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no speech to test with: flite is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var utterances = sync.OnceValues(func() ([][]float64, error) {
	dir, err := os.MkdirTemp("", "noisetest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var all [][]float64
	for _, text := range sentences[:min(len(sentences), maxSentences)] {
		for _, voice := range voices {
			u, err := speak(filepath.Join(dir, "u.wav"), voice, text)
			if err != nil {
				return nil, err
			}
			all = append(all, u)
		}
	}
	return all, nil
})

// Say is text in one of the three voices, 0 to 2, as Utterances are.
func Say(t testing.TB, voice int, text string) []float64 {
	t.Helper()
	x, err := speak(filepath.Join(t.TempDir(), "u.wav"), voices[voice], text)
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip("no speech to test with: flite is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// speak synthesises one sentence by way of file.
func speak(file, voice, text string) ([]float64, error) {
	if out, err := exec.Command("flite", "-voice", voice, "-t", text, "-o", file).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("flite: %w: %s", err, out)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	clip, err := wav.Decode(f, 1<<20)
	if err != nil {
		return nil, err
	}
	if clip.Rate != Rate {
		return nil, fmt.Errorf("flite: voice %s speaks at %v", voice, clip.Rate)
	}
	x := make([]float64, len(clip.Samples))
	for i, v := range clip.Samples {
		x[i] = float64(v)
	}
	x = trim(x)
	scale(x, math.Pow(10, (SpeechLevel-ActiveLevel(x, Rate))/20))
	return x, nil
}

// trim cuts what lies before the first and after the last 5 ms block within 40 dB
// of the loudest: the bounds a listener would set.
func trim(x []float64) []float64 {
	p := blockPowers(x, block)
	top := slices.Max(p)
	first, last := onset(p, 40), len(p)-1
	for last > first && p[last] < top*1e-4 {
		last--
	}
	return x[first*block : (last+1)*block]
}

// onset is the first block within range dB of the loudest.
func onset(powers []float64, within float64) int {
	limit := slices.Max(powers) * math.Pow(10, -within/10)
	return slices.IndexFunc(powers, func(p float64) bool { return p >= limit })
}

// Track is speech laid out in time.
type Track struct {
	Samples []float64
	Spans   []Span // of the utterances, in order
}

// Span is where an utterance lies, in samples: its first sound, however faint;
// where it first comes within 25 dB of its loudest 5 ms, for a breath or an h
// before that is not heard in any noise; and the end of its last sound.
type Span struct{ First, Start, End int }

// Lay puts utterances one after another, with a silence of lead seconds before the
// first and gaps that grow from 0.7 s to 1.8 s and begin again.
func Lay(utterances [][]float64, lead float64) Track {
	t := Track{Samples: make([]float64, int(lead*Rate))}
	for i, u := range utterances {
		first := len(t.Samples)
		start := first + onset(blockPowers(u, block), 25)*block
		t.Samples = append(t.Samples, u...)
		t.Spans = append(t.Spans, Span{first, start, len(t.Samples)})
		t.Samples = append(t.Samples, make([]float64, int((0.7+0.1*float64(i*5%12))*Rate))...)
	}
	return t
}

// Halve returns the track at 8 kHz.
func (t Track) Halve() Track {
	h := Track{Samples: Halve(t.Samples)}
	for _, s := range t.Spans {
		h.Spans = append(h.Spans, Span{s.First / 2, s.Start / 2, s.End / 2})
	}
	return h
}

// Halve low-passes x at 3.6 kHz, as a telephone line does, and takes every second sample.
func Halve(x []float64) []float64 {
	const reach, cutoff = 48, 3600.0 / Rate
	var taps [2*reach + 1]float64
	for i := range taps {
		d := float64(i - reach)
		w := 0.42 + 0.5*math.Cos(math.Pi*d/reach) + 0.08*math.Cos(2*math.Pi*d/reach)
		taps[i] = 2 * cutoff * w
		if d != 0 {
			taps[i] = w * math.Sin(2*math.Pi*cutoff*d) / (math.Pi * d)
		}
	}
	y := make([]float64, len(x)/2)
	for i := range y {
		for j, c := range taps {
			if k := 2*i + j - reach; k >= 0 && k < len(x) {
				y[i] += c * x[k]
			}
		}
	}
	return y
}

// PCM rounds to 16 bits, clipping.
func PCM(x []float64) []int16 {
	y := make([]int16, len(x))
	for i, v := range x {
		y[i] = int16(math.Round(max(-32768, min(32767, v))))
	}
	return y
}
