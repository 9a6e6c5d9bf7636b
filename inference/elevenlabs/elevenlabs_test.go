package elevenlabs_test

import (
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/elevenlabs"
	"parley/inference/elevenlabs/elevenlabstest"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

func engine(t *testing.T, s *elevenlabstest.Server, stall time.Duration) *synthesiser.Engine {
	t.Helper()
	e, err := elevenlabs.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": elevenlabstest.DefaultVoice}, Stall: stall})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func open(t *testing.T, e *synthesiser.Engine) inference.Utterance {
	t.Helper()
	u, err := e.Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en", Rate: media.Rate8k})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// heard reads an utterance to its end.
func heard(u inference.Utterance) (chunks []inference.Chunk, length time.Duration, err error) {
	for c := range u.Chunks() {
		if c.Err != nil {
			return chunks, length, c.Err
		}
		chunks, length = append(chunks, c), length+c.Length()
	}
	return chunks, length, nil
}

// TestWords: whatever the alignment counts from, and however it is spelled, words are where they are heard, and
// each sentence has its end.
func TestWords(t *testing.T) {
	for _, absolute := range []bool{false, true} {
		for _, spelling := range []elevenlabstest.Spelling{{}, {Context: true, Final: true, Starts: true, Durations: true}} {
			s := elevenlabstest.New(t, elevenlabstest.Script{Absolute: absolute, Spelling: spelling})
			u := open(t, engine(t, s, 0))
			texts := []string{"Good morning, Ana. ", "We are open. "}
			for _, text := range texts {
				u.Say(text)
			}
			u.End()
			chunks, length, err := heard(u)
			if err != nil || length < time.Second {
				t.Fatalf("%v of audio, %v", length, err)
			}
			var ends []int
			last := time.Duration(0)
			for _, c := range chunks {
				if c.Last {
					ends = append(ends, c.Say)
				}
				for _, w := range c.Words {
					if w.Start < last || w.Start > length {
						t.Errorf("absolute %v: %+v after %v in %v", absolute, w, last, length)
					}
					last = w.Start
				}
			}
			if len(ends) != 2 || ends[0] != 1 || ends[1] != 2 || last < length/2 {
				t.Errorf("absolute %v: ends %v, the last word at %v of %v", absolute, ends, last, length)
			}
			if all := s.Contexts(); len(all) != 1 || strings.TrimSpace(all[0].Text) != strings.TrimSpace(strings.Join(texts, "")) {
				t.Errorf("contexts %+v", all)
			}
		}
	}
}

// TestInterruptions: contexts that are cancelled one after the other never are more than a socket may have.
func TestInterruptions(t *testing.T) {
	s := elevenlabstest.New(t, elevenlabstest.Script{Final: func() time.Duration { return 200 * time.Millisecond }})
	e := engine(t, s, 0)
	for range 12 {
		u := open(t, e)
		u.Say("Good morning to all of you. ")
		<-u.Chunks()
		u.Cancel()
		for range u.Chunks() {
		}
	}
	u := open(t, e)
	u.Say("Sorry? ")
	u.End()
	if _, length, err := heard(u); err != nil || length == 0 {
		t.Errorf("%v of audio, %v", length, err)
	}
}
