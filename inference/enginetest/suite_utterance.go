package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"parley/inference"
)

// TestStreamingTTS checks that an engine keeps the contract of
// inference.StreamingTTS beyond that of inference.TTS.
func TestStreamingTTS(t *testing.T, engine inference.StreamingTTS, o TTSOptions) {
	s := utteranceSuite{engine, o}
	bubble(o.Run).runAll(t, []check{
		{"says", s.says},
		{"text in pieces", s.inPieces},
		{"flush", s.flush},
		{"nothing said", s.nothingSaid},
		{"unknown voice", s.unknownVoice},
		{"cancel", s.cancel},
		{"cancelled", s.cancelled},
		{"nobody reads", s.nobodyReads},
		{"concurrent", s.concurrent},
	})
}

type utteranceSuite struct {
	engine inference.StreamingTTS
	o      TTSOptions
}

func (s utteranceSuite) voice() inference.VoiceConfig {
	return inference.VoiceConfig{Voice: s.engine.Voices()[0].ID, Language: s.engine.Info().Languages[0]}
}

func (s utteranceSuite) open(t *testing.T, ctx context.Context) inference.Utterance {
	t.Helper()
	u, err := s.engine.Open(ctx, s.voice())
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return u
}

// say has the utterance say texts; it fails the test when that is refused.
func (s utteranceSuite) say(t *testing.T, u inference.Utterance, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if err := u.Say(text); err != nil {
			t.Errorf("Say(%q): %v", text, err)
		}
	}
}

// rest reads the chunks to their end and returns how much audio each Say got,
// by its number, and the error.
func (s utteranceSuite) rest(t *testing.T, u inference.Utterance) (audio map[int]time.Duration, err error) {
	t.Helper()
	audio = map[int]time.Duration{}
	inTime(t, "the utterance", func() {
		say, last := 1, inference.Mark{}
		for c := range u.Chunks() {
			switch {
			case err != nil:
				t.Errorf("a chunk after the error %v", err)
			case c.Err != nil:
				err = c.Err
				continue
			case c.Say < say:
				t.Errorf("audio of Say %d after that of %d", c.Say, say)
			case !c.Rate.Valid() && (len(c.Samples) > 0 || !c.Last):
				t.Errorf("rate %v", c.Rate)
			}
			say = c.Say
			if len(c.Samples) > 0 {
				audio[say] += c.Length()
			}
			for _, m := range c.Words {
				if m.Start < last.Start || m.End != 0 && m.End < m.Start {
					t.Errorf("mark %+v after %+v", m, last)
				}
				last = m
			}
		}
	})
	return audio, err
}

// says: two sentences in one utterance are heard one after the other.
func (s utteranceSuite) says(t *testing.T) {
	u := s.open(t, t.Context())
	s.say(t, u, "Good morning to you. ", "We are open until nine. ")
	if err := u.End(); err != nil {
		t.Errorf("End: %v", err)
	}
	if err := u.Say("Too late."); !errors.Is(err, inference.ErrUtteranceEnded) {
		t.Errorf("Say after End: %v", err)
	}
	audio, err := s.rest(t, u)
	if err != nil || len(audio) != 2 || audio[1] < 300*time.Millisecond || audio[2] < 300*time.Millisecond {
		t.Errorf("audio %v, error %v", audio, err)
	}
	idle(t, s.o.Busy)
}

// inPieces: a text that comes word by word is spoken whole.
func (s utteranceSuite) inPieces(t *testing.T) {
	u := s.open(t, t.Context())
	for _, word := range strings.SplitAfter("We have a table for two at eight. ", " ") {
		if word != "" {
			s.say(t, u, word)
		}
	}
	u.End()
	audio, err := s.rest(t, u)
	total := time.Duration(0)
	for _, d := range audio {
		total += d
	}
	if err != nil || total < 500*time.Millisecond {
		t.Errorf("%v of audio, error %v", total, err)
	}
	idle(t, s.o.Busy)
}

// flush: what has been said is spoken though nothing follows and no end is known, and its
// end is marked.
func (s utteranceSuite) flush(t *testing.T) {
	u := s.open(t, t.Context())
	s.say(t, u, "One moment")
	if err := u.Flush(); err != nil {
		t.Errorf("Flush: %v", err)
	}
	inTime(t, "the flushed text", func() {
		if c := <-u.Chunks(); c.Err != nil || c.Say != 1 || len(c.Samples) == 0 {
			t.Errorf("chunk of Say %d with %d samples, error %v", c.Say, len(c.Samples), c.Err)
		}
	})
	inTime(t, "the end of the flushed text", func() {
		for c := range u.Chunks() {
			if c.Last {
				return
			}
		}
		t.Error("it is not marked")
	})
	u.End()
	if _, err := s.rest(t, u); err != nil {
		t.Errorf("error %v", err)
	}
	idle(t, s.o.Busy)
}

func (s utteranceSuite) nothingSaid(t *testing.T) {
	u := s.open(t, t.Context())
	u.End()
	if audio, err := s.rest(t, u); err != nil || len(audio) > 0 {
		t.Errorf("audio %v, error %v", audio, err)
	}
	idle(t, s.o.Busy)
}

func (s utteranceSuite) unknownVoice(t *testing.T) {
	v := s.voice()
	v.Voice = "X9"
	u, err := s.engine.Open(t.Context(), v)
	if err == nil {
		u.Say("Hello. ")
		u.End()
		_, err = s.rest(t, u)
	}
	if inference.FaultOf(err) != inference.ErrVoice {
		t.Errorf("error %v", err)
	}
}

// cancel in the middle: at most one chunk follows, and no error.
func (s utteranceSuite) cancel(t *testing.T) {
	u := s.open(t, t.Context())
	s.say(t, u, strings.Repeat("This goes on for quite some time, and then on again. ", 20))
	inTime(t, "the first chunk", func() { <-u.Chunks() })
	inTime(t, "Cancel", u.Cancel)
	late := 0
	inTime(t, "Chunks", func() {
		for c := range u.Chunks() {
			late++
			if c.Err != nil {
				t.Errorf("error %v after Cancel", c.Err)
			}
		}
	})
	if late > 1 {
		t.Errorf("%d chunks after Cancel", late)
	}
	if err := u.Say("More."); err == nil {
		t.Error("Say after Cancel is taken")
	}
	inTime(t, "a second Cancel", u.Cancel)
	idle(t, s.o.Busy)
}

func (s utteranceSuite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	u := s.open(t, ctx)
	s.say(t, u, "Good morning to you. ")
	cancel()
	if _, err := s.rest(t, u); err != nil {
		t.Errorf("error %v", err)
	}
	idle(t, s.o.Busy)
}

// nobodyReads: saying never waits for the audio to be read, nor does Cancel.
func (s utteranceSuite) nobodyReads(t *testing.T) {
	u := s.open(t, t.Context())
	inTime(t, "saying much", func() {
		for range 100 {
			s.say(t, u, "Nobody listens to this. ")
		}
	})
	inTime(t, "Cancel", u.Cancel)
	idle(t, s.o.Busy)
}

func (s utteranceSuite) concurrent(t *testing.T) {
	many(8, func(i int) {
		u := s.open(t, t.Context())
		s.say(t, u, "Good morning to you. ")
		if i%2 == 1 {
			u.Cancel()
		}
		u.End()
		if audio, err := s.rest(t, u); err != nil || i%2 == 0 && audio[1] == 0 {
			t.Errorf("utterance %d: audio %v, error %v", i, audio, err)
		}
	})
	idle(t, s.o.Busy)
}
