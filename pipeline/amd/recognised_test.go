package amd_test

import (
	"log/slog"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/pocketsphinx"
	"parley/inference/worker/workertest"
	"parley/media"
	"parley/media/denoise"
	"parley/media/resample"
	"parley/media/vad"
	"parley/pipeline/amd"
	"parley/pipeline/listen"
)

// newRecogniser hears English and expects what machines say.
func newRecogniser(t *testing.T) *pocketsphinx.Engine {
	t.Helper()
	return workertest.Run(t, pocketsphinx.New(pocketsphinx.Config{Program: program, Log: slog.New(slog.DiscardHandler)}))
}

// understand is listen with a recogniser, which is as fast as can be: it has each
// utterance's words when the speaker pauses.
func understand(t *testing.T, e *pocketsphinx.Engine, samples []int16) (h heard, words []string) {
	t.Helper()
	r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en", Hints: inference.Hints{Context: "Hello, this is Ana of the dental clinic.", Terms: amd.Phrases("en")}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	front, err := listen.NewFrontEnd(denoise.Spectral, vad.Spectral, rate)
	if err != nil {
		t.Fatal(err)
	}
	d, up := amd.New("en", rate), resample.New(rate, media.Rate16k)
	var frame [160]int16
	open, quiet := false, 0
	for n := 0; len(samples) >= len(frame); n, samples = n+1, samples[len(frame):] {
		copy(frame[:], samples)
		f := media.Frame{Samples: frame[:], Rate: rate}
		d.Listen(f)
		clean, a := front.Hear(f)
		wide := up.Process(clean).Samples
		if quiet++; a.Speech {
			open, quiet = true, 0
		}
		if open {
			r.Write(wide)
		}
		if open && quiet == 5 {
			open = false
			words = append(words, await(t, d, r))
		}
		if v := d.Step(a.Speech, a.Level); v != h.verdict {
			h.verdict, h.at = v, time.Duration(n+1)*media.FrameDuration
		}
	}
	return h, words
}

// await gives the detector the words of an utterance that is over, the partial ones too.
func await(t *testing.T, d *amd.Detector, r inference.Recognition) (text string) {
	t.Helper()
	last := r.Finish()
	for x := range r.Results() {
		if x.Err != nil {
			t.Fatal(x.Err)
		}
		d.Words(x.Text)
		if x.Final {
			text += x.Text
		}
		if x.Last && x.Utterance == last {
			return text
		}
	}
	t.Fatal("the recogniser ended")
	return ""
}

// TestWordsHangUpOnNobody: a recogniser that expects a machine's phrases makes no
// machine of a person, and knows an assistant.
func TestWordsHangUpOnNobody(t *testing.T) {
	t.Parallel()
	v, e := newVoices(t), newRecogniser(t)
	for i, a := range append(people[:7:7],
		answer{language: "en", voice: "M2", lead: 300, says: []string{"Good morning, this is the front desk, how may I help?"}},
		answer{language: "en", voice: "F2", lead: 300, says: []string{"Yes, who is calling please?"}, line: white}) {
		samples, _ := a.audio(v, uint64(i))
		h, words := understand(t, e, samples)
		t.Logf("person %v: %v after %v, %q", a, h.verdict, h.at, words)
		if h.verdict != amd.Human && h.verdict != amd.Unknown {
			t.Errorf("%v, heard as %q, is taken for a %v", a, words, h.verdict)
		}
	}
	for i, a := range machines[:6] {
		samples, _ := a.audio(v, uint64(100+i))
		h, words := understand(t, e, samples)
		t.Logf("machine %v: %v after %v, %q", a, h.verdict, h.at, words)
		if h.verdict != amd.Machine || h.at > 4*time.Second {
			t.Errorf("%v is taken for a %v after %v", a, h.verdict, h.at)
		}
	}
	for i, text := range []string{"Record your name and reason for calling, and I'll see if this person is available.", "Hi. Please say your name, and why you're calling."} {
		a := answer{language: "en", voice: "F3", lead: 200, says: []string{text}}
		samples, _ := a.audio(v, uint64(200+i))
		h, words := understand(t, e, samples)
		t.Logf("assistant %v: %v after %v, %q", a, h.verdict, h.at, words)
		if h.verdict != amd.Screening {
			t.Errorf("%v, heard as %q, is taken for a %v", a, words, h.verdict)
		}
	}
}
