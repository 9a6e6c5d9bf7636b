package amd_test

import (
	"bufio"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"

	"parley/inference"
	"parley/media"
	"parley/media/denoise"
	"parley/media/vad"
	"parley/pipeline/amd"
	"parley/pipeline/listen"
)

// greeting is what somebody says who answers, as it is drawn.
type greeting struct {
	answer
	who      amd.Verdict // a person or a machine
	speed    float64
	seed     uint64 // of its line
	choosing bool   // belongs to the half on which thresholds are chosen
	heard    []frame
}

// frame is one frame of an answer, as a call's front end gives it to a detector.
type frame struct {
	samples  []int16
	activity listen.Activity
}

var greetingLanguages = []string{"en", "es", "fr", "de", "it", "pt"}

// readGreetings reads the texts of testdata and draws how each is said, always the same.
func readGreetings(t *testing.T) (all []*greeting) {
	t.Helper()
	for n, language := range greetingLanguages {
		text, err := os.ReadFile("testdata/greetings-" + language + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		index := map[string]int{}
		for lines := bufio.NewScanner(strings.NewReader(string(text))); lines.Scan(); {
			kind, says, _ := strings.Cut(lines.Text(), " ")
			if kind == "#" {
				continue
			}
			g := drawGreeting(language, kind, says)
			// Every other one of a kind; the languages begin in turns, for much is the same in each.
			g.choosing = (index[kind]+n)%2 == 0
			index[kind]++
			all = append(all, g)
		}
		for kind, count := range index {
			if count < 20 || kind != "person" && kind != "machine" {
				t.Errorf("%s: %d of the kind %q", language, count, kind)
			}
		}
	}
	return all
}

// drawGreeting draws voice, pace, silences and line from the text alone.
func drawGreeting(language, kind, says string) *greeting {
	seed := fnv.New64()
	seed.Write([]byte(language + kind + says))
	draw := rand.New(rand.NewPCG(seed.Sum64(), 1))
	among := func(least, most int) int { return least + draw.IntN(most-least+1) }
	voices := []string{"F1", "F2", "F3", "F4", "F5", "M1", "M2", "M3", "M4", "M5"}
	lines := []line{quiet, white, pink, car, music, both}
	g := &greeting{who: amd.Machine, seed: draw.Uint64(), speed: 0.85 + 0.4*draw.Float64()}
	g.answer = answer{language: language, voice: voices[draw.IntN(len(voices))], lead: among(0, 1500), says: strings.Split(says, " | "),
		gap: among(250, 800), line: lines[draw.IntN(len(lines))]}
	if kind == "person" {
		g.who = amd.Human
	}
	return g
}

// speak makes the sound of the answer until a verdict is due.
func (g *greeting) speak(v voices) []int16 {
	samples := silence(g.lead)
	for i, text := range g.says {
		if i > 0 {
			samples = append(samples, silence(g.gap)...)
		}
		samples = append(samples, v.speak(inference.Speech{Text: text, VoiceConfig: inference.VoiceConfig{Voice: g.voice, Language: g.language, Speed: g.speed}})...)
	}
	due := int(amd.Deadline / rate.Tick())
	return append(samples, make([]int16, due)...)[:due]
}

// hear keeps what a call's front end makes of samples behind the line.
func (g *greeting) hear(samples []int16) error {
	front, err := listen.NewFrontEnd(denoise.Spectral, vad.Spectral, rate)
	if err != nil {
		return err
	}
	samples = g.line.carry(samples, g.seed)
	size := rate.FrameSamples()
	for n := media.Time(0); len(samples) >= size; n, samples = n+1, samples[size:] {
		f := media.Frame{Samples: samples[:size:size], Rate: rate, At: n * media.FrameTime}
		_, a := front.Hear(f)
		g.heard = append(g.heard, frame{f.Samples, a})
	}
	return nil
}

// verdict is what d makes of it, and when.
func (g *greeting) verdict(d *amd.Detector) (v amd.Verdict, at media.Time) {
	for _, f := range g.heard {
		d.Listen(media.Frame{Samples: f.samples, Rate: rate})
		at += media.FrameTime
		if v = d.Step(f.activity.Speech, f.activity.Level); v != amd.Undecided {
			return v, at
		}
	}
	return v, at
}

// synthesise has all of them speak, one after the other, and be heard meanwhile.
func synthesise(t *testing.T, all []*greeting) {
	t.Helper()
	v := newVoices(t)
	var wait sync.WaitGroup
	defer wait.Wait()
	for _, g := range all {
		samples := g.speak(v)
		wait.Go(func() {
			if err := g.hear(samples); err != nil {
				t.Error(g, err)
			}
		})
	}
}
