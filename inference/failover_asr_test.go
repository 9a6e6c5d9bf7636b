package inference_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media"
)

// ears is two recognisers behind a failover.
type ears struct {
	a, b *enginetest.FakeASR
	asr  *inference.FailoverASR
}

func newEars(c inference.FailoverConfig) ears {
	e := ears{a: enginetest.NewFakeASR(), b: enginetest.NewFakeASR()}
	e.a.FinalAfter = -1
	e.b.Texts = []string{"one", "two", "three"}
	e.a.Keep, e.b.Keep = true, true
	e.asr = inference.NewFailoverASR(c, e.a, e.b)
	return e
}

// audio is n samples that count from a start.
func audio(from, n int) []int16 {
	s := make([]int16, n)
	for i := range s {
		s[i] = int16(from + i)
	}
	return s
}

// lasts reads results until the last one of an utterance.
func lasts(t *testing.T, r inference.Recognition, utterance int) (log []string) {
	t.Helper()
	for x := range r.Results() {
		log = append(log, fmt.Sprint(x.Utterance, " ", x.Text, " ", x.Err))
		if x.Last && x.Utterance == utterance || x.Err != nil {
			return log
		}
	}
	t.Fatalf("stream ended after %q", log)
	return nil
}

// TestSpeechChangesHands: an engine dies while one utterance waits for its
// result and another is being spoken; the next engine hears both.
func TestSpeechChangesHands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		r, err := e.asr.Open(t.Context(), inference.ASRConfig{Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		dying := e.a.Streams()[0]
		r.Write(audio(0, 5000))
		r.Finish()
		dying.Final("first")
		if got := lasts(t, r, 1); !slices.Equal(got, []string{"1 first <nil>"}) {
			t.Fatalf("before the failure %q", got)
		}
		r.Write(audio(5000, 17000))
		r.Finish()
		r.Write(audio(22000, 300))
		dying.Fail(enginetest.ErrFake)
		synctest.Wait()
		r.Write(audio(22300, 200))
		r.Finish()
		if got, want := lasts(t, r, 3), []string{"2 one <nil>", "3 two <nil>"}; !slices.Equal(got, want) {
			t.Errorf("after the failure %q, want %q", got, want)
		}
		heir := e.b.Streams()[0]
		if !slices.Equal(heir.Audio(), audio(5000, 17500)) || heir.Finishes() != 2 {
			t.Errorf("the next engine got %d samples and %d ends", heir.Written(), heir.Finishes())
		}
		if e.a.Busy() != 0 {
			t.Error("the dead stream is not closed")
		}
	})
}

// TestAudioAsItCame: a stream has the format of the telephone where every engine takes it, also for the one that takes over.
func TestAudioAsItCame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		telephone := inference.Format{Encoding: inference.PCMU, Rate: media.Rate8k}
		takes := func() inference.Format {
			info := e.asr.Info()
			return info.Takes(media.Rate8k)
		}
		e.a.Raw, e.a.Caps.In = true, []inference.Format{telephone}
		if f := takes(); f != (inference.Format{}) {
			t.Errorf("%+v, which one of two takes", f)
		}
		e.b.Raw, e.b.Caps.In = true, []inference.Format{{Rate: media.Rate8k}, telephone}
		if f := takes(); f != telephone {
			t.Errorf("%+v, want what both take", f)
		}
		r, err := e.asr.Open(t.Context(), inference.ASRConfig{Format: telephone})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		for range 20 {
			r.Write(audio(0, 8000))
		}
		e.a.Streams()[0].Fail(enginetest.ErrFake)
		synctest.Wait()
		heir := e.b.Streams()[0]
		if n, f := heir.Written(), heir.Config().Format; n != 15*8000 || f != telephone {
			t.Errorf("the next engine got %d samples as %+v", n, f)
		}
	})
}

// TestLanguageAcrossEngines: where the caller may change language one that finds out which it hears does, and one that takes over
// and cannot hears the one that is expected.
func TestLanguageAcrossEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		e.b.Caps.Detects = true
		if e.asr.Info().Caps.Detects {
			t.Error("both detect, which one of two does")
		}
		e.a.Caps.Detects, e.b.Caps.Detects = true, false
		if e.asr.Info().Caps.Detects {
			t.Error("both detect, which one of two does")
		}
		r, err := e.asr.Open(t.Context(), inference.ASRConfig{Language: "es", Detect: true})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		e.a.Streams()[0].Fail(enginetest.ErrFake)
		synctest.Wait()
		if a, b := e.a.Streams()[0].Config().Language, e.b.Streams()[0].Config().Language; a != "" || b != "es" {
			t.Errorf("one hears %q, the other %q", a, b)
		}
	})
}

// TestResumeAcrossEngines: a Finish that was taken back stays so.
func TestResumeAcrossEngines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		r, _ := e.asr.Open(t.Context(), inference.ASRConfig{})
		defer r.Close()
		r.Write(audio(0, 100))
		r.Finish()
		r.Resume()
		e.a.Streams()[0].Fail(enginetest.ErrFake)
		synctest.Wait()
		r.Write(audio(100, 100))
		if n := r.Finish(); n != 1 {
			t.Errorf("Finish says %d", n)
		}
		if got := lasts(t, r, 1); !slices.Equal(got, []string{"1 one <nil>"}) {
			t.Errorf("got %q", got)
		}
		if n := e.b.Streams()[0].Finishes(); n != 1 {
			t.Errorf("%d ends", n)
		}
	})
}

// TestStandInGetsSpeechAlone: where the preferred engine gets all audio and one takes over that wants speech alone, it gets that,
// also of what it has to hear again; times of words stay those since the beginning of an utterance's audio.
func TestStandInGetsSpeechAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		e.a.Feed, e.b.Feed = inference.FeedContinuous, inference.FeedBatch
		e.b.FinalAfter, e.b.Plan = -1, []enginetest.Heard{{At: time.Second, Text: "one", Final: true, Words: []inference.Mark{{Text: "one", Start: 100 * time.Millisecond, End: 300 * time.Millisecond}}}}
		r, err := e.asr.Open(t.Context(), inference.ASRConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		speaks := func(before int) { r.(inference.Cutter).Speech(before) }
		r.Write(audio(0, 16000)) // a second, of which the last fifth is speech
		speaks(3200)
		r.Write(audio(16000, 3200))
		r.Finish()
		r.Write(audio(19200, 1000)) // silence
		dying := e.a.Streams()[0]
		dying.Fail(enginetest.ErrFake)
		synctest.Wait()
		heir := e.b.Streams()[0]
		want := audio(12800, 6400)
		gets := func(what string) {
			t.Helper()
			if got := heir.Audio(); !slices.Equal(got, want) {
				t.Fatalf("%s: the next engine has %d samples, want %d", what, len(got), len(want))
			}
		}
		gets("what it hears again")
		heard := <-r.Results()
		if w := heard.Words; len(w) != 1 || w[0].Start != 900*time.Millisecond || w[0].End != 1100*time.Millisecond {
			t.Errorf("words at %v", w)
		}
		r.Write(audio(20200, 12000)) // silence
		gets("silence")
		speaks(500)
		want = append(want, audio(31700, 500)...)
		gets("the beginning of an utterance")
		speaks(12000) // it has begun
		r.Write(audio(32200, 500))
		want = append(want, audio(32200, 500)...)
		r.Finish()
		r.Write(audio(32700, 300))
		gets("a pause")
		r.Resume()
		r.Write(audio(33000, 100))
		want = append(want, audio(32700, 400)...)
		r.Finish()
		gets("an utterance that goes on")
		if dying.Written() != 20200 {
			t.Errorf("the first engine had %d samples, want all", dying.Written())
		}
	})
}

// TestStandInGoesOnWithSpeech: an utterance that goes on and began on a stream before this one begins where it goes on.
func TestStandInGoesOnWithSpeech(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		e.a.Feed, e.b.Feed = inference.FeedContinuous, inference.FeedBatch
		r, err := e.asr.Open(t.Context(), inference.ASRConfig{})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		e.a.Streams()[0].Fail(enginetest.ErrFake)
		synctest.Wait()
		r.Write(audio(0, 16000)) // silence
		r.Resume()
		r.Write(audio(16000, 800))
		r.Finish()
		if got := e.b.Streams()[0].Audio(); !slices.Equal(got, audio(16000, 800)) {
			t.Errorf("it has %d samples, want 800", len(got))
		}
	})
}

// TestPieceIsNotHeardTwice: what is in a final result is not replayed.
func TestPieceIsNotHeardTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		r, _ := e.asr.Open(t.Context(), inference.ASRConfig{})
		defer r.Close()
		r.Write(audio(0, 1000))
		e.a.Streams()[0].Final("piece")
		<-r.Results()
		r.Write(audio(1000, 500))
		e.a.Streams()[0].Fail(enginetest.ErrFake)
		r.Finish()
		if got := lasts(t, r, 1); !slices.Equal(got, []string{"1 one <nil>"}) {
			t.Errorf("got %q", got)
		}
		if !slices.Equal(e.b.Streams()[0].Audio(), audio(1000, 500)) {
			t.Error("the audio of the piece was replayed")
		}
	})
}

// TestEverybodyDies: the last engine's fault ends the stream, and how often a
// dying engine is opened again is bounded.
func TestEverybodyDies(t *testing.T) {
	for _, engines := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			e := newEars(inference.FailoverConfig{})
			e.a.Plan = []enginetest.Heard{{At: time.Second, Err: enginetest.ErrFake}}
			e.b.Plan = e.a.Plan
			asr := inference.NewFailoverASR(inference.FailoverConfig{}, e.a)
			if engines == 2 {
				asr = e.asr
			}
			r, err := asr.Open(t.Context(), inference.ASRConfig{})
			if err != nil {
				t.Fatal(err)
			}
			var last inference.Result
			for last = range r.Results() {
			}
			if last.Err != enginetest.ErrFake {
				t.Errorf("last result %+v", last)
			}
			if a, b := len(e.a.Streams()), len(e.b.Streams()); a+b != 2 || b != engines-1 {
				t.Errorf("opened %d and %d streams", a, b)
			}
			r.Write(audio(0, 320))
			r.Finish()
			r.Close()
		})
	}
}

func TestOpenMovesOn(t *testing.T) {
	for name, breakIt := range map[string]func(*enginetest.FakeASR){
		"fails":    func(a *enginetest.FakeASR) { a.OpenErr = enginetest.ErrFake },
		"hangs":    func(a *enginetest.FakeASR) { a.OpenDelay = time.Hour },
		"language": func(a *enginetest.FakeASR) { a.Languages = []string{"de"} },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newEars(inference.FailoverConfig{First: time.Second})
				breakIt(e.a)
				r, err := e.asr.Open(t.Context(), inference.ASRConfig{Language: "en"})
				if err != nil || len(e.b.Streams()) != 1 {
					t.Fatalf("%d streams at the second engine, %v", len(e.b.Streams()), err)
				}
				time.Sleep(time.Minute) // the wait to open is no limit to the stream
				r.Finish()
				lasts(t, r, 1)
				r.Close()
				if e.b.OpenErr = enginetest.ErrFake; name == "fails" {
					if _, err := e.asr.Open(t.Context(), inference.ASRConfig{}); err != enginetest.ErrFake {
						t.Errorf("with all down: %v", err)
					}
				}
			})
		})
	}
}

// TestTooManyUtterances: marks are never dropped, the stream fails instead.
func TestTooManyUtterances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		r, _ := e.asr.Open(t.Context(), inference.ASRConfig{})
		for range 65 {
			r.Finish()
		}
		var last inference.Result
		for last = range r.Results() {
		}
		if inference.FaultOf(last.Err) != inference.ErrFailed {
			t.Errorf("last result %+v", last)
		}
		r.Close()
	})
}

func TestFailoverWriteDoesNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	e := newEars(inference.FailoverConfig{})
	e.a.Keep = false
	r, err := e.asr.Open(t.Context(), inference.ASRConfig{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	frame := make([]int16, 320)
	if n := testing.AllocsPerRun(2000, func() { r.Write(frame) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
}

// TestNextEngineKnowsTheCall: what the agent said and how turns end reaches the engine
// in use and to the one that takes over; the prompt stays on this machine.
func TestNextEngineKnowsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newEars(inference.FailoverConfig{})
		e.b.Local = true
		hints := inference.Hints{Terms: []string{"Casa Lola"}, Context: "Hello!", Prompt: "private"}
		r, err := e.asr.Open(t.Context(), inference.ASRConfig{Language: "en", Hints: hints})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		r.Said("For how many?")
		r.Configure(inference.TurnOptions{Threshold: 0.7})
		far := e.a.Streams()[0]
		far.Fail(enginetest.ErrFake)
		synctest.Wait()
		near := e.b.Streams()[0]
		for _, s := range []*enginetest.FakeStream{far, near} {
			if c := s.Config(); c.AgentSaid != "For how many?" || c.Turns.Threshold != 0.7 {
				t.Errorf("config %+v", c)
			}
		}
		if got := far.Config().Hints; got.Prompt != "" || got.Context != "Hello!" || len(got.Terms) != 1 {
			t.Errorf("the far engine was given %+v", got)
		}
		if got := near.Config().Hints; got.Prompt != "private" {
			t.Errorf("the near engine was given %+v", got)
		}
	})
}
