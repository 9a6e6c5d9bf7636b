package synthesiser_test

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"parley/inference"
	"parley/inference/cartesia"
	"parley/inference/cartesia/cartesiatest"
	"parley/inference/deepgram"
	"parley/inference/deepgram/deepgramtest"
	"parley/inference/elevenlabs"
	"parley/inference/elevenlabs/elevenlabstest"
	"parley/inference/enginetest"
	"parley/inference/enginetest/loopbacktest"
	"parley/inference/inworld"
	"parley/inference/inworld/inworldtest"
	"parley/inference/remote"
	"parley/inference/rime"
	"parley/inference/rime/rimetest"
	"parley/inference/synthesiser"
	"parley/media"
)

// setup is what a test wants of a vendor.
type setup struct {
	stall  time.Duration // 0: a minute, for what is tried elsewhere
	chunk  time.Duration // between two chunks; 0: none
	faults []loopbacktest.Fault
}

func (o setup) delay() func() time.Duration {
	return func() time.Duration { return o.chunk }
}

// fake is a vendor on loopback.
type fake struct {
	*loopbacktest.Server
	spoken func() []string // texts, as the vendor joined them
}

// vendor is a vendor of voices, whose characters take 60 ms each.
type vendor struct {
	make    func(t *testing.T, o setup) (*synthesiser.Engine, fake)
	one     bool // a reply is one text
	words   bool // it has the times of whole words
	noSpeed bool
}

const character = 60 * time.Millisecond

var vendors = map[string]vendor{
	"cartesia": {one: true, words: true, make: func(t *testing.T, o setup) (*synthesiser.Engine, fake) {
		s := cartesiatest.New(t, cartesiatest.Script{Faults: o.faults, Delays: cartesiatest.Delays{Chunk: o.delay()}, LateChunks: 2})
		e, err := cartesia.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": cartesiatest.DefaultVoice}, Stall: cmp.Or(o.stall, time.Minute)})
		return made(t, e, err), fake{s.Server, func() (texts []string) {
			for _, c := range s.Contexts() {
				texts = append(texts, c.Text)
			}
			return texts
		}}
	}},
	"elevenlabs": {one: true, noSpeed: true, make: func(t *testing.T, o setup) (*synthesiser.Engine, fake) {
		s := elevenlabstest.New(t, elevenlabstest.Script{Faults: o.faults, Delays: elevenlabstest.Delays{Chunk: o.delay()}})
		e, err := elevenlabs.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": elevenlabstest.DefaultVoice}, Stall: cmp.Or(o.stall, time.Minute)})
		return made(t, e, err), fake{s.Server, func() (texts []string) {
			for _, c := range s.Contexts() {
				texts = append(texts, c.Text)
			}
			return texts
		}}
	}},
	"inworld": {one: true, words: true, make: func(t *testing.T, o setup) (*synthesiser.Engine, fake) {
		s := inworldtest.New(t, inworldtest.Script{Faults: o.faults, Delays: inworldtest.Delays{Chunk: o.delay()}})
		e, err := inworld.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": inworldtest.DefaultVoice}, Stall: cmp.Or(o.stall, time.Minute)})
		return made(t, e, err), fake{s.Server, func() (texts []string) {
			for _, c := range s.Contexts() {
				texts = append(texts, c.Text)
			}
			return texts
		}}
	}},
	"rime": {words: true, make: func(t *testing.T, o setup) (*synthesiser.Engine, fake) {
		s := rimetest.New(t, rimetest.Script{Faults: o.faults, Delays: rimetest.Delays{Chunk: o.delay()}})
		e, err := rime.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": rimetest.DefaultVoice}, Stall: cmp.Or(o.stall, time.Minute)})
		return made(t, e, err), fake{s.Server, func() (texts []string) {
			for _, c := range s.Contexts() {
				texts = append(texts, c.Text)
			}
			return texts
		}}
	}},
	"aura": {noSpeed: true, make: speaks("aura-2-thalia-en")},
	"flux": {make: speaks("flux-haley-en")},
}

// speaks are the voices of Deepgram.
func speaks(model string) func(*testing.T, setup) (*synthesiser.Engine, fake) {
	return func(t *testing.T, o setup) (*synthesiser.Engine, fake) {
		s := deepgramtest.New(t, deepgramtest.Script{Faults: o.faults, Voice: deepgramtest.Voice{LateChunks: 2, Delays: deepgramtest.VoiceDelays{Chunk: o.delay()}}})
		e, err := deepgram.NewTTS(remote.Engine{BaseURL: s.URL, APIKey: s.Key, Voices: synthesiser.Voices{"F1": model}, Stall: cmp.Or(o.stall, time.Minute)})
		return made(t, e, err), fake{s.Server, func() (texts []string) {
			for _, c := range s.Speeches() {
				texts = append(texts, c.Text)
			}
			return texts
		}}
	}
}

func made(t *testing.T, e *synthesiser.Engine, err error) *synthesiser.Engine {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// every runs a test for every vendor.
func every(t *testing.T, run func(t *testing.T, v vendor)) {
	for name, v := range vendors {
		t.Run(name, func(t *testing.T) { run(t, v) })
	}
}

func TestConformance(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		e, s := v.make(t, setup{})
		o := enginetest.TTSOptions{Text: "Good morning to all of you.", Busy: s.Busy, NoSpeed: v.noSpeed}
		t.Run("whole texts", func(t *testing.T) { enginetest.TestTTS(t, e, o) })
		t.Run("utterances", func(t *testing.T) { enginetest.TestStreamingTTS(t, e, o) })
	})
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

// near says that a is b, but for the length of a chunk.
func near(a, b time.Duration) bool { return (a - b).Abs() <= 100*time.Millisecond }

// TestReply: each sentence of a reply is said once and has its end; its words are where they are heard, its usage is what the
// vendor counts.
func TestReply(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		e, s := v.make(t, setup{})
		texts := []string{"Good morning, Ana. ", "We are open. ", "Come in. "}
		begins := []int{0, 19, 32} // in characters
		all := strings.Join(texts, "")
		u := open(t, e)
		for _, text := range texts {
			u.Say(text)
		}
		u.End()
		chunks, length, err := heard(u)
		if want := time.Duration(len(all)) * character; err != nil || !near(length, want) {
			t.Fatalf("%v of audio, want %v, %v", length, want, err)
		}
		if said := s.spoken(); strings.Join(said, "") != all || v.one && len(said) != 1 {
			t.Errorf("the vendor was given %q", said)
		}
		var ends []int
		var usage *inference.Usage
		words := 0
		for _, c := range chunks {
			if c.Last {
				ends = append(ends, c.Say)
			}
			if c.Usage != nil {
				usage = c.Usage
			}
			for _, w := range c.Words {
				words++
				at := time.Duration(begins[c.Say-1]+w.Char) * character
				if w.Char < 0 || !strings.HasPrefix(texts[c.Say-1][w.Char:], w.Text) || v.words && (!near(w.Start, at) || !near(w.End, at+time.Duration(len(w.Text))*character)) {
					t.Errorf("%+v of Say %d, which is at %v", w, c.Say, at)
				}
			}
		}
		if !slices.Equal(ends, []int{1, 2, 3}) || v.words && words != 8 || (words > 0) != e.Info().Caps.WordTimes {
			t.Errorf("ends of %v, %d words", ends, words)
		}
		if b := s.Books(); usage == nil || usage.Characters != b.Characters || !near(usage.Audio, b.Audio) {
			t.Errorf("usage %+v, in the books %d characters and %v", usage, b.Characters, b.Audio)
		}
	})
}

// TestRepliesShareASocket: neither a sentence nor the next reply needs a connection of its own.
func TestRepliesShareASocket(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		e, s := v.make(t, setup{})
		for range 3 {
			u := open(t, e)
			u.Say("Good morning, Ana. ")
			u.Say("We are open. ")
			u.End()
			if _, length, err := heard(u); err != nil || length == 0 {
				t.Fatalf("%v of audio, %v", length, err)
			}
		}
		if n := s.Books().Opened; n != 1 {
			t.Errorf("%d sockets", n)
		}
	})
}

// TestInterruptions: who is interrupted leaves nothing behind, neither at the vendor nor in the next reply.
func TestInterruptions(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		e, s := v.make(t, setup{chunk: 2 * time.Millisecond})
		for n := range 8 {
			u := open(t, e)
			u.Say(strings.Repeat("This goes on for quite some time. ", 5))
			if n%2 == 0 {
				u.End()
			}
			<-u.Chunks()
			u.Cancel()
			for range u.Chunks() {
			}
		}
		u := open(t, e)
		u.Say("Sorry? ")
		u.End()
		if _, length, err := heard(u); err != nil || !near(length, 7*character) {
			t.Errorf("%v of audio, %v", length, err)
		}
		loopbacktest.Await(t, "the end of what was interrupted", func() bool { return s.Busy() == 0 && s.Books().Open <= 4 })
	})
}

// TestFaults: whatever breaks ends the utterance once, and nothing follows.
func TestFaults(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		for what, fault := range map[string]loopbacktest.Fault{
			"cut": {AfterMessages: 3, Then: loopbacktest.Cut}, "bytes": {AfterBytes: 4000}, "invalid": {AfterMessages: 3, Then: loopbacktest.Invalid},
			"huge": {AfterMessages: 3, Then: loopbacktest.Huge}, "closed": {AfterMessages: 3, Then: loopbacktest.Close, Code: 1011, Reason: "gone"},
			"stalled": {AfterMessages: 3, Then: loopbacktest.Stall}, "reported": {AfterMessages: 3, Then: loopbacktest.Fail, Reason: "Good morning"},
		} {
			e, s := v.make(t, setup{stall: 300 * time.Millisecond, faults: []loopbacktest.Fault{fault}})
			u := open(t, e)
			u.Say(strings.Repeat("Good morning to all of you. ", 20))
			u.End()
			_, _, err := heard(u)
			if inference.FaultOf(err) != inference.ErrFailed || strings.Contains(err.Error(), "Good morning") || strings.Contains(err.Error(), s.Key) {
				t.Errorf("%s: %v", what, err)
			}
			if _, more := <-u.Chunks(); more || u.Say("More.") == nil {
				t.Errorf("%s: it goes on", what)
			}
		}
	})
}

// TestSpent: a meter gets what each utterance has consumed, cancelled ones included, before its chunks have ended.
func TestSpent(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		e, s := v.make(t, setup{})
		var spent inference.Usage // written by an utterance, which has ended when it is read
		meter := inference.Meter(func(stage, engine string, u inference.Usage) {
			if stage != inference.StageTTS || engine != e.Info().Name {
				t.Errorf("%s of %s", engine, stage)
			}
			spent = spent.Plus(u)
		})
		for _, cancels := range []bool{false, true} {
			u, err := e.Open(meter.With(t.Context()), inference.VoiceConfig{Voice: "F1", Language: "en"})
			if err != nil {
				t.Fatal(err)
			}
			u.Say("Good morning to all of you. ")
			if cancels {
				<-u.Chunks()
				u.Cancel()
			} else {
				u.End()
			}
			heard(u)
		}
		if n := s.Books().Characters; spent.Characters != n || spent.Requests != 2 || spent.Audio <= 0 {
			t.Errorf("%+v, the vendor counted %d characters", spent, n)
		}
	})
}

// TestOddMessages: what is unknown is passed over, and what lacks fields does no more than end an utterance.
func TestOddMessages(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		for _, then := range []loopbacktest.Action{loopbacktest.Unknown, loopbacktest.Nulls} {
			e, _ := v.make(t, setup{faults: []loopbacktest.Fault{{AfterMessages: 2, Then: then}}})
			u := open(t, e)
			u.Say("Good morning. ")
			u.End()
			if _, length, err := heard(u); then == loopbacktest.Unknown && (err != nil || !near(length, 14*character)) {
				t.Errorf("%v of audio, %v", length, err)
			}
		}
	})
}

// TestRefusals: every status of the handshake has its fault.
func TestRefusals(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		for status, want := range map[int]inference.Fault{
			http.StatusUnauthorized: inference.ErrRefused, http.StatusPaymentRequired: inference.ErrRefused, http.StatusTooManyRequests: inference.ErrUnavailable,
			http.StatusInternalServerError: inference.ErrFailed, http.StatusServiceUnavailable: inference.ErrUnavailable,
		} {
			e, s := v.make(t, setup{faults: []loopbacktest.Fault{{Status: status}}})
			u := open(t, e)
			u.Say("Hello. ")
			if _, _, err := heard(u); inference.FaultOf(err) != want || strings.Contains(err.Error(), s.Key) {
				t.Errorf("status %d: %v", status, err)
			}
		}
	})
}

// TestClose: an engine that is closed has no sockets and no utterances, and opens none.
func TestClose(t *testing.T) {
	every(t, func(t *testing.T, v vendor) {
		e, s := v.make(t, setup{chunk: 2 * time.Millisecond})
		idle, speaking, silent := open(t, e), open(t, e), open(t, e)
		idle.Say("Hello. ")
		idle.End()
		speaking.Say(strings.Repeat("This goes on for quite some time. ", 100))
		<-speaking.Chunks()
		heard(idle)
		if b := s.Books(); b.Open == 0 {
			t.Error("no socket is open")
		}
		e.Close()
		for _, u := range []inference.Utterance{speaking, silent} {
			if chunks, _, err := heard(u); len(chunks) > 0 || err != nil || u.Say("More.") == nil {
				t.Errorf("it goes on: %d chunks, %v", len(chunks), err)
			}
		}
		loopbacktest.Await(t, "the end of the sockets", func() bool { return s.Books().Open == 0 && s.Busy() == 0 })
		if _, err := e.Open(t.Context(), inference.VoiceConfig{Voice: "F1", Language: "en"}); inference.FaultOf(err) != inference.ErrUnavailable {
			t.Errorf("it opens: %v", err)
		}
		e.Close()
	})
}

// TestConfig: what an engine cannot work with is refused before anybody is contacted.
func TestConfig(t *testing.T) {
	voices := synthesiser.Voices{"F1": "one"}
	odd := inference.Options(`{"colour": 9}`)
	for name, errs := range map[string][3]error{
		"rime": {config(rime.NewTTS(remote.Engine{Voices: voices})), config(rime.NewTTS(remote.Engine{APIKey: "k"})), config(rime.NewTTS(remote.Engine{APIKey: "k", Voices: voices, Options: odd}))},
		"inworld": {config(inworld.NewTTS(remote.Engine{Voices: voices})), config(inworld.NewTTS(remote.Engine{APIKey: "k"})),
			config(inworld.NewTTS(remote.Engine{APIKey: "k", Voices: voices, Options: odd}))},
	} {
		for i, want := range []string{"key", "voices", "colour"} {
			if errs[i] == nil || !strings.HasPrefix(errs[i].Error(), name+": ") || !strings.Contains(errs[i].Error(), want) {
				t.Errorf("%s: %v, want %s", name, errs[i], want)
			}
		}
	}
}

func config(_ *synthesiser.Engine, err error) error { return err }
