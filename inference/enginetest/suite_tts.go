package enginetest

import (
	"context"
	"iter"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"parley/inference"
	"parley/media"
)

// TTSOptions is what TestTTS has to know of the engine.
type TTSOptions struct {
	// Text is spoken in every language of the engine; empty means a sentence that
	// any of them can read.
	Text string
	// NoSpeed is set for engines that ignore Speech.Speed.
	NoSpeed bool
	// Busy says how many texts the engine, or the server behind it, is still
	// working on. nil when that is not known.
	Busy func() int
	// Run is synctest.Test for an engine that lives in simulated time.
	Run func(*testing.T, func(*testing.T))
}

// TestTTS checks that an engine keeps the contract of inference.TTS.
func TestTTS(t *testing.T, engine inference.TTS, o TTSOptions) {
	if o.Text == "" {
		o.Text = "Santa Maria, 27, Madrid. Taxi, hotel, restaurant, 3 - 4. Tomorrow at nine, at the station, with Ana and Leo."
	}
	s := ttsSuite{engine, o}
	bubble(o.Run).runAll(t, []check{
		{"info", s.info},
		{"languages", s.languages},
		{"voices", s.voices},
		{"unknown", s.unknown},
		{"speed", s.speed},
		{"empty", s.empty},
		{"ownership", s.ownership},
		{"cancelled before", s.cancelledBefore},
		{"cancelled midway", s.cancelledMidway},
		{"left", s.left},
		{"concurrent", s.concurrent},
	})
}

type ttsSuite struct {
	engine inference.TTS
	o      TTSOptions
}

// speech is the suite's text in the engine's first voice and language.
func (s ttsSuite) speech() inference.Speech {
	return inference.Speech{Text: s.o.Text, VoiceConfig: inference.VoiceConfig{Voice: s.engine.Voices()[0].ID, Language: s.engine.Info().Languages[0]}}
}

// speak reads a whole text, checks its chunks and returns the audio's length.
func (s ttsSuite) speak(t *testing.T, p inference.Speech) time.Duration {
	t.Helper()
	o := collect(t, s.engine.Speak(t.Context(), p), nil)
	if o.err != nil {
		t.Errorf("%s %s: error %v", p.Voice, p.Language, o.err)
		return 0
	}
	if len(o.values) == 0 {
		t.Errorf("%s %s: no audio", p.Voice, p.Language)
		return 0
	}
	rate := o.values[0].Rate
	if !rate.Valid() {
		t.Errorf("rate %v", rate)
		return 0
	}
	samples, loud := 0, false
	for _, c := range o.values {
		if c.Rate != rate {
			t.Errorf("the rate changes from %v to %v", rate, c.Rate)
		}
		samples += len(c.Samples)
		for _, v := range c.Samples {
			loud = loud || v > 300 || v < -300
		}
	}
	if !loud {
		t.Errorf("%s %s: %d samples of silence", p.Voice, p.Language, samples)
	}
	length := rate.Duration(samples)
	words := func(c inference.Chunk) []inference.Mark { return c.Words }
	phones := func(c inference.Chunk) []inference.Mark { return c.Phones }
	checkMarks(t, p.Text, o.values, words, length)
	checkMarks(t, p.Text, o.values, phones, length)
	return length.Duration()
}

// checkMarks checks that marks are in order, inside the audio and, when they
// name a place in the text, in order there too.
func checkMarks(t *testing.T, text string, chunks []inference.Chunk, of func(inference.Chunk) []inference.Mark, length media.Time) {
	t.Helper()
	total := length.Duration()
	runes := utf8.RuneCountInString(text)
	var last inference.Mark
	last.Char = -1
	for _, c := range chunks {
		for _, m := range of(c) {
			if m.Start < last.Start || m.Start > total || m.End != 0 && (m.End < m.Start || m.End > total) {
				t.Errorf("mark %+v after %+v in %v of audio", m, last, total)
			}
			if m.Char < -1 || m.Char >= runes || m.Char >= 0 && m.Char < last.Char {
				t.Errorf("mark %+v after %+v in a text of %d", m, last, runes)
			}
			if m.Char < 0 {
				m.Char = last.Char
			}
			last = m
		}
	}
}

func (s ttsSuite) info(t *testing.T) {
	if s.engine.Info().Name == "" {
		t.Error("no name")
	}
	languages(t, s.engine.Info().Languages)
	seen := map[string]bool{}
	for _, v := range s.engine.Voices() {
		if v.ID == "" || seen[v.ID] || v.Gender != "female" && v.Gender != "male" {
			t.Errorf("voice %+v", v)
		}
		seen[v.ID] = true
	}
	if len(seen) == 0 {
		t.Error("no voices")
	}
}

func (s ttsSuite) languages(t *testing.T) {
	p := s.speech()
	for _, p.Language = range s.engine.Info().Languages {
		s.speak(t, p)
	}
}

func (s ttsSuite) voices(t *testing.T) {
	p := s.speech()
	for _, v := range s.engine.Voices() {
		p.Voice = v.ID
		s.speak(t, p)
	}
}

func (s ttsSuite) unknown(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*inference.Speech)
		want   inference.Fault
	}{
		"voice":    {func(p *inference.Speech) { p.Voice = "X9" }, inference.ErrVoice},
		"language": {func(p *inference.Speech) { p.Language = "xx" }, inference.ErrLanguage},
	} {
		p := s.speech()
		c.change(&p)
		o := collect(t, s.engine.Speak(t.Context(), p), nil)
		if inference.FaultOf(o.err) != c.want || len(o.values) > 0 {
			t.Errorf("unknown %s: %d chunks, then %v", name, len(o.values), o.err)
		}
	}
}

func (s ttsSuite) speed(t *testing.T) {
	if s.o.NoSpeed {
		return
	}
	p := s.speech()
	p.Speed = 2
	fast := s.speak(t, p)
	p.Speed = 0.5
	if slow := s.speak(t, p); slow < fast*2 {
		t.Errorf("%v at half speed and %v at double speed", slow, fast)
	}
}

// empty: nothing to say is no fault and no hang.
func (s ttsSuite) empty(t *testing.T) {
	for _, text := range []string{"", " \n"} {
		p := s.speech()
		p.Text = text
		if o := collect(t, s.engine.Speak(t.Context(), p), nil); o.err != nil {
			t.Errorf("%q: error %v", text, o.err)
		}
	}
}

// ownership: what the receiver does to a chunk stays done.
func (s ttsSuite) ownership(t *testing.T) {
	const mine = 0x5555
	o := collect(t, s.engine.Speak(t.Context(), s.speech()), func(c inference.Chunk) bool {
		for i := range c.Samples {
			c.Samples[i] = mine
		}
		return true
	})
	for n, c := range o.values {
		for _, v := range c.Samples {
			if v != mine {
				t.Fatalf("chunk %d of %d was written to after it was handed over", n, len(o.values))
			}
		}
	}
}

func (s ttsSuite) cancelledBefore(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if o := collect(t, s.engine.Speak(ctx, s.speech()), nil); len(o.values) > 0 {
		t.Errorf("%d chunks under a cancelled context", len(o.values))
	}
	idle(t, s.o.Busy)
}

func (s ttsSuite) long() inference.Speech {
	p := s.speech()
	p.Text = strings.Repeat(p.Text+" ", 10)
	return p
}

func (s ttsSuite) cancelledMidway(t *testing.T) {
	cancelAfterFirst(t, s.open(s.long()))
	idle(t, s.o.Busy)
	s.speak(t, s.speech())
}

func (s ttsSuite) open(p inference.Speech) func(context.Context) iter.Seq2[inference.Chunk, error] {
	return func(ctx context.Context) iter.Seq2[inference.Chunk, error] { return s.engine.Speak(ctx, p) }
}

func (s ttsSuite) left(t *testing.T) {
	collect(t, s.engine.Speak(t.Context(), s.long()), func(inference.Chunk) bool { return false })
	idle(t, s.o.Busy)
	s.speak(t, s.speech())
}

func (s ttsSuite) concurrent(t *testing.T) {
	p := s.speech()
	want := s.speak(t, p)
	many(8, func(i int) {
		if i%2 == 1 {
			cancelAfterFirst(t, s.open(s.long()))
			return
		}
		// Engines may differ by some samples from run to run, not by a tenth.
		if got := s.speak(t, p); got < want*9/10 || got > want*11/10 {
			t.Errorf("%v of audio among others, %v alone", got, want)
		}
	})
	idle(t, s.o.Busy)
}
