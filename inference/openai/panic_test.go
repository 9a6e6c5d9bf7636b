package openai

import (
	"testing"

	"parley/inference"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsStream: its results end; the stream beside it goes on.
func TestPanicEndsItsStream(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		c := newServer(t, (&scribe{}).ServeHTTP).config()
		_, other := openStream(t, c, inference.ASRConfig{Language: "en"})
		defer other.Close()
		speak := func() inference.Result {
			other.Write(counting(7, 4000))
			other.Finish()
			return <-other.Results()
		}
		speak() // it has begun
		isolatetest.Inject(t, site.Name)
		_, broken := openStream(t, c, inference.ASRConfig{Language: "en"})
		for r := range broken.Results() {
			t.Errorf("a result: %+v", r)
		}
		broken.Write(counting(0, 320))
		broken.Close()
		if r := speak(); r.Text != "4000 samples" || r.Err != nil {
			t.Errorf("the other stream heard %+v", r)
		}
	})
}
