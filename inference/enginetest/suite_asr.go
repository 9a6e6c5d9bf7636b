package enginetest

import (
	"context"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"parley/inference"
)

// ASROptions is what TestASR has to know of the engine.
type ASROptions struct {
	// Language to open streams in; empty means the engine's first.
	Language string
	// Audio is one utterance at 16 kHz; nil means a second of tone, enough for an
	// engine that does not care what it hears.
	Audio []int16
	// Heard checks the text of an utterance of Audio, its final pieces joined.
	// nil accepts any.
	Heard func(text string) bool
	// Hints are given to every stream.
	Hints inference.Hints
	// Busy says how many streams or requests the engine, or the server behind it,
	// is still working on. nil when that is not known.
	Busy func() int
	// Run is synctest.Test for an engine that lives in simulated time.
	Run func(*testing.T, func(*testing.T))
}

// TestASR checks that an engine keeps the contract of inference.ASR.
func TestASR(t *testing.T, engine inference.ASR, o ASROptions) {
	if o.Language == "" {
		o.Language = engine.Info().Languages[0]
	}
	if o.Audio == nil {
		o.Audio = make([]int16, 16000)
		for i := range o.Audio {
			o.Audio[i] = int16(8000 * math.Sin(2*math.Pi*440*float64(i)/16000))
		}
	}
	s := asrSuite{engine, o}
	checks := []check{
		{"info", s.info},
		{"unknown language", s.unknownLanguage},
		{"utterances", s.utterances},
		{"empty utterance", s.emptyUtterance},
		{"resume", s.resume},
		{"close", s.close},
		{"cancelled", s.cancelled},
		{"nobody reads", s.nobodyReads},
		{"said and configured", s.saidAndConfigured},
		{"concurrent", s.concurrent},
	}
	if engine.Info().Caps.Turns {
		checks = append(checks, check{"turns", s.turns})
	}
	bubble(o.Run).runAll(t, checks)
}

type asrSuite struct {
	engine inference.ASR
	o      ASROptions
}

func (s asrSuite) info(t *testing.T) {
	info := s.engine.Info()
	if info.Name == "" || info.Latency <= 0 {
		t.Errorf("name %q, latency %v", info.Name, info.Latency)
	}
	languages(t, info.Languages)
}

func (s asrSuite) unknownLanguage(t *testing.T) {
	r, err := s.engine.Open(t.Context(), inference.ASRConfig{Language: "xx"})
	if err == nil {
		r.Close()
	}
	if inference.FaultOf(err) != inference.ErrLanguage {
		t.Errorf("error %v", err)
	}
}

func (s asrSuite) open(t *testing.T, ctx context.Context) inference.Recognition {
	t.Helper()
	r, err := s.engine.Open(ctx, inference.ASRConfig{Language: s.o.Language, Hints: s.o.Hints})
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return r
}

// write gives the audio in 20 ms frames through one buffer, as a call does.
func (s asrSuite) write(r inference.Recognition, audio []int16) {
	var frame [320]int16
	for len(audio) > 0 {
		n := copy(frame[:], audio)
		r.Write(frame[:n])
		audio = audio[n:]
	}
}

// last reads until the last result of an utterance, checks the order of results
// and returns the text.
func (s asrSuite) last(t *testing.T, r inference.Recognition, utterance int) string {
	t.Helper()
	timer := time.NewTimer(guard)
	defer timer.Stop()
	var pieces []string
	for {
		select {
		case x, open := <-r.Results():
			if !open {
				t.Errorf("the stream ended before the last result of utterance %d", utterance)
				return ""
			}
			if x.Err != nil {
				t.Errorf("the stream failed: %v", x.Err)
				return ""
			}
			if x.Utterance != utterance || x.Last && !x.Final || x.Confidence > 1 {
				t.Errorf("result %+v while waiting for utterance %d", x, utterance)
				return ""
			}
			if x.Final && strings.TrimSpace(x.Text) != "" {
				pieces = append(pieces, x.Text)
			}
			if x.Last {
				return strings.Join(pieces, " ")
			}
		case <-timer.C:
			t.Errorf("no last result for utterance %d", utterance)
			return ""
		}
	}
}

// expect checks that the next utterance of the suite's audio is number n.
func (s asrSuite) expect(t *testing.T, r inference.Recognition, n int) {
	t.Helper()
	s.write(r, s.o.Audio)
	if got := r.Finish(); got != n {
		t.Errorf("Finish says %d, want %d", got, n)
		return
	}
	if text := s.last(t, r, n); s.o.Heard != nil && !s.o.Heard(text) {
		t.Errorf("utterance %d heard as %q", n, text)
	}
}

func (s asrSuite) utterances(t *testing.T) {
	r := s.open(t, t.Context())
	defer r.Close()
	for n := 1; n <= 3; n++ {
		s.expect(t, r, n)
	}
	// Two at once: the second one is spoken before the first one is recognised.
	for n := 4; n <= 5; n++ {
		s.write(r, s.o.Audio)
		if got := r.Finish(); got != n {
			t.Fatalf("Finish says %d, want %d", got, n)
		}
	}
	for n := 4; n <= 5; n++ {
		if text := s.last(t, r, n); s.o.Heard != nil && !s.o.Heard(text) {
			t.Errorf("utterance %d heard as %q", n, text)
		}
	}
}

// emptyUtterance: Finish without audio still gets its last result.
func (s asrSuite) emptyUtterance(t *testing.T) {
	r := s.open(t, t.Context())
	defer r.Close()
	if n := r.Finish(); n != 1 {
		t.Fatalf("Finish says %d", n)
	}
	s.last(t, r, 1)
	s.expect(t, r, 2)
}

// resume takes a Finish back at once: the utterance keeps its number, and its
// audio is recognised as one.
func (s asrSuite) resume(t *testing.T) {
	r := s.open(t, t.Context())
	defer r.Close()
	r.Resume() // nothing to take back
	half := len(s.o.Audio) / 2
	s.write(r, s.o.Audio[:half])
	if n := r.Finish(); n != 1 {
		t.Fatalf("Finish says %d", n)
	}
	r.Resume()
	r.Resume()
	s.write(r, s.o.Audio[half:])
	if n := r.Finish(); n != 1 {
		t.Fatalf("after Resume Finish says %d", n)
	}
	// A result that was on its way when Resume came may still arrive, so the
	// text is not compared here; the next utterance must be clean.
	s.last(t, r, 1)
	s.write(r, s.o.Audio)
	if n := r.Finish(); n != 2 {
		t.Fatalf("Finish says %d, want 2", n)
	}
	inTime(t, "utterance 2", func() {
		for x := range r.Results() {
			if x.Err != nil {
				t.Errorf("the stream failed: %v", x.Err)
			}
			if x.Utterance == 2 && x.Last {
				return
			}
		}
		t.Error("the stream ended before the last result of utterance 2")
	})
}

func (s asrSuite) close(t *testing.T) {
	for _, finish := range []bool{false, true} {
		r := s.open(t, t.Context())
		s.write(r, s.o.Audio)
		if finish {
			r.Finish()
		}
		inTime(t, "Close", r.Close)
		s.closed(t, r)
		inTime(t, "a second Close", r.Close)
		r.Write(s.o.Audio[:320]) // harmless from now on
		r.Finish()
		r.Resume()
	}
	idle(t, s.o.Busy)
}

// closed reads what is left until the channel is closed.
func (s asrSuite) closed(t *testing.T, r inference.Recognition) {
	t.Helper()
	inTime(t, "Results", func() {
		for range r.Results() {
		}
	})
}

func (s asrSuite) cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := s.open(t, ctx)
	s.write(r, s.o.Audio)
	r.Finish()
	cancel()
	s.closed(t, r)
	inTime(t, "Close", r.Close)
	idle(t, s.o.Busy)
}

// nobodyReads: writing never waits for results to be read, nor does Close.
func (s asrSuite) nobodyReads(t *testing.T) {
	r := s.open(t, t.Context())
	inTime(t, "writing 20 s", func() {
		for written := 0; written < 20*16000; written += len(s.o.Audio) {
			s.write(r, s.o.Audio)
			r.Finish()
		}
	})
	inTime(t, "Close", r.Close)
	idle(t, s.o.Busy)
}

// saidAndConfigured: what the agent said and how turns end may be told at any time.
func (s asrSuite) saidAndConfigured(t *testing.T) {
	r := s.open(t, t.Context())
	r.Said("What can I do for you?")
	r.Configure(inference.TurnOptions{Silence: time.Second})
	s.expect(t, r, 1)
	r.Close()
	r.Said("Good bye.") // harmless from now on
	r.Configure(inference.TurnOptions{})
	idle(t, s.o.Busy)
}

// turns: the engine finds the end of a turn by itself. Its speech starts, an eager end is
// taken back or confirmed, and the end has all of the text and a probability.
func (s asrSuite) turns(t *testing.T) {
	r := s.open(t, t.Context())
	defer r.Close()
	var fed sync.WaitGroup
	defer fed.Wait()
	fed.Go(func() {
		for at := 0; at < len(s.o.Audio)+3*16000; at += 320 {
			frame := make([]int16, 320)
			if at < len(s.o.Audio) {
				copy(frame, s.o.Audio[at:])
			}
			r.Write(frame)
			time.Sleep(20 * time.Millisecond)
		}
	})
	inTime(t, "the end of the turn", func() {
		started, eager := false, false
		for x := range r.Results() {
			if x.Err != nil || x.EndProb < 0 || x.EndProb > 1 {
				t.Errorf("result %+v", x)
				return
			}
			switch x.Event {
			case inference.EventSpeechStart:
				started = true
			case inference.EventEagerEnd:
				if eager || !s.engine.Info().Caps.Eager {
					t.Errorf("an eager end after another, or without the capability: %+v", x)
				}
				eager = true
			case inference.EventResumed:
				if !eager {
					t.Errorf("%+v takes nothing back", x)
				}
				eager = false
			case inference.EventTurnEnd:
				if !started || s.o.Heard != nil && !s.o.Heard(x.Text) {
					t.Errorf("speech started %v, the turn ends with %+v", started, x)
				}
				return
			}
		}
		t.Error("the stream ended before the turn")
	})
}

func (s asrSuite) concurrent(t *testing.T) {
	many(4, func(i int) {
		r, err := s.engine.Open(t.Context(), inference.ASRConfig{Language: s.o.Language, Hints: s.o.Hints})
		if err != nil {
			t.Errorf("stream %d: %v", i, err)
			return
		}
		defer r.Close()
		for n := 1; n <= 2; n++ {
			s.expect(t, r, n)
		}
	})
	idle(t, s.o.Busy)
}
