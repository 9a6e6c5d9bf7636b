package speechtest

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/pocketsphinx"
	"parley/inference/worker/workertest"
	"parley/media/codec"
	"parley/media/denoise"
	"parley/media/denoise/noisetest"
)

// maxWordErrors is the bar for a quiet line, in percent.
const maxWordErrors = 10

var program string

func TestMain(m *testing.M) { workertest.Main(m, &program) }

// start runs the recogniser for the length of the test.
func start(t testing.TB) *pocketsphinx.Engine {
	t.Helper()
	return workertest.Run(t, pocketsphinx.New(pocketsphinx.Config{Program: program, Log: slog.New(slog.DiscardHandler)}))
}

// score counts the words that were said and those that were not understood.
type score struct{ wrong, words int }

func (s score) percent() float64 { return 100 * float64(s.wrong) / float64(max(s.words, 1)) }

func (s score) String() string { return fmt.Sprintf("%.1f", s.percent()) }

// measure has the voices call over a line, all at the same time, and returns the
// score of each.
func measure(t *testing.T, e *pocketsphinx.Engine, l line, tracks map[string]noisetest.Track) map[string]score {
	t.Helper()
	scores := map[string]score{}
	var mu sync.Mutex
	var failed error
	var callers sync.WaitGroup
	for voice, spoken := range tracks {
		heard := l.hear(t, spoken)
		callers.Go(func() {
			s, err := listen(t.Context(), e, heard, func(said, got string) { t.Logf("%+v %s: %q was heard as %q", l, voice, said, got) })
			mu.Lock()
			defer mu.Unlock()
			scores[voice], failed = s, errors.Join(failed, err)
		})
	}
	callers.Wait()
	if failed != nil {
		t.Fatal(failed)
	}
	return scores
}

// listen recognises one call of all sentences and reports those it got wrong.
func listen(ctx context.Context, e *pocketsphinx.Engine, heard [][]int16, wrong func(said, got string)) (s score, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := e.Open(ctx, inference.ASRConfig{Language: "en", Hints: inference.Hints{Terms: agent}})
	if err != nil {
		return s, err
	}
	defer r.Close()
	for i, samples := range heard {
		for len(samples) > 0 {
			n := min(320, len(samples))
			r.Write(samples[:n])
			samples = samples[n:]
		}
		got, err := await(r, r.Finish())
		if err != nil {
			return s, fmt.Errorf("sentence %d: %w", i, err)
		}
		n := wordErrors(strings.Fields(sentences[i]), strings.Fields(got))
		if n > 0 {
			wrong(sentences[i], got)
		}
		s.wrong, s.words = s.wrong+n, s.words+len(strings.Fields(sentences[i]))
	}
	return s, nil
}

// await returns the text of an utterance.
func await(r inference.Recognition, utterance int) (string, error) {
	var pieces []string
	for x := range r.Results() {
		if x.Err != nil {
			return "", x.Err
		}
		if x.Final && x.Text != "" {
			pieces = append(pieces, x.Text)
		}
		if x.Last && x.Utterance == utterance {
			return strings.Join(pieces, " "), nil
		}
	}
	return "", fmt.Errorf("the stream ended before utterance %d did", utterance)
}

// wordErrors is the least number of words to change, insert or remove.
func wordErrors(said, got []string) int {
	row := make([]int, len(got)+1)
	for j := range row {
		row[j] = j
	}
	for i, w := range said {
		diagonal := row[0]
		row[0] = i + 1
		for j, g := range got {
			cost := 1
			if w == g {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(got)]
}

// total is the score of all voices.
func total(scores map[string]score) (s score) {
	for _, v := range scores {
		s.wrong, s.words = s.wrong+v.wrong, s.words+v.words
	}
	return s
}

// check measures one kind of line without and with noise removal, prints a row of
// the table and returns both.
func check(t *testing.T, e *pocketsphinx.Engine, noise string, snr float64, tracks map[string]noisetest.Track) (plain, cleaned map[string]score) {
	t.Helper()
	plain = measure(t, e, line{noise, snr, denoise.Off, codec.PCMU}, tracks)
	cleaned = measure(t, e, line{noise, snr, denoise.Spectral, codec.PCMU}, tracks)
	t.Logf("| %-5s %2.0f dB | %5v %% | %5v %% | %v | %v |", noise, snr, total(plain), total(cleaned), plain, cleaned)
	return plain, cleaned
}

// atQuiet holds a quiet line to its bars: most words are understood, and removing
// noise that is not there costs no more than 1 point and a word.
func atQuiet(t *testing.T, e *pocketsphinx.Engine, tracks map[string]noisetest.Track) {
	t.Helper()
	plain, cleaned := check(t, e, "", 0, tracks)
	for _, voice := range []string{"slt", "rms"} {
		if s := plain[voice]; s.percent() > maxWordErrors {
			t.Errorf("%s on a quiet line: %v %% of the words are wrong, want at most %d", voice, s, maxWordErrors)
		}
	}
	before, after := total(plain), total(cleaned)
	if allowed := before.wrong + 1 + before.words/100; after.wrong > allowed {
		t.Errorf("quiet line: noise removal makes %d of %d wrong words %d, want at most %d", before.wrong, before.words, after.wrong, allowed)
	}
}

// atNoise demands that noise removal helps.
func atNoise(t *testing.T, e *pocketsphinx.Engine, noise string, snr float64, tracks map[string]noisetest.Track) {
	t.Helper()
	plain, cleaned := check(t, e, noise, snr, tracks)
	if before, after := total(plain), total(cleaned); after.wrong >= before.wrong {
		t.Errorf("%s at %.0f dB: noise removal makes %d of %d wrong words %d", noise, snr, before.wrong, before.words, after.wrong)
	}
}

// TestCallersAreUnderstood is the short form of TestSoakCallersAreUnderstood: one noise, for one caller.
func TestCallersAreUnderstood(t *testing.T) {
	e := start(t)
	slt := track(t, "slt")
	atQuiet(t, e, map[string]noisetest.Track{"slt": slt, "rms": track(t, "rms")})
	atNoise(t, e, "white", 15, map[string]noisetest.Track{"slt": slt})
}

// TestSoakCallersAreUnderstood prints how many words of a hundred are wrong, by
// noise, without and with its removal.
func TestSoakCallersAreUnderstood(t *testing.T) {
	if os.Getenv("PARLEY_SOAK") == "" {
		t.Skip("PARLEY_SOAK is not set; TestCallersAreUnderstood is the short form")
	}
	e := start(t)
	tracks := map[string]noisetest.Track{}
	for _, voice := range []string{"slt", "rms", "awb"} {
		tracks[voice] = track(t, voice)
	}
	atQuiet(t, e, tracks)
	for _, noise := range []string{"white", "pink", "car"} {
		atNoise(t, e, noise, 15, tracks)
		check(t, e, noise, 10, tracks)
	}
	check(t, e, "car", 5, tracks)
}
