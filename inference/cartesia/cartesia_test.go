package cartesia_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/cartesia"
	"parley/inference/cartesia/cartesiatest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/remote"
	"parley/inference/synthesiser"
	"parley/media"
)

func engine(t *testing.T, s *cartesiatest.Server, stall time.Duration) *synthesiser.Engine {
	t.Helper()
	e, err := cartesia.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: map[string]string{"F1": cartesiatest.DefaultVoice}, Stall: stall})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var voice = inference.VoiceConfig{Voice: "F1", Language: "en", Rate: media.Rate8k}

func open(t *testing.T, e *synthesiser.Engine) inference.Utterance {
	t.Helper()
	u, err := e.Open(t.Context(), voice)
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

// TestPauseInAReply: the text of a reply may stop for longer than a context lives.
func TestPauseInAReply(t *testing.T) {
	s := cartesiatest.New(t, cartesiatest.Script{ContextLife: time.Second})
	u := open(t, engine(t, s, 0))
	u.Say("One moment. ")
	for c := range u.Chunks() {
		if c.Last {
			break
		}
	}
	time.Sleep(1500 * time.Millisecond) // that time passes is what is tried
	u.Say("There is a table. ")
	u.End()
	chunks, length, err := heard(u)
	if err != nil || length < 500*time.Millisecond || chunks[0].Say != 2 {
		t.Fatalf("%v of audio, %v, %+v", length, err, s.Contexts())
	}
	for _, c := range chunks {
		for _, w := range c.Words {
			if w.Start < 600*time.Millisecond {
				t.Errorf("%+v begins before the first sentence is over", w)
			}
		}
	}
}

// TestLateEnd: the end of a reply may come when its context is long over, and at the very moment when the utterance looks
// whether the vendor owes it anything.
func TestLateEnd(t *testing.T) {
	const stall = 1500 * time.Millisecond
	e := engine(t, cartesiatest.New(t, cartesiatest.Script{ContextLife: time.Second}), stall)
	var ends sync.WaitGroup
	for n := range 40 {
		ends.Go(func() {
			time.Sleep(time.Duration(n) * 20 * time.Millisecond) // one at a time
			u := open(t, e)
			u.Say("One moment. ")
			for c := range u.Chunks() {
				if c.Last {
					break
				}
			}
			time.Sleep(stall) // that time passes is what is tried
			u.End()
			if chunks, _, err := heard(u); err != nil || len(chunks) > 0 {
				t.Errorf("%d chunks, %v", len(chunks), err)
			}
		})
	}
	ends.Wait()
}

// TestClosedMeanwhile: a socket that the vendor has closed is replaced, and nothing is lost or said twice.
func TestClosedMeanwhile(t *testing.T) {
	s := cartesiatest.New(t, cartesiatest.Script{Faults: []loopbacktest.Fault{{Connections: 1, AfterMessages: 30, Then: loopbacktest.Cut}}})
	e := engine(t, s, 0)
	for n := range 20 {
		u := open(t, e)
		u.Say("Good morning. ")
		u.End()
		_, length, err := heard(u)
		if want := time.Duration(len("Good morning. ")) * cartesiatest.CharacterTime; err == nil && (length < want-100*time.Millisecond || length > want+100*time.Millisecond) {
			t.Errorf("utterance %d: %v of audio, want %v", n, length, want)
		}
		if err != nil && n == 0 {
			t.Errorf("%v", err)
		}
	}
	if b := s.Books(); b.Opened != 2 {
		t.Errorf("%d sockets", b.Opened)
	}
}

// TestStalls: a socket that takes text and says nothing is given up after a while, and not used again.
func TestStalls(t *testing.T) {
	s := cartesiatest.New(t, cartesiatest.Script{Faults: []loopbacktest.Fault{{Connections: 1, AfterMessages: 1, Then: loopbacktest.Stall}}})
	e := engine(t, s, 300*time.Millisecond)
	u := open(t, e)
	u.Say("Good morning. ")
	u.End()
	if _, _, err := heard(u); inference.FaultOf(err) != inference.ErrFailed {
		t.Errorf("%v", err)
	}
	u = open(t, e)
	u.Say("Good morning. ")
	u.End()
	if _, length, err := heard(u); err != nil || length == 0 {
		t.Errorf("afterwards: %v of audio, %v", length, err)
	}
}

// TestTooMany: more contexts than the plan has are refused one by one.
func TestTooMany(t *testing.T) {
	s := cartesiatest.New(t, cartesiatest.Script{Contexts: 1, Delays: cartesiatest.Delays{FirstAudio: func() time.Duration { return 300 * time.Millisecond }}})
	e := engine(t, s, 0)
	first, second := open(t, e), open(t, e)
	first.Say("Good morning. ")
	time.Sleep(100 * time.Millisecond) // the first one has its place
	second.Say("Good morning. ")       // and no end: the refusal may come before it, or after
	if _, _, err := heard(second); inference.FaultOf(err) != inference.ErrUnavailable {
		t.Errorf("%v", err)
	}
	first.End()
	if _, length, err := heard(first); err != nil || length == 0 {
		t.Errorf("the first: %v, %v", length, err)
	}
}

func TestWarm(t *testing.T) {
	s := cartesiatest.New(t, cartesiatest.Script{})
	e := engine(t, s, 0)
	e.Warm(t.Context())
	e.Warm(t.Context())
	u := open(t, e)
	u.Say("Hello. ")
	u.End()
	heard(u)
	if b := s.Books(); b.Opened != 1 {
		t.Errorf("%d sockets", b.Opened)
	}
}

func TestConfig(t *testing.T) {
	voices := map[string]string{"F1": "one"}
	for want, c := range map[string]remote.Engine{
		"key": {Voices: voices}, "voices": {APIKey: "k"}, "F1 to F5": {APIKey: "k", Voices: map[string]string{"X": "one"}},
		"volume": {APIKey: "k", Voices: voices, Options: inference.Options(`{"volume": 9}`)}, "colour": {APIKey: "k", Voices: voices, Options: inference.Options(`{"colour": 9}`)},
	} {
		if _, err := cartesia.NewTTS(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
