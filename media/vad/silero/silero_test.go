package silero_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"parley/media"
	"parley/media/vad/silero"
	"parley/media/wav"
)

// speech is a question at 16 kHz, and at 8 kHz every second sample of it.
func speech(t testing.TB, rate media.Rate) []int16 {
	t.Helper()
	file, err := os.ReadFile("../../../testdata/speech/opening-hours.wav")
	if err != nil {
		t.Fatal(err)
	}
	clip, err := wav.Decode(bytes.NewReader(file), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if rate == media.Rate16k {
		return clip.Samples
	}
	half := make([]int16, len(clip.Samples)/2)
	for i := range half {
		half[i] = clip.Samples[2*i]
	}
	return half
}

// TestProbabilities: the same as ONNX Runtime 1.24.3 made of the published graph; testdata has
// what it gave.
func TestProbabilities(t *testing.T) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		text, err := os.ReadFile(fmt.Sprintf("testdata/opening-hours-%d.txt", rate))
		if err != nil {
			t.Fatal(err)
		}
		s, err := silero.New(rate)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // Reset leaves nothing of the first time
			pcm := speech(t, rate)
			for i, line := range strings.Fields(string(text)) {
				want, err := strconv.ParseFloat(line, 64)
				if err != nil {
					t.Fatal(err)
				}
				if got := s.Probability(pcm[:s.Chunk()]); math.Abs(float64(got)-want) > 1e-4 {
					t.Errorf("%v, chunk %d: %f, want %f", rate, i, got, want)
				}
				pcm = pcm[s.Chunk():]
			}
			s.Reset()
		}
	}
}

func TestOtherRates(t *testing.T) {
	if s, err := silero.New(media.Rate48k); err == nil || s != nil {
		t.Errorf("%v, %v", s, err)
	}
}

func TestProbabilityAllocatesNothing(t *testing.T) {
	s, err := silero.New(media.Rate16k)
	if err != nil {
		t.Fatal(err)
	}
	chunk := speech(t, media.Rate16k)[:s.Chunk()]
	if n := testing.AllocsPerRun(20, func() { s.Probability(chunk) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkSecond is a second of speech.
func BenchmarkSecond(b *testing.B) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k} {
		b.Run(fmt.Sprint(rate), func(b *testing.B) {
			s, err := silero.New(rate)
			if err != nil {
				b.Fatal(err)
			}
			pcm := speech(b, rate)[int(rate)/2:]
			for b.Loop() {
				for at := 0; at+s.Chunk() <= int(rate); at += s.Chunk() {
					s.Probability(pcm[at:][:s.Chunk()])
				}
			}
		})
	}
}
