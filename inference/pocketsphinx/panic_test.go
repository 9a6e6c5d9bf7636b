package pocketsphinx

import (
	"testing"

	"parley/inference"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsStream: its results end and its decoder is free; the stream beside it
// goes on.
func TestPanicEndsItsStream(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		e := start(t, Config{})
		speech := audio(t)
		beside := open(t, e, prompt)
		recognise(t, beside, speech) // it has begun
		isolatetest.Inject(t, site.Name)
		broken, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"})
		if err != nil {
			t.Fatal(err)
		}
		for r := range broken.Results() {
			t.Errorf("a result: %+v", r)
		}
		write(broken, speech)
		broken.Finish()
		broken.Close()
		if n, general := e.pool.Busy(), e.generals.Load(); n != 1 || general != 0 {
			t.Errorf("%d decoders are taken, %d of them with the general model; want 1 and none", n, general)
		}
		if n := e.Lag(); n != 0 {
			t.Errorf("%s of audio wait for ever", n)
		}
		if got := recognise(t, beside, speech); got != question {
			t.Errorf("the stream beside it heard %q", got)
		}
	})
}
