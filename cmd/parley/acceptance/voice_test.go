package acceptance

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/media"
	"parley/media/resample"
	"parley/media/wav"
)

// maxClip bounds the WAV files that tests read.
const maxClip = 64 << 20 // bytes

// readWAV reads a file at a rate.
func readWAV(t *testing.T, path string, rate media.Rate) []int16 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	clip, err := wav.Decode(f, maxClip)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if clip.Rate == rate {
		return clip.Samples
	}
	return resample.All(clip.Samples, clip.Rate, rate)
}

func writeWAV(t *testing.T, path string, samples []int16, rate media.Rate) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := wav.Encode(f, wav.Clip{Samples: samples, Rate: rate}); err != nil {
		t.Fatal(err)
	}
}

// speak is text in one of flite's voices.
func speak(t *testing.T, voice, text string, rate media.Rate) []int16 {
	t.Helper()
	path := filepath.Join(t.TempDir(), "speech.wav")
	if out, err := exec.Command("flite", "-voice", voice, "-t", text, "-o", path).CombinedOutput(); err != nil {
		t.Fatalf("flite: %v\n%s", err, out)
	}
	return readWAV(t, path, rate)
}

// question is the clip that the documentation uses.
func question(t *testing.T, rate media.Rate) []int16 {
	t.Helper()
	return readWAV(t, "../../../testdata/speech/opening-hours.wav", rate)
}

func silence(d time.Duration, rate media.Rate) []int16 {
	return make([]int16, media.FromDuration(d).Samples(rate))
}

// voiced is how much of a recording holds sound above -45 dBFS.
func voiced(samples []int16, rate media.Rate) time.Duration {
	n, loud := rate.FrameSamples(), 0
	for ; len(samples) >= n; samples = samples[n:] {
		sum := 0.0
		for _, v := range samples[:n] {
			sum += float64(v) * float64(v)
		}
		if 10*math.Log10(sum/float64(n)/(32768*32768)+1e-12) > -45 {
			loud++
		}
	}
	return time.Duration(loud) * media.FrameDuration
}

// script is what a caller has still to say. It may be used from several goroutines.
type script struct {
	mu   sync.Mutex
	left []int16
}

func (s *script) add(clip []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left = append(s.left, clip...)
}

// next fills frame, with silence when everything is said.
func (s *script) next(frame []int16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := copy(frame, s.left)
	clear(frame[n:])
	s.left = s.left[n:]
}

// remaining is the number of samples that are not said yet.
func (s *script) remaining() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.left)
}

func (s *script) done() bool { return s.remaining() == 0 }

// plain is text as words are compared: lower case without punctuation.
func plain(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz'", r) })
}

// wordErrors is the least number of words to change, add or take out between
// what was said and what was understood (Levenshtein's distance).
func wordErrors(said, understood []string) int {
	row := make([]int, len(understood)+1)
	for j := range row {
		row[j] = j
	}
	for i, w := range said {
		corner := row[0]
		row[0] = i + 1
		for j, v := range understood {
			cost := corner
			if w != v {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(understood)]
}

// has says whether text holds one of words.
func has(text string, words ...string) bool {
	for _, w := range plain(text) {
		for _, v := range words {
			if w == v {
				return true
			}
		}
	}
	return false
}
