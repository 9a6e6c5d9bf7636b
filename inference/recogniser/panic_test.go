package recogniser_test

import (
	"slices"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/deepgram"
	"parley/inference/deepgram/deepgramtest"
	"parley/inference/remote"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsStream: its results end; the stream beside it goes on.
func TestPanicEndsItsStream(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		s := deepgramtest.New(t, deepgramtest.Script{Utterances: slices.Repeat([]deepgramtest.Utterance{{Text: "still here", Length: 500 * time.Millisecond}}, 4)})
		e, err := deepgram.NewASR(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Model: "nova-3"})
		if err != nil {
			t.Fatal(err)
		}
		open := func() inference.Recognition {
			r, err := e.Open(t.Context(), inference.ASRConfig{Language: "en"})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		other := open()
		defer other.Close()
		speak := func() (text string) {
			audio := make([]int16, 16000)
			for i := range audio[:8000] {
				audio[i] = int16(8000 - 16000*(i%2))
			}
			other.Write(audio)
			n := other.Finish()
			for r := range other.Results() {
				if r.Final {
					text += r.Text
				}
				if r.Utterance == n && r.Last {
					break
				}
			}
			return text
		}
		speak() // it has begun
		isolatetest.Inject(t, site.Name)
		broken := open()
		for r := range broken.Results() {
			t.Errorf("a result: %+v", r)
		}
		broken.Write(make([]int16, 320))
		broken.Close()
		if text := speak(); text != "still here" {
			t.Errorf("the other stream heard %q", text)
		}
	})
}
