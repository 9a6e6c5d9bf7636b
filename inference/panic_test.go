package inference_test

import (
	"testing"
	"testing/synctest"
	"time"

	"parley/inference"
	"parley/inference/enginetest"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsStream: its results end and its engine is released; the stream beside it
// goes on.
func TestPanicEndsItsStream(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
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
