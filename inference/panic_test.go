package inference_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media/isolate"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsStream: its results end and its engine is released; the stream beside it
// goes on.
func TestPanicEndsItsStream(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		if site.Name == "inference/utterance" {
			synctest.Test(t, panicEndsAnUtterance)
			return
		}
		synctest.Test(t, func(t *testing.T) {
			engine := enginetest.NewFakeASR()
			engine.Texts = []string{"still here"}
			asr := inference.NewFailoverASR(inference.FailoverConfig{}, engine)
			open := func() inference.Recognition {
				r, err := asr.Open(t.Context(), inference.ASRConfig{})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			other := open()
			defer other.Close()
			synctest.Wait()
			isolatetest.Inject(t, site.Name)
			broken := open()
			for r := range broken.Results() {
				t.Errorf("a result: %+v", r)
			}
			broken.Write(audio(0, 320))
			broken.Close()
			if n := engine.Busy(); n != 1 {
				t.Errorf("%d streams of the engine are open, want 1", n)
			}
			other.Write(audio(0, 16000))
			time.Sleep(time.Second)
			if got := lasts(t, other, other.Finish()); len(got) != 1 || got[0] != "1 still here <nil>" {
				t.Errorf("the other stream heard %q", got)
			}
		})
	})
}

// panicEndsAnUtterance: its chunks end with the panic, and the one beside it goes on.
func panicEndsAnUtterance(t *testing.T) {
	tts := enginetest.NewFakeTTS()
	open := func() inference.Utterance {
		u, err := inference.Streaming(tts).Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	other := open()
	synctest.Wait()
	isolatetest.Inject(t, "inference/utterance")
	broken := open()
	if c := <-broken.Chunks(); !errors.Is(c.Err, isolate.Internal) {
		t.Errorf("a chunk: %+v", c)
	}
	for c := range broken.Chunks() {
		t.Errorf("a chunk: %+v", c)
	}
	if err := broken.Say("Hello."); err == nil {
		t.Error("the broken utterance takes text")
	}
	if err := other.Say("Still here."); err != nil {
		t.Error(err)
	}
	other.End()
	n := 0
	for range other.Chunks() {
		n++
	}
	if n == 0 {
		t.Error("the other utterance has no audio")
	}
}
