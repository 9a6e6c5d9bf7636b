package synthesiser_test

import (
	"testing"

	"parley/inference"
	"parley/inference/cartesia"
	"parley/inference/cartesia/cartesiatest"
	"parley/inference/remote"
	"parley/media/isolate/isolatetest"
)

// TestPanicEndsItsUtterance: its chunks end; the utterance beside it, on a socket of its own, goes on.
func TestPanicEndsItsUtterance(t *testing.T) {
	isolatetest.Each(t, func(t *testing.T, site isolatetest.Site) {
		s := cartesiatest.New(t, cartesiatest.Script{})
		open := func() inference.Utterance {
			e, err := cartesia.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: map[string]string{"F1": cartesiatest.DefaultVoice}})
			if err != nil {
				t.Fatal(err)
			}
			u, err := e.Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en"})
			if err != nil {
				t.Fatal(err)
			}
			u.Say("Good morning. ")
			return u
		}
		other := open()
		<-other.Chunks() // it has begun
		isolatetest.Inject(t, site.Name)
		broken := open()
		for c := range broken.Chunks() {
			if len(c.Samples) > 0 {
				t.Errorf("%d samples", len(c.Samples))
			}
		}
		if broken.Say("More.") == nil {
			t.Error("it takes more text")
		}
		other.Say("Still here. ")
		other.End()
		said := map[int]bool{}
		for c := range other.Chunks() {
			if c.Err != nil {
				t.Error(c.Err)
			}
			said[c.Say] = true
		}
		if !said[2] {
			t.Error("the other utterance has ended")
		}
	})
}
