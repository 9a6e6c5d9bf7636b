package tts_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parley/api"
	"parley/api/tts"
	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
	"parley/media/resample"
	"parley/store"
)

// voice is an engine that speaks 70 ms of a sweep for each character, in chunks of
// an odd length, and keeps what it gave.
type voice struct {
	inference.TTS
	rates  []media.Rate // of the pieces, the last one of all that follow
	chunk  int          // samples; 0: all of a piece at once
	phones bool
	fail   func(n int) error // before chunk n of the job, from 0

	texts []string
	given []int16
	n     int
}

const perChar = 70 * time.Millisecond

func (v *voice) Speak(ctx context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		rate := v.rates[min(len(v.texts), len(v.rates)-1)]
		v.texts = append(v.texts, s.Text)
		all := make([]int16, media.FromDuration(perChar*time.Duration(utf8.RuneCountInString(s.Text))).Samples(rate))
		for i := range all {
			at := len(v.given) + i
			all[i] = int16((at*at/300)%12000 - 6000) // no two places look the same
		}
		v.given = append(v.given, all...)
		for at := 0; at < len(all); v.n++ {
			if v.fail != nil {
				if err := v.fail(v.n); err != nil {
					yield(inference.Chunk{}, err)
					return
				}
			}
			end := len(all)
			if v.chunk > 0 {
				end = min(end, at+v.chunk)
			}
			c := inference.Chunk{Samples: all[at:end], Rate: rate}
			if v.phones {
				c.Phones = phones(s.Text, rate.Duration(at).Duration(), rate.Duration(end).Duration())
			}
			if !yield(c, nil) {
				return
			}
			at = end
		}
	}
}

// phones says that each character is its own phoneme.
func phones(text string, from, to time.Duration) (list []inference.Mark) {
	for i, r := range []rune(text) {
		if at := time.Duration(i) * perChar; at >= from && at < to {
			list = append(list, inference.Mark{Text: string(r), Start: at, Char: i})
		}
	}
	return list
}

const spanish = "Hola, buenos días. ¿En qué puedo ayudarle hoy? Estamos abiertos todos los días, también los domingos; de nueve a cinco. Adiós."

// job is a whole job's chunks, of which it is checked what holds for all.
func job(t *testing.T, s *tts.Service, r tts.Request) (samples []int16, shapes []tts.Viseme) {
	t.Helper()
	chars, n := 0, 0
	for c, err := range s.Speak(t.Context(), r) {
		if err != nil {
			t.Fatal(err)
		}
		from := float64(len(samples)) / float64(tts.Rate)
		samples = append(samples, c.Samples...)
		to := float64(len(samples)) / float64(tts.Rate)
		if n++; n == 1 && (to < 0.1 || to > 0.3) || to-from > 1.0001 || len(c.Samples) == 0 {
			t.Errorf("chunk %d is %.3f s long", n, to-from)
		}
		if c.Chars < chars || c.Chars > utf8.RuneCountInString(r.Text) {
			t.Errorf("chunk %d covers %d characters after %d", n, c.Chars, chars)
		}
		chars = c.Chars
		for _, v := range c.Visemes {
			if v.T < from-0.001 || v.T > to+0.001 {
				t.Errorf("chunk %d, %.3f to %.3f s, has %+v", n, from, to, v)
			}
			if len(shapes) > 0 && v.T < shapes[len(shapes)-1].T {
				t.Errorf("%+v follows %+v", v, shapes[len(shapes)-1])
			}
			if v.V < 0 || v.V >= utf8.RuneCountInString(r.Text) || tts.Alphabet[v.ID] != v.C {
				t.Errorf("%+v", v)
			}
			shapes = append(shapes, v)
		}
	}
	if chars != utf8.RuneCountInString(r.Text) {
		t.Errorf("%d of %d characters are covered", chars, utf8.RuneCountInString(r.Text))
	}
	return samples, shapes
}

// What comes out is what went in at another rate: no sample more or less, no seam
// between pieces, and no delay, whatever the engine's rate and chunks are.
func TestOneStream(t *testing.T) {
	for _, rate := range []media.Rate{media.Rate8k, media.Rate16k, media.Rate22k, media.Rate24k, media.Rate44k, media.Rate48k} {
		for _, chunk := range []int{0, 1323, 77} {
			t.Run(fmt.Sprintf("%d in %d", rate, chunk), func(t *testing.T) {
				v := &voice{rates: []media.Rate{rate}, chunk: chunk}
				got, _ := job(t, tts.New(v), tts.Request{Text: spanish, Voice: "F1", Language: "es", Speed: 1})
				if len(v.texts) < 2 {
					t.Fatalf("the text was not cut: %q", v.texts)
				}
				want := resample.All(v.given, rate, tts.Rate)
				if n := len(want) - len(got); n < 0 || n > 1 { // rounding
					t.Fatalf("%d samples, want %d", len(got), len(want))
				}
				for i := range got {
					// The filters round where they stand: the delay is whole only in
					// samples of the engine.
					if d := int(got[i]) - int(want[i]); rate == tts.Rate && d != 0 || rate == media.Rate22k && max(d, -d) > 1 {
						t.Fatalf("sample %d is %d, want %d", i, got[i], want[i])
					}
				}
			})
		}
	}
}

// Another engine takes over in the middle.
func TestRateChanges(t *testing.T) {
	v := &voice{rates: []media.Rate{media.Rate24k, media.Rate22k}, chunk: 1000}
	got, _ := job(t, tts.New(v), tts.Request{Text: spanish, Speed: 1})
	var want media.Time
	for _, text := range v.texts {
		want += media.FromDuration(perChar * time.Duration(utf8.RuneCountInString(text)))
	}
	if d := want.Samples(tts.Rate) - len(got); d < -3 || d > 3 {
		t.Errorf("%d samples, want %d", len(got), want.Samples(tts.Rate))
	}
}

func TestVisemesOfPhonemes(t *testing.T) {
	for _, chunk := range []int{0, 1323} {
		v := &voice{rates: []media.Rate{media.Rate22k}, chunk: chunk, phones: true}
		_, shapes := job(t, tts.New(v), tts.Request{Text: spanish, Speed: 1, Visemes: true})
		text := []rune(spanish)
		at, missing := 0.0, 0
		for i, s := range shapes {
			if d := s.T - at; d < -0.002 || d > 0.002 {
				t.Fatalf("shape %d is at %.3f, want %.3f", i, s.T, at)
			}
			for text[missing] == ' ' && s.V > missing { // between pieces
				missing++
			}
			if s.V != missing || s.C != tts.Alphabet[tts.Shape(string(text[s.V]))] {
				t.Fatalf("shape %d is %+v, want character %d", i, s, missing)
			}
			missing++
			at += perChar.Seconds()
		}
		if missing != len(text) {
			t.Errorf("%d of %d characters have a shape", missing, len(text))
		}
	}
}

// An engine that gives no phonemes does not keep mouths shut: every letter has its
// turn, early enough, at the pace of the audio.
func TestVisemesEstimated(t *testing.T) {
	for _, chunk := range []int{0, 1323, 40000} {
		v := &voice{rates: []media.Rate{media.Rate22k}, chunk: chunk}
		samples, shapes := job(t, tts.New(v), tts.Request{Text: spanish, Speed: 1, Visemes: true})
		seen := map[int]string{}
		for _, s := range shapes {
			if _, twice := seen[s.V]; twice {
				t.Errorf("character %d twice", s.V)
			}
			seen[s.V] = s.C
		}
		for i, r := range []rune(spanish) {
			if _, ok := seen[i]; ok != (r != ' ' && r != '¿') {
				t.Errorf("character %d, %q: %v", i, r, ok)
			}
		}
		if seen[0] != "k" || seen[1] != "o" || seen[4] != "sil" || seen[14] != "i" {
			t.Errorf("shapes: %v", seen)
		}
		half := float64(len(samples)) / float64(tts.Rate) / 2
		for _, s := range shapes {
			if s.T >= half {
				if n := utf8.RuneCountInString(spanish); s.V < n*3/10 || s.V > n*7/10 {
					t.Errorf("chunks of %d: in the middle is character %d of %d", chunk, s.V, n)
				}
				break
			}
		}
	}
	_, shapes := job(t, tts.New(&voice{rates: []media.Rate{media.Rate22k}, phones: true}), tts.Request{Text: spanish, Speed: 1})
	if shapes != nil {
		t.Error("visemes that nobody asked for")
	}
}

// A text in the background may be twenty times as long as the longest on a socket.
// The engine never runs ahead of the receiver by more than a piece.
func TestLongTextTakesLittleMemory(t *testing.T) {
	text := strings.Repeat(spanish+" ", 100_000/utf8.RuneCountInString(spanish+" "))
	v := &counter{chunk: 1000}
	taken, most := 0, 0
	for c, err := range tts.New(v).Speak(t.Context(), tts.Request{Text: text, Speed: 1, Visemes: true}) {
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, v.given-taken)
		taken += len(c.Samples)
		if len(c.Visemes) > 100 {
			t.Fatalf("%d visemes at once", len(c.Visemes))
		}
	}
	if taken != v.given || taken < 1000*int(tts.Rate) {
		t.Errorf("%d of %d samples", taken, v.given)
	}
	if most > 2*int(tts.Rate) {
		t.Errorf("up to %d samples wait", most)
	}
	if v.longest > 280 {
		t.Errorf("a piece of %d characters", v.longest)
	}
}

// counter is a quick engine that only counts, at the rate of the output.
type counter struct {
	inference.TTS
	chunk, given, longest int
}

func (v *counter) Speak(_ context.Context, s inference.Speech) iter.Seq2[inference.Chunk, error] {
	return func(yield func(inference.Chunk, error) bool) {
		n := utf8.RuneCountInString(s.Text)
		v.longest = max(v.longest, n)
		for range n {
			v.given += v.chunk
			if !yield(inference.Chunk{Samples: make([]int16, v.chunk), Rate: tts.Rate}, nil) {
				return
			}
		}
	}
}

func TestFaults(t *testing.T) {
	fault := func(f inference.Fault) error { return &inference.Error{Engine: "fake", Fault: f} }
	for _, c := range []struct {
		err  error
		code string
	}{
		{fault(inference.ErrFailed), "tts.synthesis_failed"},
		{fault(inference.ErrRefused), "tts.synthesis_failed"},
		{errors.New("else"), "tts.synthesis_failed"},
		{fault(inference.ErrUnavailable), "tts.voice_unavailable"},
		{fault(inference.ErrVoice), "tts.voice_unavailable"},
		{fault(inference.ErrLanguage), "validation.invalid_language"},
	} {
		for _, after := range []int{0, 20} {
			v := &voice{rates: []media.Rate{media.Rate24k}, chunk: 2400, fail: func(n int) error {
				if n == after {
					return c.err
				}
				return nil
			}}
			chunks, err := 0, error(nil)
			for _, fault := range tts.New(v).Speak(t.Context(), tts.Request{Text: spanish, Speed: 1}) {
				if err != nil {
					t.Error("something follows an error")
				}
				if err = fault; err == nil {
					chunks++
				}
			}
			if p := api.ProblemOf(err); p.Code != c.code || (chunks > 0) != (after > 0) {
				t.Errorf("%v after %d: %s (%v) with %d chunks", c.err, after, p.Code, err, chunks)
			}
		}
	}
	v := &voice{rates: []media.Rate{11025}}
	for _, err := range tts.New(v).Speak(t.Context(), tts.Request{Text: spanish, Speed: 1}) {
		if !errors.Is(err, api.ErrSynthesis) {
			t.Errorf("a strange rate: %v", err)
		}
	}
}

// The end of the context frees the engine and says why.
func TestStopped(t *testing.T) {
	for _, c := range []struct{ cause, want error }{
		{context.Canceled, context.Canceled},
		{context.DeadlineExceeded, context.DeadlineExceeded},
		{&media.Ended{Reason: media.BalanceExhausted, Detail: media.Spending}, store.ErrSpending},
		{&media.Ended{Reason: media.BalanceExhausted}, store.ErrInsufficientBalance},
		{&media.Ended{Reason: media.APIHangup, Detail: "drain"}, api.ErrDraining},
	} {
		engine := enginetest.NewFakeTTS()
		engine.FirstAudio, engine.Limit = 0, 5
		ctx, cancel := context.WithCancelCause(t.Context())
		var err error
		for _, fault := range tts.New(engine).Speak(ctx, tts.Request{Text: "A sentence. Another one.", Voice: "F1", Language: "en", Speed: 1}) {
			cancel(c.cause)
			err = fault
		}
		cancel(nil)
		if !errors.Is(err, c.want) || engine.Busy() != 0 {
			t.Errorf("%v ends a job with %v, %d jobs go on", c.cause, err, engine.Busy())
		}
	}
}

// The receiver has had enough.
func TestBreak(t *testing.T) {
	engine := enginetest.NewFakeTTS()
	engine.FirstAudio = 0
	for range tts.New(engine).Speak(t.Context(), tts.Request{Text: "A sentence. Another one.", Voice: "F1", Language: "en", Speed: 1.5, Steps: 8}) {
		break
	}
	calls := engine.Calls()
	if len(calls) != 1 || engine.Busy() != 0 {
		t.Fatalf("calls: %+v", calls)
	}
	if s := calls[0].Speech; s.Text != "A sentence." || s.Voice != "F1" || s.Language != "en" || s.Speed != 1.5 || s.Steps != 8 {
		t.Errorf("asked for %+v", s)
	}
}

func TestShape(t *testing.T) {
	for ipa, want := range map[string]string{"h": "k", "ə": "e", "l": "l", "ˈoʊ": "o", "": "sil", "ʃ": "s", "ˌð": "d", "?": "sil", "aɪ": "a"} {
		if got := tts.Alphabet[tts.Shape(ipa)]; got != want {
			t.Errorf("%q is %s, want %s", ipa, got, want)
		}
	}
}
